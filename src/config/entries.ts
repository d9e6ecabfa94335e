import { type JsonDocument, type JsonNode, positionOf } from "./json-file.ts";
import { CONTAINERS, FIELD_ALIASES } from "./known-fields.ts";
import { nearest } from "./nearest.ts";
import { quote, visible } from "./problems.ts";
import type { ConfigProblem, FilePosition } from "./record.ts";
import { trimHidden } from "./white-space.ts";

/** One `"key": value` of an entry. It keeps its file, because a merged entry may have fields from several. */
export interface Field {
  readonly document: JsonDocument;
  readonly key: JsonNode;
  readonly value: JsonNode;
}

/** One server as written, before anything but its name was looked at. */
export interface Entry {
  readonly name: string;
  readonly source: FilePosition;
  /** Absent when the entry is not an object, which has been reported: it still stands for its name. */
  readonly fields?: ReadonlyMap<string, Field>;
  /** Where a list of names beside the entries switches it off; then it has no fields. */
  readonly switchedOff?: FilePosition;
}

/**
 * The entries under `mcpServers`, by name, in either of the two shapes people use: an array of objects with a `name`
 * (S1-07) or an object whose keys are the names (S3-01). What cannot be an entry is reported and left out. Other
 * spellings of the key count as well, and so do lists of names that are switched off. `forServers` says that the file is
 * for servers alone, so that one without any of these keys is a mistake.
 */
export function readEntries(document: JsonDocument, problems: ConfigProblem[], forServers = false): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const report: Report = (severity, node, message, server) => {
    problems.push({ ...positionOf(document, node), severity, message, ...(server === undefined ? {} : { server }) });
  };
  if (document.root.type !== "object") {
    report("error", document.root, 'This file must hold an object with the key "mcpServers".');
    return entries;
  }
  const keys = fieldsOf(document, document.root);
  const lists = [...keys].filter(([key]) => CONTAINERS.includes(key));
  for (const [key, { value }] of lists) readList(document, key, value, entries, report);
  if (lists.length === 0 && !reportMissing(keys, report) && forServers) {
    const first = [...keys].find(([key]) => !OWN_KEYS.has(key))?.[1];
    if (first !== undefined) report("warning", first.key, 'This file has no "mcpServers", under which servers stand.');
  }
  for (const key of SWITCHED_OFF) {
    for (const item of keys.get(key)?.value.children ?? []) {
      const entry = entries.get(String(item.value));
      if (item.type === "string" && entry !== undefined) {
        entries.set(entry.name, { name: entry.name, source: entry.source, switchedOff: positionOf(document, item) });
      }
    }
  }
  return entries;
}

/** What an mcp.json file may hold beside servers. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  "$schema",
  "imports",
  "settings",
  "inputs",
  "autoEnableCodemode",
  "mcpSurface",
  "permission",
]);

/** Lists of names in which other programs note what is switched off. */
export const SWITCHED_OFF = ["disabledMcpServers", "disabled_mcp_servers", "disabledServers"];

function readList(
  document: JsonDocument,
  container: string,
  list: JsonNode,
  entries: Map<string, Entry>,
  report: Report,
): void {
  if (list.type === "object") {
    for (const property of list.children ?? []) {
      const [key, value] = property.children ?? [];
      if (key === undefined || value === undefined) continue;
      const name = readName(key, report);
      if (name === undefined) continue;
      const earlier = entries.get(name);
      if (earlier !== undefined) {
        const { line } = earlier.source;
        report("warning", key, `Server ${quote(name)} is also on line ${line}; this later entry is used.`, name);
      }
      entries.set(name, toEntry(document, name, key, value, report));
    }
  } else if (list.type === "array") {
    for (const value of list.children ?? []) readItem(document, value, entries, report);
  } else {
    report(
      "error",
      list,
      `"${container}" must be an object with a key for each server, or an array of objects with a "name".`,
    );
  }
}

