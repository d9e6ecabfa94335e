/** For property tests: a small deterministic generator (mulberry32) of whole numbers below a bound. */
export function randomNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** A text of up to `maxPieces` of the given pieces. */
export function randomText(next: (bound: number) => number, pieces: readonly string[], maxPieces: number): string {
  let text = "";
  for (let left = next(maxPieces + 1); left > 0; left--) text += pieces[next(pieces.length)];
  return text;
}
