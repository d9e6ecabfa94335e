import { checkEntry, plainSecrets } from "../../config/check.ts";
import { quote } from "../../config/problems.ts";
import { readSnippet, SnippetError, type SnippetServer } from "../../config/snippet.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { type Command, type CommandInput, textOption, textOptions, UsageError } from "./command.ts";
import { edit, FILE_OPTION, fileToEdit, usedInstead } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

interface NamedEntry {
  readonly name: string;
  readonly entry: JsonObject;
  readonly remarks: readonly string[];
}

/** Writes servers into an mcp.json, checked beforehand by the reader that will read them. Starts nothing. */
export const add: Command = {
  name: "add",
  help: [
    ["add <name> -- <command> [arg …]", "configure a server that runs as a process"],
    ["add <name> --url URL", "configure one that is reached over HTTP"],
    ["add [<name>] --json '<snippet>'", "configure what a README shows, for whatever program"],
  ],
  options: {
    ...FILE_OPTION,
    url: { type: "string" },
    header: { type: "string", multiple: true },
    env: { type: "string", multiple: true },
    cwd: { type: "string" },
    type: { type: "string" },
    json: { type: "string" },
    force: { type: "boolean" },
  },
  optionHint: "options of the server itself stand behind `--`: pi-mcp add <name> -- <command> [arg …]",
  async run(input) {
    const { terminal, values } = input;
    const file = fileToEdit(values);
    const servers = entriesOf(input);
    const remarks = servers.flatMap(({ name, entry, remarks: own }) => [
      ...own.map((remark) => `${quote(name)}: ${remark}`),
      ...check(file, name, entry),
    ]);
    const edited = await edit(
      file,
      servers.map(({ name, entry }) => ({ kind: "put", name, entry, replace: values.force === true })),
      input.options.signal,
    );
    for (const remark of remarks) console.error(`pi-mcp: ${remark}.`);
    for (const { name, position } of edited.servers) {
      terminal.write(`added ${quote(name)}: ${position?.file ?? edited.file}:${position?.line ?? 1}\n`);
    }
    const names = servers.map(({ name }) => name);
    for (const instead of usedInstead(names, values, [file, edited.file])) {
      console.error(`pi-mcp: ${instead}`);
    }
    return EXIT.ok;
  },
};

/** Which servers the command line means. Throws UsageError. */
function entriesOf(input: CommandInput): NamedEntry[] {
  const { words, rest, values } = input;
  const json = textOption(values, "json");
  const url = textOption(values, "url");
  const [name, ...more] = words;
  const ways = [json !== undefined, url !== undefined, rest !== undefined || more.length > 0].filter(Boolean).length;
  if (ways > 1) throw new UsageError("add takes one of: a command behind `--`, --url, --json");
  if (json !== undefined) return fromSnippet(json, name, input);
  if (name === undefined || name.trim() === "") throw new UsageError("add needs a name for the server, before `--`");
  const entry = url === undefined ? stdioEntry([...more, ...(rest ?? [])], input) : httpEntry(url, input);
  return [{ name: name.trim(), entry, remarks: [] }];
}

function stdioEntry([command, ...args]: readonly string[], { values }: CommandInput): JsonObject {
  if (command === undefined) throw new UsageError("add needs the server's command behind `--`, or --url, or --json");
  if (/^https?:\/\//i.test(command)) throw new UsageError(`that is an address: pi-mcp add <name> --url ${command}`);
  refuse(values, ["header"], "is for servers with --url");
  const env = pairs(textOptions(values, "env"), "env", "=");
  const cwd = textOption(values, "cwd");
  const type = textOption(values, "type");
  return {
    ...(type !== undefined && { type }),
    command,
    ...(args.length > 0 && { args }),
    ...(env !== undefined && { env }),
    ...(cwd !== undefined && { cwd }),
  };
}

function httpEntry(url: string, { values }: CommandInput): JsonObject {
  refuse(values, ["env", "cwd"], "is for servers that run as a process");
  const headers = pairs(textOptions(values, "header"), "header", ":");
  const type = textOption(values, "type");
  return { ...(type !== undefined && { type }), url, ...(headers !== undefined && { headers }) };
}

function fromSnippet(text: string, name: string | undefined, { values }: CommandInput): NamedEntry[] {
  refuse(values, ["header", "env", "cwd", "type"], "does not go with --json: write it into the snippet");
  let servers: SnippetServer[];
  try {
    servers = readSnippet(text);
  } catch (thrown) {
    if (thrown instanceof SnippetError) throw new UsageError(thrown.message);
    throw thrown;
  }
  if (name !== undefined && servers.length > 1) {
    throw new UsageError(`the snippet has ${servers.length} servers, so a single name cannot be theirs`);
  }
  return servers.map((server) => {
    const own = (name ?? server.name)?.trim();
    if (own === undefined || own === "")
      throw new UsageError("the snippet does not name its server: add <name> --json …");
    return { name: own, entry: server.entry, remarks: server.remarks };
  });
}

/** Remarks on an entry that can be used. Throws UsageError with every mistake of one that cannot. */
function check(file: string, name: string, entry: JsonObject): string[] {
  const { target, commands, problems } = checkEntry(file, name, entry);
  const messages = (severity: string) =>
    problems.filter((problem) => problem.severity === severity).map(({ message }) => message.replace(/\.$/, ""));
  const errors = messages("error");
  if (errors.length > 0) throw new UsageError(errors.join("; "));
  const secrets = target === undefined ? [] : plainSecrets(target);
  const values = [
    ...new Set(commands.map(({ field, name: own }) => (field === "bearerToken" ? field : `${field}.${own}`))),
  ];
  const run = values.map((value) => `${value} is a command, which is run at each start; "$!" is an exclamation mark`);
  return [...messages("warning"), ...[...secrets, ...run].map((remark) => `${quote(name)}: ${remark}`)];
}

function refuse(values: CommandInput["values"], options: readonly string[], why: string): void {
  for (const option of options) if (values[option] !== undefined) throw new UsageError(`--${option} ${why}`);
}

/** `NAME=value`, `Name: value`. A value that is wrong is not repeated: it may be a secret. */
function pairs(texts: readonly string[], option: string, separator: string): Record<string, string> | undefined {
  if (texts.length === 0) return undefined;
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      const name = text.slice(0, at).trim();
      if (at === -1 || name === "") {
        throw new UsageError(`--${option} takes ${option === "env" ? "NAME=value" : '"Name: value"'}`);
      }
      const value = text.slice(at + 1);
      return [name, option === "env" ? value : value.trim()];
    }),
  );
}