/** A file that gives no servers may have them under a key that was meant to be, or is in another program, the right one. */
function reportMissing(keys: ReadonlyMap<string, Field>, report: Report): boolean {
  let isReported = false;
  for (const [key, field] of keys) {
    const isServers = field.value.type === "object" || field.value.type === "array";
    if (!isServers || (nearest(key, CONTAINERS) === undefined && !OTHER_CONTAINERS.has(key))) continue;
    report("warning", field.key, `${quote(key)} is not read; servers stand under "mcpServers".`);
    isReported = true;
  }
  return isReported;
}

/** VS Code, Zed. */
const OTHER_CONTAINERS: ReadonlySet<string> = new Set(["servers", "context_servers"]);

type Report = (severity: ConfigProblem["severity"], node: JsonNode, message: string, server?: string) => void;

/**
 * Adds one item of the array. Two items may share a name only if at most one of them is switched on: people keep the
 * other variant of a server that way.
 */
function readItem(document: JsonDocument, value: JsonNode, entries: Map<string, Entry>, report: Report): void {
  if (value.type !== "object") {
    report("error", value, 'Each item of "mcpServers" must be an object with a "name".');
    return;
  }
  const fields = fieldsOf(document, value);
  const disabled = isDisabled(fields);
  const nameNode = fields.get("name")?.value;
  if (nameNode === undefined) {
    if (!disabled) report("error", value, 'This server has no "name"; give it one that no other server has.');
    return;
  }
  const name = readName(nameNode, report);
  if (name === undefined) return;
  const earlier = entries.get(name);
  if (earlier !== undefined && !isDisabled(earlier.fields)) {
    if (disabled) return;
    const message = `The name ${quote(name)} is taken by the server on line ${earlier.source.line}; this one is not used. Rename it.`;
    report("error", nameNode, message, name);
    return;
  }
  entries.set(name, toEntry(document, name, value, value, report));
}

function toEntry(document: JsonDocument, name: string, at: JsonNode, value: JsonNode, report: Report): Entry {
  const source = positionOf(document, at);
  if (value.type === "object") return { name, source, fields: withUsualNames(fieldsOf(document, value)) };
  report("error", value, `Server ${quote(name)} must be an object with a "command" or a "url".`, name);
  return { name, source };
}

/** Fields in other spellings take their usual names, unless the entry has both. */
function withUsualNames(fields: ReadonlyMap<string, Field>): Map<string, Field> {
  const named = new Map<string, Field>();
  for (const [written, field] of fields) {
    const usual = FIELD_ALIASES.get(written);
    named.set(usual === undefined || fields.has(usual) || named.has(usual) ? written : usual, field);
  }
  return named;
}

/** A server's name, from a key or a `name`. Names travel into prompts, terminals and file names. */
function readName(node: JsonNode, report: Report): string | undefined {
  if (node.type !== "string") {
    report("error", node, '"name" must be a string.');
    return undefined;
  }
  const written = String(node.value);
  const name = trimHidden(written);
  if (name === "") {
    report("error", node, "A server needs a name that is not empty.");
    return undefined;
  }
  if (visible(name) !== name) {
    report("error", node, `The server name ${quote(name)} holds an invisible character; remove it.`);
    return undefined;
  }
  if (name !== written) report("warning", node, `White space around the server name ${quote(name)} was ignored.`, name);
  return name;
}

/** The properties of an object by key; of two with one key the later counts, as everywhere in JSON. */
export function fieldsOf(document: JsonDocument, object: JsonNode): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const property of object.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key !== undefined && value !== undefined) fields.set(String(key.value), { document, key, value });
  }
  return fields;
}

/** What switches an entry off, if anything does. */
export function disabledAt({ fields, switchedOff }: Entry): FilePosition | undefined {
  if (switchedOff !== undefined || !isDisabled(fields)) return switchedOff;
  const field = fields?.get("disabled")?.value.value === true ? fields.get("disabled") : fields?.get("enabled");
  return field && positionOf(field.document, field.key);
}

/** `disabled: true` (S1-14) or `enabled: false`. Such an entry is not looked at any further, so it may hold anything. */
export function isDisabled(fields: ReadonlyMap<string, Field> | undefined): boolean {
  return fields?.get("disabled")?.value.value === true || fields?.get("enabled")?.value.value === false;
}
