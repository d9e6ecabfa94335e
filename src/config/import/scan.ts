import { resolve } from "node:path";
import { getNodeValue } from "jsonc-parser";
import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { checkEntry, plainSecrets } from "../check.ts";
import { readForeignEntry } from "../foreign-entry.ts";
import { type JsonDocument, positionOf, readJsonFile } from "../json-file.ts";
import { readDocument } from "../layers.ts";
import { rooted } from "../paths.ts";
import { quote, visible } from "../problems.ts";
import type { ConfigProblem, FilePosition, ServerTarget } from "../record.ts";
import { looksSecret } from "../secrets.ts";
import { spellText } from "../spelling.ts";
import { isVariable } from "../variables.ts";
import { trimHidden } from "../white-space.ts";
import { readYamlFile } from "../yaml-file.ts";
import type { ForeignServer, ImportClient, ImportContext, ImportPlace } from "./client.ts";
import { type NamesByValue, namesByValue, referToVariables } from "./references.ts";

/** A server that can be taken, as an mcp.json would have it. */
export interface FoundServer {
  readonly name: string;
  readonly source: FilePosition;
  readonly scope: ImportPlace["scope"];
  readonly entry: JsonObject;
  readonly target: ServerTarget;
  /** Why it is switched off, if it is. */
  readonly off: readonly string[];
  /** What a person should know, without a configured value. */
  readonly notes: readonly string[];
}

export interface SkippedServer {
  readonly name: string;
  readonly source: FilePosition;
  readonly reason: string;
}

export interface ScannedFile {
  readonly file: string;
  readonly scope: ImportPlace["scope"];
  readonly state: "read" | "absent" | "broken";
  readonly servers: readonly FoundServer[];
  readonly skipped: readonly SkippedServer[];
  readonly note?: string;
}

export interface ScannedClient {
  readonly client: Pick<ImportClient, "id" | "title">;
  readonly files: readonly ScannedFile[];
  readonly problems: readonly ConfigProblem[];
}

/** Looks into the files of a program; never throws, starts nothing, and writes nothing. */
export function scanClient(client: ImportClient, where: ImportContext): ScannedClient {
  // Otherwise the files of whatever folder is current would pass for the person's own.
  const context = { ...where, home: rooted(where.home) };
  const problems: ConfigProblem[] = [];
  const names = namesByValue(context.env);
  // In the home itself the person's own file is where a project's would be.
  const places = new Map([...client.places(context)].reverse().map((place) => [place.file, place]));
  const files = [...places.values()].reverse().map((place) => scanFile(client, place, context, names, problems));
  return { client: { id: client.id, title: client.title }, files, problems: unique(problems) };
}

