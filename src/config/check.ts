import { basename } from "node:path";
import type { JsonObject } from "../protocol/types.ts";
import { readEntries } from "./entries.ts";
import { valueCommands } from "./expand.ts";
import { type JsonDocument, parseJson } from "./json-file.ts";
import { readDocument } from "./layers.ts";
import type { ConfigProblem, Origin, ServerConfig, ServerTarget, ValueCommand } from "./record.ts";
import { credentialsOf } from "./secrets.ts";
import { readServer } from "./server.ts";
import { secretsOf } from "./target-secrets.ts";
import { commandOf, holdsVariable } from "./variables.ts";

export interface CheckedFile {
  readonly file: string;
  /** The servers that would be used. */
  readonly servers: readonly ServerConfig[];
  readonly problems: readonly ConfigProblem[];
}

/** What reading a file says of it, by the readers that loading uses. A file that is not there is a problem. */
export function checkFile(file: string, exists: boolean): CheckedFile {
  const problems: ConfigProblem[] = [];
  const at = { file, line: 1, column: 1 };
  if (!exists)
    return { file, servers: [], problems: [{ ...at, severity: "error", message: "There is no such file." }] };
  const document = readDocument(file, problems);
  if (document === undefined) return { file, servers: [], problems };
  const servers = serversOf(document, originOf(file), problems);
  return { file, servers, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
}

export interface CheckedEntry {
  readonly target: ServerTarget | undefined;
  /** What its values would run. */
  readonly commands: readonly ValueCommand[];
  /** Their positions are of no use: the entry stands in no file yet. */
  readonly problems: readonly ConfigProblem[];
}

/** What reading a file would say of an entry, if it were in there and switched on. */
export function checkEntry(file: string, name: string, entry: JsonObject): CheckedEntry {
  const problems: ConfigProblem[] = [];
  const { disabled: _, enabled: __, ...fields } = entry;
  const text = JSON.stringify({ mcpServers: { [name]: fields } });
  const document = parseJson(file, text, problems);
  const [server] = document === undefined ? [] : serversOf(document, originOf(file), problems);
  if (server === undefined) return { target: undefined, commands: [], problems };
  return { target: server.target, commands: valueCommands(server.target, server.policy.variableForms), problems };
}

function serversOf(document: JsonDocument, origin: Origin, problems: ConfigProblem[]): ServerConfig[] {
  return [...readEntries(document, problems, origin === "mcpjson").values()]
    .map((entry) => readServer(entry, origin, problems))
    .filter((server) => server !== undefined);
}

function originOf(file: string): Origin {
  return /^settings\.(?:json|toml)$/.test(basename(file)) ? "settings" : "mcpjson";
}

/** Where a target has secrets in plain text, as words for a person, and the variable each could be put into. */
export function plainSecrets(target: ServerTarget): string[] {
  const maps = target.kind === "stdio" ? { env: target.env } : { headers: target.headers };
  const secrets = new Set(secretsOf(target).flatMap(({ value, isSecret }) => (isSecret ? [value] : [])));
  const isPlain = (value: string) =>
    value !== "" && !holdsVariable(value, "all") && commandOf(value, "all") === undefined;
  const named = Object.entries(maps).flatMap(([field, map]) =>
    Object.entries(map)
      .filter(([, value]) => secrets.has(value) && isPlain(credentialsOf(value)))
      .map(([name, value]) => {
        const scheme = value.slice(0, value.length - credentialsOf(value).length);
        const variable = name.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
        return `${field}.${name} is stored as it is; write "${scheme}\${${field === "env" ? variable : "TOKEN"}}" to take it from the environment instead`;
      }),
  );
  const mapped = new Set(
    Object.values(maps).flatMap((map) => Object.values(map).flatMap((each) => [each, credentialsOf(each)])),
  );
  const place = target.kind === "stdio" ? "args" : "url";
  const others = [...secrets].some((value) => !mapped.has(value) && isPlain(value));
  return others
    ? [
        ...named,
        `${place} holds what looks like a secret, stored as it is; write \${NAME} to take it from the environment instead`,
      ]
    : named;
}
