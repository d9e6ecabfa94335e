import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type EditedFile, editConfig } from "../../config/edit.ts";
import { EditError, type EntryEdit } from "../../config/edit-entries.ts";
import { readDocument } from "../../config/layers.ts";
import { loadConfig } from "../../config/load.ts";
import { agentDir, configPaths, expandHome, projectPaths, type UserEnvironment } from "../../config/paths.ts";
import type { ConfigProblem, LoadedConfig, ServerConfig, UntrustedFile } from "../../config/record.ts";
import { McpServerError } from "../../error.ts";
import { type OptionValues, textOption, UsageError } from "./command.ts";

/** The option of every command that edits. */
export const FILE_OPTION = { file: { type: "string" } } as const;

export function userEnvironment(): UserEnvironment {
  return { env: process.env, home: homedir() };
}

/** The file a command edits: `--file`, or the agent's mcp.json. */
export function fileToEdit(values: OptionValues): string {
  const user = userEnvironment();
  const written = textOption(values, "file");
  if (written === "") throw new UsageError("--file needs the path of a file");
  return written === undefined ? join(agentDir(user), "mcp.json") : resolve(expandHome(written, user.home));
}

/** Edits; what is the caller's mistake becomes the error with the right exit code. */
export async function edit(file: string, edits: readonly EntryEdit[], signal: AbortSignal): Promise<EditedFile> {
  try {
    const edited = await editConfig(file, edits, signal);
    noteTrust(file);
    return edited;
  } catch (thrown) {
    if (!(thrown instanceof EditError)) throw thrown;
    if (thrown.reason === "exists") throw new UsageError(`${thrown.message} To replace it, add --force`);
    if (thrown.reason === "missing" && thrown.server !== undefined) {
      throw new McpServerError(thrown.server, "unknown-server", `${thrown.message}${elsewhere(thrown.server)}`);
    }
    if (thrown.reason === "cancelled") throw new McpServerError(edits[0]?.name ?? "", "cancelled", thrown.message);
    throw thrown;
  }
}

/** An edit makes new content of a project's file, which counts for nothing until it is allowed. */
function noteTrust(file: string): void {
  const folder = dirname(file);
  const project = basename(folder) === ".pi" ? dirname(folder) : folder;
  if (!projectPaths(project).some((path) => path.file === file)) return;
  const { untrusted = [] } = loadConfig({ ...userEnvironment(), cwd: project });
  if (!untrusted.some((each) => each.file === file)) return;
  const where = project === process.cwd() ? "" : ` in ${project}`;
  console.error(
    `pi-mcp: ${file} is a project's file, whose servers run once its content is allowed: run \`pi-mcp trust\`${where}.`,
  );
}

function elsewhere(name: string): string {
  const source = serverInUse(name)?.source;
  return source === undefined ? "" : ` It is in ${source.file}:${source.line}: add --file ${source.file}`;
}

/** The configuration here: the person's own files, and those of the project in this folder. */
export function configHere(): LoadedConfig {
  return loadConfig({ ...userEnvironment(), cwd: process.cwd() });
}

export interface ReadFile {
  readonly file: string;
  /** `broken`: nothing in it is used, because it cannot be read or parsed. */
  readonly state: "read" | "broken" | "absent" | UntrustedFile["state"];
}

/** The files that are looked for, the strongest last; those of the project only if they are there. */
export function filesRead({ untrusted = [] }: LoadedConfig): ReadFile[] {
  const paths = configPaths(userEnvironment());
  const project = projectPaths(process.cwd()).filter(({ file }) => existsSync(file));
  const files = [
    ...paths.mcpJson,
    ...project.filter(({ origin }) => origin === "mcpjson").map(({ file }) => file),
    paths.settings,
    paths.settingsToml,
    ...project.filter(({ origin }) => origin === "settings").map(({ file }) => file),
  ];
  return [...new Set(files)].map((file) => {
    const state = untrusted.find((each) => each.file === file)?.state;
    return { file, state: state ?? (!existsSync(file) ? "absent" : isBroken(file) ? "broken" : "read") };
  });
}

function isBroken(file: string): boolean {
  const problems: ConfigProblem[] = [];
  const document = readDocument(file, problems);
  return problems.length > 0 || (document !== undefined && document.root.type !== "object");
}

/** The server that is used under a name now. */
export function serverInUse(name: string): ServerConfig | undefined {
  return configHere().servers.find((server) => server.name === name);
}