/** A file that is looked into for two reasons has its mistakes once. */
function unique(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

function scanFile(
  client: ImportClient,
  place: ImportPlace,
  context: ImportContext,
  names: NamesByValue,
  problems: ConfigProblem[],
): ScannedFile {
  const { file, scope, note } = place;
  const before = problems.length;
  const document = readForeignFile(file, problems);
  if (document === undefined) {
    return { file, scope, state: problems.length > before ? "broken" : "absent", servers: [], skipped: [] };
  }
  const beside = (other: string): JsonObject | undefined => {
    const read = readJsonFile(other, problems);
    const value: unknown = read && getNodeValue(read.root);
    return isObject(value) ? value : undefined;
  };
  const dialect = client.dialect(place, context, document);
  const servers: FoundServer[] = [];
  const skipped: SkippedServer[] = [];
  for (const [index, server] of client.read(document, place, context, beside).entries()) {
    const source = positionOf(document, server.at);
    const name = trimHidden(server.name);
    const reason =
      index >= MAX_SERVERS
        ? `it is behind ${MAX_SERVERS} others`
        : (server.skip ?? reasonOfName(name) ?? reasonOfSize(server.fields));
    if (reason !== undefined) {
      skipped.push({ name, source, reason });
      continue;
    }
    const foreign = readForeignEntry(server.fields, server.dialect ?? dialect, client.timeouts);
    const { entry, notes } = referToVariables(withBase(foreign.entry, place), names);
    const { target, problems: mistakes } = checkEntry(CHECKED_AS, name, entry);
    const told = (severity: string) =>
      mistakes.filter((each) => each.severity === severity).map(({ message }) => withoutName(message, name));
    if (target === undefined) {
      skipped.push({ name, source, reason: told("error").join("; ") });
      continue;
    }
    const off = offReasons(server, foreign.notes);
    servers.push({
      name,
      source,
      scope,
      entry: off.length > 0 ? { ...entry, disabled: true } : entry,
      target,
      off,
      notes: [
        ...foreign.notes.filter(({ blocks }) => !blocks).map(({ text }) => text),
        ...notes,
        ...plainSecrets(target),
        ...plainElsewhere(entry),
        ...told("warning"),
      ],
    });
  }
  return { file, scope, state: "read", servers, skipped, ...(note !== undefined && { note }) };
}

/** An imported entry is one of an mcp.json, whatever the file is called. */
const CHECKED_AS = "mcp.json";

function readForeignFile(file: string, problems: ConfigProblem[]): JsonDocument | undefined {
  return /\.ya?ml$/.test(file) ? readYamlFile(file, problems) : readDocument(file, problems);
}

/** The sentence behind `Server "x": `. */
function withoutName(message: string, name: string): string {
  const start = `Server ${quote(name)}: `;
  return (message.startsWith(start) ? message.slice(start.length) : message).replace(/\.$/, "");
}

function reasonOfName(name: string): string | undefined {
  if (name === "") return "it has no name";
  return visible(name) === name ? undefined : "its name holds an invisible character";
}

/** More than anybody has; the file they would be added to could hardly be read any more. */
const MAX_SERVERS = 300;

/** No program can be given a longer text (Linux: MAX_ARG_STRLEN), and no server needs more of them. */
const MAX_ENTRY_CHARS = 128 * 1024;

function reasonOfSize(fields: JsonObject): string | undefined {
  return JSON.stringify(fields).length > MAX_ENTRY_CHARS ? "it is larger than 128 KiB" : undefined;
}

function offReasons(server: ForeignServer, notes: readonly { text: string; blocks: boolean }[]): string[] {
  const { enabled, disabled } = server.fields;
  return [
    ...(server.off === undefined ? [] : [server.off]),
    ...(enabled === false || disabled === true ? ["it is switched off there"] : []),
    ...notes.filter(({ blocks }) => blocks).map(({ text }) => text),
  ];
}

const RELATIVE = /^\.{1,2}(?:[/\\]|$)/;

/** What is relative to a project's folder must go on meaning that folder. */
function withBase(entry: JsonObject, { base }: ImportPlace): JsonObject {
  if (base === undefined) return entry;
  const { cwd, command, args } = entry;
  if (typeof cwd === "string") {
    return /^(?:[~$/\\]|[A-Za-z]:)/.test(cwd) ? entry : { ...entry, cwd: spellText(resolve(base, cwd)) };
  }
  const words = [command, ...(Array.isArray(args) ? args : [])];
  const isRelative = words.some((word) => typeof word === "string" && RELATIVE.test(word));
  return isRelative && command !== undefined ? { ...entry, cwd: spellText(base) } : entry;
}

/** Secrets in fields that no server is started with, such as `oauth`. */
function plainElsewhere(entry: JsonObject): string[] {
  const { env: _, headers: __, args: ___, url: ____, ...others } = entry;
  const found: string[] = [];
  const walk = (value: unknown, path: string, name: string): void => {
    if (isObject(value)) for (const [key, each] of Object.entries(value)) walk(each, `${path}.${key}`, key);
    else if (typeof value === "string" && value !== "" && /secret|token|password/i.test(name) && looksSecret(name)) {
      if (!isVariable(value)) found.push(`${visible(path)} is stored as it is`);
    }
  };
  for (const [key, value] of Object.entries(others)) walk(value, key, key);
  return found;
}
