import { join } from "node:path";
import { checkEntry, plainSecrets } from "../../../config/check.ts";
import { editConfig } from "../../../config/edit.ts";
import { EditError, type EntryEdit } from "../../../config/edit-entries.ts";
import { IMPORT_CLIENTS } from "../../../config/import/clients.ts";
import { planImport, previewEdits } from "../../../config/import/plan.ts";
import { describeImport } from "../../../config/import/report.ts";
import { scanClient } from "../../../config/import/scan.ts";
import { listSome } from "../../../config/list-some.ts";
import { agentDir } from "../../../config/paths.ts";
import { quote, visible } from "../../../config/problems.ts";
import { readSnippet } from "../../../config/snippet.ts";
import { userEnvironment } from "../../../config/user.ts";
import type { PiContext } from "../api.ts";
import type { ConfigHost } from "./host.ts";
import { askAbout } from "./page.ts";

const SHOWN_NAMES = 5;
const WRITE = "write it";
const NOTHING = "Nothing was written.";

/** The file that servers are added to: the person's own. */
function ownFile(): string {
  return join(agentDir(userEnvironment()), "mcp.json");
}

/** What other programs have that could be taken over, program by program. Reads their files, and writes nothing. */
function found(cwd: string) {
  const context = { ...userEnvironment(), platform: process.platform, cwd };
  const request = { file: ownFile(), fromProject: false, force: false };
  return IMPORT_CLIENTS.flatMap((client) => {
    const plan = planImport([scanClient(client, context)], request);
    const names = plan.edits.map(({ name }) => visible(name));
    return names.length === 0 ? [] : [{ title: client.title, names, plan }];
  });
}

/** What to say to somebody who has no servers yet. `how`: whether there are keys to press, or commands to type. */
export function welcome(cwd: string, how: "keys" | "commands"): string {
  let programs: string[] = [];
  try {
    programs = found(cwd).map(({ title, names }) => `${title} (${names.length})`);
  } catch {
    // What is wrong with the own file is said where it is to be written.
  }
  const isFound = programs.length > 0;
  const lines =
    how === "keys"
      ? [
          ...(isFound
            ? [
                `Found in other programs: ${programs.join(", ")}.`,
                "Press m to take them over: you are shown the change before it is made.",
                "",
              ]
            : []),
          "Press n to add a server by pasting what its README shows for any program.",
        ]
      : [
          ...(isFound
            ? [`Found in other programs: ${programs.join(", ")}. To take them over: /mcp import, or \`pi-mcp import\`.`]
            : []),
          "To add a server: /mcp add, or `pi-mcp add`.",
        ];
  return ["No MCP servers are configured.", ...(how === "keys" ? [""] : []), ...lines].join("\n");
}

/** Takes over the servers of another program, once a person has seen what that changes. */
export async function importServers(host: ConfigHost, ctx: PiContext): Promise<string> {
  const programs = found(host.cwd);
  if (programs.length === 0) return "Other programs on this computer have no MCP servers that are not here already.";
  const choices = programs.map(
    ({ title, names }) =>
      `${title}: ${names.length === 1 ? "1 server" : `${names.length} servers`} (${listSome(names, SHOWN_NAMES)})`,
  );
  if (!ctx.hasUI) return `${choices.join("\n")}\nNobody can be asked here: run \`pi-mcp import\`.`;
  const choice = await ctx.ui.select("Take over the MCP servers of which program?", choices);
  const program = programs[choices.indexOf(choice ?? "")];
  if (program === undefined) return NOTHING;
  const file = ownFile();
  const text = describeImport(program.plan, file).trimEnd();
  if (!(await askAbout(ctx, `Servers of ${program.title}`, text, WRITE))) return NOTHING;
  return write(host, file, program.plan.edits);
}

/** Adds what a person pastes, once they have seen what that changes. */
export async function addServers(host: ConfigHost, ctx: PiContext): Promise<string> {
  if (!ctx.hasUI) return "Nobody can be asked here: run `pi-mcp add`.";
  const pasted = await ctx.ui.editor?.("Paste what the server's README shows for any program (JSON)", "");
  if (pasted === undefined || pasted.trim() === "") return NOTHING;
  const file = ownFile();
  const edits: EntryEdit[] = [];
  const remarks: string[] = [];
  for (const server of readSnippet(pasted)) {
    const name = (server.name ?? (await ctx.ui.input?.("A name for this server", "github")) ?? "").trim();
    if (name === "") return NOTHING;
    remarks.push(
      ...[...server.remarks, ...remarksOn(file, name, server.entry)].map((remark) => `${quote(name)}: ${remark}.`),
    );
    edits.push({ kind: "put", name, entry: server.entry, replace: false });
  }
  const text = [...remarks, ...(remarks.length > 0 ? [""] : []), `--- ${visible(file)}`, ...previewEdits(file, edits)];
  if (!(await askAbout(ctx, "Add to your MCP servers", text.join("\n"), WRITE))) return NOTHING;
  return write(host, file, edits);
}

/** Throws EditError with every mistake of an entry that could not be used. */
function remarksOn(file: string, name: string, entry: Parameters<typeof checkEntry>[2]): string[] {
  const { target, commands, problems } = checkEntry(file, name, entry);
  const told = (severity: string) =>
    problems.filter((each) => each.severity === severity).map(({ message }) => message.replace(/\.$/, ""));
  const mistakes = told("error");
  if (mistakes.length > 0) throw new EditError("broken", `${mistakes.join("; ")}.`, name);
  const run = commands.map(({ field, name: own }) => `${field}.${own} is a command, which is run at each start`);
  return [...told("warning"), ...(target === undefined ? [] : plainSecrets(target)), ...run];
}

async function write(host: ConfigHost, file: string, edits: readonly EntryEdit[]): Promise<string> {
  const { servers } = await editConfig(file, edits);
  host.reload();
  return `Added ${servers.map(({ name }) => quote(name)).join(", ")} to ${visible(file)}.`;
}
