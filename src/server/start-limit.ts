/** A server that dies as soon as it has started must not be started for ever [E028]. */
const MAX_STARTS = 10;
const WINDOW_MS = 60_000;

/** Counts the starts of one server. It looks at nothing but the clock: texts of errors may be empty [E296]. */
export class StartLimit {
  #starts: number[] = [];

  /** Seconds until another start is allowed; 0 when it is now. */
  waitSeconds(): number {
    const now = performance.now();
    this.#starts = this.#starts.filter((at) => now - at < WINDOW_MS);
    const first = this.#starts.length < MAX_STARTS ? undefined : this.#starts[0];
    return first === undefined ? 0 : Math.ceil((first + WINDOW_MS - now) / 1000);
  }

  started(): void {
    this.#starts.push(performance.now());
  }

  /** A person wants it: what was, is forgotten. */
  reset(): void {
    this.#starts = [];
  }
}
