import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ACP_VARIABLE } from "../../config/acp-variable.ts";
import { type EditedFile, editConfig } from "../../config/edit.ts";
import { EditError, type EntryEdit } from "../../config/edit-entries.ts";
import { flagFiles, readFlagDocuments } from "../../config/flags.ts";
import { readDocument } from "../../config/layers.ts";
import { type ConfigPlace, loadConfig } from "../../config/load.ts";
import { agentDir, configPaths, expandHome, projectPaths } from "../../config/paths.ts";
import { formatProblem, quote } from "../../config/problems.ts";
import type { ConfigProblem, LoadedConfig, ServerConfig, UntrustedFile } from "../../config/record.ts";
import { targetOf } from "../../config/replace-file.ts";
import { realPathOf } from "../../config/trust.ts";
import { userEnvironment } from "../../config/user.ts";
import { McpServerError } from "../../error.ts";
import { type OptionValues, textOption, textOptions, UsageError } from "./command.ts";

/** The options of every command that edits. */
export const FILE_OPTION = { file: { type: "string" }, project: { type: "boolean" } } as const;

/** The options of every command that uses the configuration. */
export const SOURCE_OPTIONS = {
  "mcp-config": { type: "string", multiple: true },
  "strict-mcp-config": { type: "boolean" },
} as const;

/** The file a command edits: `--file`, the project's for `--project`, or the agent's mcp.json. */
export function fileToEdit(values: OptionValues): string {
  const user = userEnvironment();
  const written = textOption(values, "file");
  if (written === "") throw new UsageError("--file needs the path of a file");
  if (values.project === true) {
    if (written !== undefined) throw new UsageError("--project and --file do not go together");
    return projectFileToEdit(process.cwd());
  }
  return written === undefined ? join(agentDir(user), "mcp.json") : resolve(expandHome(written, user.home));
}

/**
 * The file of the project that is edited: `.mcp.json`, which other programs read too, unless `.pi/mcp.json` alone is there.
 * A link that leads out of the project is not followed: whoever says `--project` means the project, and the link may be
 * somebody else's.
 */
function projectFileToEdit(project: string): string {
  const [shared = "", own = ""] = projectPaths(project).map(({ file }) => file);
  const file = existsSync(shared) || !existsSync(own) ? shared : own;
  const target = targetOf(file);
  const within = relative(realPathOf(project), target);
  if (isAbsolute(within) || within.split(sep)[0] === "..")
    throw new UsageError(`${file} leads out of the project, to ${target}; name that with --file if you mean it`);
  return file;
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
  if (source === undefined) return "";
  if (!existsSync(source.file)) return ` It comes from ${source.file}, which is not edited from here.`;
  return ` It is in ${source.file}:${source.line}: add --file ${source.file}`;
}

/**
 * The configuration here: the person's own files, those of the project in this folder, and what the options name. Throws
 * UsageError for what is named and cannot be used.
 */
export function configHere(values: OptionValues): LoadedConfig {
  const place = placeHere(values);
  const mistakes: ConfigProblem[] = [];
  readFlagDocuments(place, mistakes);
  if (mistakes.length > 0) throw new UsageError(mistakes.map(formatProblem).join("\n").replace(/\.$/, ""));
  return loadConfig(place);
}

function placeHere(values: OptionValues): ConfigPlace & { cwd: string } {
  const sources = textOptions(values, "mcp-config");
  if (sources.some((source) => source.trim() === ""))
    throw new UsageError("--mcp-config needs the path of a file, or JSON");
  const flags = { sources, isStrict: values["strict-mcp-config"] === true };
  return { ...userEnvironment(), cwd: process.cwd(), flags };
}

export interface ReadFile {
  readonly file: string;
  /** `broken`: nothing in it is used, because it cannot be read or parsed. */
  readonly state: "read" | "broken" | "absent" | UntrustedFile["state"];
}

/** The files that are looked for, the strongest last; those of the project only if they are there. */
export function filesRead({ untrusted = [] }: LoadedConfig, values: OptionValues): ReadFile[] {
  const place = placeHere(values);
  const named = flagFiles(place);
  const paths = configPaths(userEnvironment());
  const project = projectPaths(process.cwd()).filter(({ file }) => existsSync(file));
  const files = [
    ...paths.mcpJson,
    ...project.filter(({ origin }) => origin === "mcpjson").map(({ file }) => file),
    paths.settings,
    paths.settingsToml,
    ...project.filter(({ origin }) => origin === "settings").map(({ file }) => file),
  ];
  const others = place.flags?.isStrict === true ? [] : files.filter((file) => !named.includes(file));
  return [...new Set([...others, ...named])].map((file) => {
    const state = untrusted.find((each) => each.file === file)?.state;
    return { file, state: state ?? (!existsSync(file) ? "absent" : isBroken(file) ? "broken" : "read") };
  });
}

function isBroken(file: string): boolean {
  const problems: ConfigProblem[] = [];
  const document = readDocument(file, problems);
  return problems.length > 0 || (document !== undefined && document.root.type !== "object");
}

/** The variable that servers are read from, if it is set; strict options leave it out. */
export function variablesRead(values: OptionValues): ReadFile[] {
  const isSet = (process.env[ACP_VARIABLE] ?? "").trim() !== "" && values["strict-mcp-config"] !== true;
  return isSet ? [{ file: ACP_VARIABLE, state: "read" }] : [];
}

/** The server that is used under a name now. */
export function serverInUse(name: string, values: OptionValues = {}): ServerConfig | undefined {
  return configHere(values).servers.find((server) => server.name === name);
}

/**
 * What is to be said when servers were written to the agent's file, and others of their names elsewhere are used instead.
 * Whoever names another file knows that it is one of several.
 */
export function usedInstead(names: readonly string[], values: OptionValues, files: readonly string[]): string[] {
  if (values.file !== undefined || values.project === true) return [];
  const { servers } = configHere({});
  return names.flatMap((name) => {
    const used = servers.find((server) => server.name === name)?.source;
    if (used === undefined || files.includes(used.file)) return [];
    return [`${quote(name)} is also in ${used.file}:${used.line}, which is used instead.`];
  });
}
