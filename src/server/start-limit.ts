/** A server that dies as soon as it has started must not be started for ever [E028]. */
const MAX_STARTS = 10;
const WINDOW_MS = 60_000;

/** Counts the starts of one server. It looks at nothing but the clock: texts of errors may be empty [E296]. */
export class StartLimit {
  readonly #inARow: number;
  #starts: number[] = [];
  /** Since the last answer to a call; the first start is none of them. */
  #reconnects = -1;

  /** `reconnectsInARow`: new connections until a call is answered [S2-24]. */
  constructor(reconnectsInARow = Number.POSITIVE_INFINITY) {
    this.#inARow = reconnectsInARow;
  }

  /** Why it is not to be started now; undefined when it may be. */
  refusal(): string | undefined {
    if (this.#reconnects >= this.#inARow) {
      const times = `${this.#inARow} times in a row without answering a call`;
      return `it was connected again ${times} and is left alone; reconnecting it by hand works at once`;
    }
    const seconds = this.#waitSeconds();
    if (seconds === 0) return undefined;
    return `it was started too often and is left alone for ${seconds} s; reconnecting it by hand works at once`;
  }

  #waitSeconds(): number {
    const now = performance.now();
    this.#starts = this.#starts.filter((at) => now - at < WINDOW_MS);
    const first = this.#starts.length < MAX_STARTS ? undefined : this.#starts[0];
    return first === undefined ? 0 : Math.ceil((first + WINDOW_MS - now) / 1000);
  }

  started(): void {
    this.#starts.push(performance.now());
    this.#reconnects++;
  }

  /** A call was answered. */
  answered(): void {
    this.#reconnects = Math.min(this.#reconnects, 0);
  }

  /** The last start is not held against the server: it is we who part from it. */
  forgive(): void {
    this.#starts.pop();
    this.#reconnects = Math.max(this.#reconnects - 1, -1);
  }

  /** A person wants it: what was, is forgotten. */
  reset(): void {
    this.#starts = [];
    this.#reconnects = -1;
  }
}
