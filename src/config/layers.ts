import { type Entry, readEntries } from "./entries.ts";
import type { FileMemory } from "./file-memory.ts";
import { type JsonDocument, readJsonFile } from "./json-file.ts";
import type { ConfigProblem, Surface } from "./record.ts";
import { readUsualSurface } from "./surface.ts";
import { readTomlFile } from "./toml-file.ts";

/** The entries of one file, by name. */
export type Layer = ReadonlyMap<string, Entry>;

/** A file of the person's own: its entries, and what it says of the surface of all servers. */
export interface OwnFile {
  readonly file: string;
  readonly document: JsonDocument | undefined;
  /** There is one, and it cannot be read, nor could it ever. */
  readonly isBroken: boolean;
  readonly layer: Layer;
  readonly surface: Surface | "auto" | undefined;
}

/** A file, which is what its name says; nothing in it, with a problem, when it cannot be read and never could. */
export function readOwnFile(file: string, problems: ConfigProblem[], memory: FileMemory): OwnFile {
  const found: ConfigProblem[] = [];
  const document = memory.read(file, found)?.document;
  problems.push(...found);
  if (document === undefined) {
    return { file, document, isBroken: found.length > 0, layer: new Map(), surface: undefined };
  }
  const layer = readEntries(document, problems, file.endsWith("mcp.json"));
  return { file, document, isBroken: false, layer, surface: readUsualSurface(document, problems) };
}

/** A file's content, whose kind its name says; `undefined` when there is none, or after reporting why it cannot be read. */
export function readDocument(file: string, problems: ConfigProblem[]): JsonDocument | undefined {
  return file.endsWith(".toml") ? readTomlFile(file, problems) : readJsonFile(file, problems);
}

/**
 * One set of entries from several files, which are given from low to high. An entry of a higher file replaces the lower
 * one whole, so a new address never gets the old one's credentials; only an entry that names no transport at all (no
 * `command`, `url` or `type`) changes just the fields it has: `{"disabled": true}` switches a server off.
 */
export function mergeLayers(layers: readonly Layer[]): Map<string, Entry> {
  const merged = new Map<string, Entry>();
  for (const layer of layers) {
    for (const [name, entry] of layer) merged.set(name, onto(merged.get(name), entry));
  }
  return merged;
}

/**
 * The person's own entries with those of project files, from low to high. An entry that only changes fields changes the
 * person's own one, never that of another project file: each file is allowed by itself, so what it makes of an entry
 * must not depend on what the others hold.
 */
export function withProject(own: Layer, project: readonly Layer[]): Map<string, Entry> {
  const merged = new Map(own);
  for (const layer of project) {
    for (const [name, entry] of layer) merged.set(name, onto(own.get(name), entry));
  }
  return merged;
}

/** What an entry makes of the lower one of its name. */
export function onto(lower: Entry | undefined, entry: Entry): Entry {
  return lower !== undefined && isOverride(entry) ? override(lower, entry) : entry;
}

export function isOverride({ fields }: Entry): boolean {
  return fields !== undefined && !["command", "url", "type"].some((field) => fields.has(field));
}

/** The result stands where the lower entry does: that is the one that says what runs. */
function override(lower: Entry, higher: Entry): Entry {
  if (lower.fields === undefined || higher.fields === undefined) return lower;
  return { ...lower, fields: new Map([...lower.fields, ...higher.fields]) };
}
