import { isDeepStrictEqual } from "node:util";
import { applyEdits, createScanner, type Edit, getNodeValue } from "jsonc-parser";
import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { MASK, maskArg, maskUrl } from "../display.ts";
import { allEntries, assertSound, type EntryEdit, editEntries, findEntries } from "../edit-entries.ts";
import { escaped } from "../escaped.ts";
import { decode, type JsonDocument, type JsonNode, parseBytes, parseJson, readBytes } from "../json-file.ts";
import { CONTAINERS } from "../known-fields.ts";
import { lineDiff } from "../line-diff.ts";
import { maskEntry } from "../mask-entry.ts";
import type { ConfigProblem, FilePosition } from "../record.ts";
import { targetOf } from "../replace-file.ts";
import { mapAddresses } from "../secrets.ts";
import type { FoundServer, ScannedClient, ScannedFile } from "./scan.ts";

/**
 * What is done with a found server: `add`, `replace` the entry of that name, nothing since the `same` entry is there, nothing
 * since the name is `taken` by another entry, nothing since one of that name was taken from elsewhere (`shadowed`),
 * nothing since it is a project's and was not asked for (`project`).
 */
export type ImportAction = "add" | "replace" | "same" | "taken" | "shadowed" | "project";

export interface Decision {
  readonly server: FoundServer;
  /** The name it gets. */
  readonly name: string;
  readonly action: ImportAction;
  /** The other entry of that name. */
  readonly other?: FilePosition;
}

export interface PlannedFile extends Omit<ScannedFile, "servers"> {
  readonly decisions: readonly Decision[];
}

export interface PlannedClient extends Pick<ScannedClient, "client" | "problems"> {
  readonly files: readonly PlannedFile[];
}

export interface ImportPlan {
  readonly clients: readonly PlannedClient[];
  readonly edits: readonly EntryEdit[];
  /** How the file will change, as `diff -u` shows it, secrets masked; empty if it will not. */
  readonly change: readonly string[];
}

export interface ImportRequest {
  /** The file the servers are to be added to. */
  readonly file: string;
  /** Only these; all without. */
  readonly names?: readonly string[];
  readonly fromProject: boolean;
  readonly force: boolean;
  /** The name for the only server that is asked for. */
  readonly as?: string;
}

/** What an import would do. Throws EditError where the file cannot be edited. Writes nothing. */
export function planImport(scanned: readonly ScannedClient[], request: ImportRequest): ImportPlan {
  const text = readText(request.file);
  const document = parseJson(request.file, text, []);
  /** Where the server of a name was taken from. */
  const taken = new Map<string, FoundServer>();
  const edits: EntryEdit[] = [];

  function decide(server: FoundServer): Decision {
    const name = request.as ?? server.name;
    if (server.scope === "project" && !request.fromProject) return { server, name, action: "project" };
    const before = taken.get(name);
    if (before !== undefined) {
      const isSame = isSameEntry(before.entry, server.entry);
      return { server, name, action: isSame ? "same" : "shadowed", other: before.source };
    }
    taken.set(name, server);
    const existing = document && findEntries(document, name).at(-1);
    if (existing === undefined) {
      edits.push({ kind: "put", name, entry: server.entry, replace: false });
      return { server, name, action: "add" };
    }
    const value: unknown = getNodeValue(existing.value);
    if (isObject(value) && isSameEntry(value, server.entry)) {
      return { server, name, action: "same", other: existing.position };
    }
    if (!request.force) return { server, name, action: "taken", other: existing.position };
    edits.push({ kind: "put", name, entry: server.entry, replace: true });
    return { server, name, action: "replace", other: existing.position };
  }

  const isAsked = ({ name }: { readonly name: string }) => request.names?.includes(name) ?? true;
  const clients = scanned.map(({ files, ...client }) => ({
    ...client,
    files: files.map(({ servers, skipped, ...file }) => ({
      ...file,
      decisions: servers.filter(isAsked).map(decide),
      skipped: skipped.filter(isAsked),
    })),
  }));
  return { clients, edits, change: changeOf(request.file, text, edits) };
}

