/**
 * The requirement rows that a test's name claims to prove. Ids stand in square brackets: `[S1-27] …`, `[S1-27, S1-28] …`,
 * `[S1-27][S1-28] …`, also in the name of a group, which claims for all its tests.
 */
export interface Claims {
  readonly ids: readonly string[];
  /** Bracketed texts that begin like an id and are no list of ids, each a slip of the pen. */
  readonly unreadable: readonly string[];
}

const BRACKETED = /\[([^\][]*)\]/g;
const ID = /^S\d-\d+$/;
const BEGINS_LIKE_ID = /^\s*S\d+\s*-/i;

export function claimsOf(fullName: string): Claims {
  const ids = new Set<string>();
  const unreadable: string[] = [];
  for (const [text, inside = ""] of fullName.matchAll(BRACKETED)) {
    if (!BEGINS_LIKE_ID.test(inside)) continue;
    const parts = inside.split(",").map((part) => part.trim());
    if (parts.every((part) => ID.test(part))) for (const part of parts) ids.add(part);
    else unreadable.push(text);
  }
  return { ids: [...ids], unreadable };
}

/** `S1-01..S1-05, S1-09` for a list in the order of the rows; neighbours are told by their place in `order`. */
export function asRanges(ids: readonly string[], order: readonly string[]): string {
  const ranges: { from: string; to: string }[] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    const sameSystem = last?.to.slice(0, 2) === id.slice(0, 2);
    if (last && sameSystem && order.indexOf(id) === order.indexOf(last.to) + 1) last.to = id;
    else ranges.push({ from: id, to: id });
  }
  return ranges.map(({ from, to }) => (from === to ? from : `${from}..${to}`)).join(", ");
}
