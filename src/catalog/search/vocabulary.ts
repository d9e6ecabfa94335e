export interface NearWord {
  readonly term: string;
  readonly kind: "prefix" | "typo";
  /** How near, from 0 to 1. */
  readonly share: number;
}

export interface Vocabulary {
  add(surface: string, term: string): void;
  remove(surface: string): void;
  /** The words nearest to one that is not there. */
  near(surface: string): NearWord[];
}

/** Shorter words are near to too much. */
const MIN_PREFIX = 3;
const MIN_TYPO = 4;
const MAX_NEAR = 4;
/** More words are not kept, so that looking through them stays quick; 10,000 real tools have a tenth of it. */
const MAX_WORDS = 200_000;
/** From here on a word may have two slips. */
const LONG = 8;
/** A shorter word stands for one that begins with it when it is most of it. */
const MOST = 0.6;

interface Item {
  readonly surface: string;
  readonly term: string;
  /** Which letters occur, one bit each. */
  readonly letters: number;
  uses: number;
  place: number;
}

/** The words of all texts as they stand there, for what a query only nearly says. */
export function createVocabulary(): Vocabulary {
  const items: Item[] = [];
  const bySurface = new Map<string, Item>();
  return {
    add(surface, term) {
      const known = bySurface.get(surface);
      if (known !== undefined) {
        known.uses++;
        return;
      }
      if (items.length >= MAX_WORDS) return;
      const item = { surface, term, letters: lettersOf(surface), uses: 1, place: items.length };
      items.push(item);
      bySurface.set(surface, item);
    },
    remove(surface) {
      const item = bySurface.get(surface);
      if (item === undefined || --item.uses > 0) return;
      bySurface.delete(surface);
      const last = items.pop();
      if (last === undefined || last === item) return;
      items[item.place] = last;
      last.place = item.place;
    },
    near(surface) {
      // One Han letter is as good as a word.
      if (surface.length < MIN_PREFIX && !(surface.length === 1 && surface > "\x7f")) return [];
      const letters = lettersOf(surface);
      const slips = surface.length < MIN_TYPO || hasDigit(surface) ? 0 : surface.length < LONG ? 1 : 2;
      const found: (NearWord & { readonly surface: string })[] = [];
      for (const item of items) {
        const other = item.surface;
        // A bit that only one of both has is a letter that only one has.
        const differing = bits(item.letters ^ letters);
        if (other.length > surface.length && other.startsWith(surface)) {
          found.push({
            term: item.term,
            kind: "prefix",
            share: Math.sqrt(surface.length / other.length),
            surface: other,
          });
        } else if (other.length >= MIN_PREFIX && other.length < surface.length && surface.startsWith(other)) {
          const share = other.length / surface.length;
          if (share >= MOST) found.push({ term: item.term, kind: "prefix", share, surface: other });
        } else if (slips > 0 && differing <= slips * 2 && Math.abs(other.length - surface.length) <= slips) {
          const distance = editDistance(surface, other, slips);
          if (distance <= slips) found.push({ term: item.term, kind: "typo", share: 1 / distance, surface: other });
        }
      }
      found.sort((a, b) => b.share - a.share || (a.surface < b.surface ? -1 : 1));
      return found.slice(0, MAX_NEAR);
    },
  };
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function hasDigit(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code >= 48 && code <= 57) return true;
  }
  return false;
}

function bits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Insertions, deletions, substitutions and exchanges of neighbours; more than `limit` when it is more. */
function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      }
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    before = last;
    last = next;
  }
  return last[b.length] ?? limit + 1;
}