/** How a file would change, as `diff -u` shows it, secrets masked. Throws EditError where it cannot be edited. */
export function previewEdits(file: string, edits: readonly EntryEdit[]): readonly string[] {
  return changeOf(file, readText(file), edits);
}

function changeOf(file: string, text: string, edits: readonly EntryEdit[]): string[] {
  return lineDiff(masked(file, text), masked(file, editEntries(file, text, edits))).map(escaped);
}

/** Of a file that is not there, nothing. */
function readText(file: string): string {
  const problems: ConfigProblem[] = [];
  const target = targetOf(file);
  const bytes = readBytes(target, problems);
  if (bytes !== undefined) parseBytes(target, bytes, problems);
  assertSound(problems);
  return bytes === undefined ? "" : decode(bytes);
}

/** Whether one is switched off is a person's to change, and does not make it another server. */
function isSameEntry(a: JsonObject, b: JsonObject): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b));
}

function comparable({ disabled: _, enabled: __, ...fields }: JsonObject): unknown {
  return JSON.parse(JSON.stringify(fields));
}

/** An entry as it may be shown. */
export function maskImported(entry: JsonObject): JsonObject {
  const document = parseJson("", JSON.stringify(entry), []);
  return document === undefined ? {} : maskEntry(document.root);
}

/** The text of a file with its secrets masked and everything else as it stands. */
function masked(file: string, text: string): string {
  const document = parseJson(file, text, []);
  return document === undefined ? text : applyEdits(text, [...maskingEdits(document), ...commentEdits(text)]);
}

/** People comment entries out, secrets and all. Line by line, so that the text keeps its lines. */
function commentEdits(text: string): Edit[] {
  const edits: Edit[] = [];
  const scanner = createScanner(text);
  for (let token = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    if (token !== LINE_COMMENT && token !== BLOCK_COMMENT) continue;
    const offset = scanner.getTokenOffset();
    const written = text.slice(offset, offset + scanner.getTokenLength());
    const content = written
      .split("\n")
      .map((line) => maskArg(mapAddresses(line, maskUrl), undefined))
      .join("\n");
    if (content !== written) edits.push({ offset, length: written.length, content });
  }
  return edits;
}

/** Tokens of jsonc-parser, whose enumeration has no existence at run time. */
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const END_OF_FILE = 17;

/** The root of a file with the keys that hold no servers masked. */
function maskBeside({ root }: JsonDocument): JsonObject {
  const value: unknown = getNodeValue(root);
  const servers = isObject(value) ? CONTAINERS.filter((key) => Object.hasOwn(value, key)) : [];
  return { ...maskEntry(root), ...Object.fromEntries(servers.map((key) => [key, isObject(value) && value[key]])) };
}

function maskingEdits(document: JsonDocument): Edit[] {
  const edits = new Map<number, Edit>();
  const walk = (node: JsonNode, shown: unknown): void => {
    if (node.type === "object" && isObject(shown)) {
      for (const { children } of node.children ?? []) {
        const [key, value] = children ?? [];
        if (key !== undefined && value !== undefined) walk(value, shown[String(key.value)]);
      }
    } else if (node.type === "array" && Array.isArray(shown)) {
      for (const [index, item] of (node.children ?? []).entries()) walk(item, shown[index]);
    } else if (getNodeValue(node) !== shown) {
      edits.set(node.offset, { offset: node.offset, length: node.length, content: JSON.stringify(shown) ?? "null" });
    }
  };
  // What stands beside the servers is shown around them.
  walk(document.root, maskBeside(document));
  for (const entry of allEntries(document)) walk(entry, entry.type === "object" ? maskEntry(entry) : MASK);
  return [...edits.values()];
}
