import { isDeepStrictEqual } from "node:util";
import { getNodeValue } from "jsonc-parser";
import type { JsonObject } from "../protocol/types.ts";
import { fieldsOf, isDisabled, SWITCHED_OFF } from "./entries.ts";
import { insertMember, newDocument, removeMember, replaceValue } from "./json-edit.ts";
import { type JsonDocument, type JsonNode, parseJson, positionOf } from "./json-file.ts";
import { CONTAINERS } from "./known-fields.ts";
import { formatProblem, quote } from "./problems.ts";
import type { ConfigProblem, FilePosition } from "./record.ts";
import { trimHidden } from "./white-space.ts";

export type EntryEdit =
  | {
      readonly kind: "put";
      readonly name: string;
      readonly entry: JsonObject;
      /** Whether an entry of that name may be replaced. */
      readonly replace: boolean;
    }
  | { readonly kind: "remove"; readonly name: string }
  | { readonly kind: "switch"; readonly name: string; readonly on: boolean };

/**
 * Why a file was not changed: it has the entry already, it has none of that name, it cannot be edited (its syntax or
 * its shape), or the system refused, or nobody waits any more.
 */
export type EditFailure = "exists" | "missing" | "broken" | "failed" | "cancelled";

/** `message` is a sentence that names the file and holds no configured value. */
export class EditError extends Error {
  override readonly name = "EditError";
  readonly reason: EditFailure;
  readonly server: string | undefined;

  constructor(reason: EditFailure, message: string, server?: string) {
    super(message);
    this.reason = reason;
    this.server = server;
  }
}

export interface FoundEntry {
  readonly position: FilePosition;
  /** The object or array the entries are in. */
  readonly container: JsonNode;
  /** What stands there for the entry: the property, or the item. */
  readonly member: JsonNode;
  readonly value: JsonNode;
}

/** The entries of a name; of several the later is used in an object, and the one that is switched on in an array. */
export function findEntries(document: JsonDocument, name: string): FoundEntry[] {
  if (document.root.type !== "object") return [];
  return containersOf(document).flatMap((container) => entriesIn(document, container, name));
}

/** The values of all entries. */
export function allEntries(document: JsonDocument): JsonNode[] {
  return containersOf(document).flatMap(({ children = [] }) =>
    children.flatMap((member) => (member.type === "property" ? (member.children?.[1] ?? []) : member)),
  );
}

/** The values of the keys under which servers stand; mostly there is one. */
function containersOf(document: JsonDocument): JsonNode[] {
  if (document.root.type !== "object") return [];
  return [...fieldsOf(document, document.root)].flatMap(([key, { value }]) =>
    CONTAINERS.includes(key) ? [value] : [],
  );
}

function entriesIn(document: JsonDocument, container: JsonNode, name: string): FoundEntry[] {
  const found: FoundEntry[] = [];
  for (const member of container.children ?? []) {
    const [key, value] = container.type === "object" ? (member.children ?? []) : [nameOf(document, member), member];
    if (key?.type !== "string" || value === undefined) continue;
    if (trimHidden(String(key.value)) !== name) continue;
    found.push({ position: positionOf(document, member), container, member, value });
  }
  return found;
}

function nameOf(document: JsonDocument, item: JsonNode): JsonNode | undefined {
  return item.type === "object" ? fieldsOf(document, item).get("name")?.value : undefined;
}

/** The text of a file after the edits, one upon the other. Throws EditError; nothing else is changed in the text. */
export function editEntries(file: string, text: string, edits: readonly EntryEdit[]): string {
  return edits.reduce((current, edit) => {
    const document = parse(file, current);
    const edited = apply(file, current, document, edit);
    if (edited !== current) assertNothingElse(file, document, edited, edit);
    return edited;
  }, text);
}

function apply(file: string, text: string, document: JsonDocument | undefined, edit: EntryEdit): string {
  const found = document === undefined ? [] : findEntries(document, edit.name);
  if (edit.kind === "put") return put(file, text, document, found, edit);
  if (document === undefined || found.length === 0) {
    throw new EditError("missing", `${file} has no server ${quote(edit.name)}.`, edit.name);
  }
  return edit.kind === "remove" ? removeAll(document, edit.name) : switchTo(document, found, edit);
}

function put(
  file: string,
  text: string,
  document: JsonDocument | undefined,
  found: readonly FoundEntry[],
  { name, entry, replace }: EntryEdit & { kind: "put" },
): string {
  const servers = { key: "mcpServers", value: { [name]: entry } };
  if (document === undefined) return newDocument(text, servers);
  const existing = used(document, found);
  if (existing !== undefined) {
    const { line, column } = existing.position;
    if (!replace) throw new EditError("exists", `${file}:${line}:${column} has a server ${quote(name)} already.`, name);
    const value = existing.container.type === "array" ? { name, ...entry } : entry;
    return replaceValue(document, existing.value, value);
  }
  if (document.root.type !== "object") throw unfit(document, document.root, 'it must hold an object with "mcpServers"');
  const [list] = containersOf(document);
  if (list === undefined) return insertMember(document, document.root, servers);
  if (list.type === "object") return insertMember(document, list, { key: name, value: entry });
  if (list.type === "array") return insertMember(document, list, { value: { name, ...entry } });
  throw unfit(document, list, '"mcpServers" must be an object or an array');
}

