/** Longer words are not looked at: no name of a field is, and comparing costs time by the square. */
const MAX_CHARS = 40;

/**
 * The one of some words that a slip in writing would turn into this one: another case, `-` or `_` more or less, or up to
 * one wrong, missing, doubled or exchanged letter in three (at most three). The first of the nearest.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_CHARS) return undefined;
  const bare = bareOf(word);
  const limit = Math.min(3, Math.floor(bare.length / 3));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const other = bareOf(candidate);
    if (Math.abs(other.length - bare.length) >= least) continue;
    const distance = editDistance(bare, other);
    if (distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

function bareOf(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, "");
}

/** Insertions, deletions, substitutions and exchanges of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(before, column - 2) + 1);
      }
      next.push(cost);
    }
    before = last;
    last = next;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
