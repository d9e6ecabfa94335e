/** Where keys and values stand in the text, as offsets, by path (`pathOf`). */
export type KeyPositions = ReadonlyMap<string, { readonly key: number; readonly value: number }>;

const KEY = String.raw`(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const KEYS = String.raw`${KEY}(?:[ \t]*\.[ \t]*${KEY})*`;
const HEADER = new RegExp(String.raw`^[ \t]*(\[\[?)[ \t]*(${KEYS})[ \t]*\]`);
const ASSIGNMENT = new RegExp(String.raw`^[ \t]*(${KEYS})[ \t]*=[ \t]*`);
const EACH_KEY = new RegExp(KEY, "g");

/** A path as one text; items of an array are counted from "0". */
export function pathOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/**
 * Finds the keys of a TOML text that is known to be well formed: table headers, and assignments that begin a line. It
 * serves the places of messages alone, so it need not know the rest of the language: what it does not find has its
 * owner's place.
 */
export function keyPositions(text: string): KeyPositions {
  const positions = new Map<string, { key: number; value: number }>();
  /** Of each array of tables, the item that is being written. */
  const items = new Map<string, number>();
  let table: readonly string[] = [];
  let openString: string | undefined;
  let start = 0;

  /** Adds the parts of a key to a table's path and notes the place of each that has none yet. */
  function note(base: readonly string[], keys: string, at: number, valueAt: number, opensItem: boolean): string[] {
    const parts = [...keys.matchAll(EACH_KEY)];
    let path = [...base];
    for (const [index, part] of parts.entries()) {
      path = [...path, nameOf(part[0])];
      const name = pathOf(path);
      if (!positions.has(name)) positions.set(name, { key: at + part.index, value: valueAt });
      if (opensItem && index === parts.length - 1) items.set(name, (items.get(name) ?? -1) + 1);
      const item = items.get(name);
      if (item !== undefined) path = [...path, String(item)];
    }
    if (opensItem) positions.set(pathOf(path), { key: valueAt, value: valueAt });
    return path;
  }

  for (const line of text.split("\n")) {
    const header = openString === undefined ? HEADER.exec(line) : null;
    const assignment = openString === undefined ? ASSIGNMENT.exec(line) : null;
    if (header?.[1] !== undefined && header[2] !== undefined) {
      const bracket = start + header[0].indexOf("[");
      table = note([], header[2], start + header[0].indexOf(header[2]), bracket, header[1] === "[[");
    } else if (assignment?.[1] !== undefined) {
      note(table, assignment[1], start + assignment[0].indexOf(assignment[1]), start + assignment[0].length, false);
    }
    openString = openAfter(line, openString);
    start += line.length + 1;
  }
  return positions;
}

/** The quotes of a string of several lines that is still open at the end of a line. */
function openAfter(line: string, open: string | undefined): string | undefined {
  let quotes = open;
  for (const [mark] of line.matchAll(/"""|'''/g)) {
    if (quotes === undefined) quotes = mark;
    else if (quotes === mark) quotes = undefined;
  }
  return quotes;
}

function nameOf(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  if (!key.startsWith('"')) return key;
  try {
    return String(JSON.parse(key));
  } catch {
    // An escape that JSON does not have; the key then has no place of its own.
    return key;
  }
}