/** Every entry of that name: without the one that counts, another one would come into force. */
function removeAll(document: JsonDocument, name: string): string {
  let current = document;
  for (;;) {
    const last = findEntries(current, name).at(-1);
    if (last === undefined) return current.text;
    current = parse(current.file, removeMember(current.text, last.container, last.member)) ?? current;
  }
}

/** The fields that are there already are kept and changed; otherwise `"disabled": true` is the one that is added. */
function switchTo(
  document: JsonDocument,
  found: readonly FoundEntry[],
  { name, on }: EntryEdit & { kind: "switch" },
): string {
  const entry = used(document, found);
  if (entry === undefined) return document.text;
  if (entry.value.type !== "object") throw unfit(document, entry.value, `server ${quote(name)} must be an object`);
  if (on && found.length > 1 && entry.container.type === "array" && isDisabled(fieldsOf(document, entry.value))) {
    const lines = found.map(({ position }) => position.line).join(", ");
    throw new EditError(
      "broken",
      `${document.file} has several servers ${quote(name)}, all of them disabled (lines ${lines}); enable the one that is meant by hand.`,
    );
  }
  const fields = fieldsOf(document, entry.value);
  const inList = on ? switchedOffIn(document, name) : undefined;
  if (inList !== undefined)
    throw unfit(document, inList, `server ${quote(name)} is switched off in this list; take it out`);
  if (isDisabled(fields) !== on) return document.text;
  const disabled = fields.get("disabled")?.value;
  const enabled = fields.get("enabled")?.value;
  if (on) {
    const off = disabled?.value === true ? disabled : enabled;
    const edited = off === undefined ? document.text : replaceValue(document, off, off === enabled);
    // Both fields may say no.
    const next = parse(document.file, edited);
    return next === undefined || disabled?.value !== true
      ? edited
      : switchTo(next, findEntries(next, name), { kind: "switch", name, on });
  }
  if (disabled !== undefined) return replaceValue(document, disabled, true);
  if (enabled !== undefined) return replaceValue(document, enabled, false);
  return insertMember(document, entry.value, { key: "disabled", value: true });
}

/** Other programs' lists of what is switched off, with this name in one. */
function switchedOffIn(document: JsonDocument, name: string): JsonNode | undefined {
  const keys = fieldsOf(document, document.root);
  return SWITCHED_OFF.flatMap((key) => keys.get(key)?.value.children ?? []).find((item) => item.value === name);
}

/** The one that counts. */
function used(document: JsonDocument, found: readonly FoundEntry[]): FoundEntry | undefined {
  const on = found.filter(
    ({ container, value }) => container.type === "array" && !isDisabled(fieldsOf(document, value)),
  );
  return on[0] ?? found.at(-1);
}

/** Throws EditError with the place of the mistake for a text that does not parse; `undefined` for one without a value. */
function parse(file: string, text: string): JsonDocument | undefined {
  const problems: ConfigProblem[] = [];
  const document = parseJson(file, text, problems);
  assertSound(problems);
  return document;
}

/** Throws EditError with the place of the first mistake. */
export function assertSound([problem]: readonly ConfigProblem[]): void {
  if (problem === undefined) return;
  throw new EditError("broken", `${formatProblem(problem)} Nothing was written: mend the file first.`);
}

function unfit(document: JsonDocument, node: JsonNode, why: string): EditError {
  const { line, column } = positionOf(document, node);
  return new EditError("broken", `${document.file}:${line}:${column}: ${why}. Nothing was written.`);
}

/** A last look before a person's file is replaced: whatever the edit is not about reads as it did. */
function assertNothingElse(file: string, before: JsonDocument | undefined, edited: string, { name }: EntryEdit): void {
  const after = parse(file, edited);
  if (!isDeepStrictEqual(valueWithout(before, name), valueWithout(after, name))) {
    throw new EditError("failed", `${file} is laid out in a way that cannot be edited safely; change it by hand.`);
  }
}

function valueWithout(document: JsonDocument | undefined, name: string): unknown {
  if (document === undefined) return [[], []];
  const own = new Set(findEntries(document, name).map(({ member }) => member));
  const others = containersOf(document).flatMap((list) => (list.children ?? []).filter((member) => !own.has(member)));
  const fields = [...fieldsOf(document, document.root)].filter(([key]) => !CONTAINERS.includes(key));
  return [others.map(plain), fields.map(([key, { value }]) => [key, plain(value)])];
}

function plain(node: JsonNode): unknown {
  return node.type === "property" ? node.children?.map(plain) : getNodeValue(node);
}
