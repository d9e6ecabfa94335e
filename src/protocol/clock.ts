/** Progress keeps a request alive, but a server that only ever reports progress is hung all the same [E197]. */
export const TOTAL_LIMIT_FACTOR = 60;
/** Timers of Node count 31 bits of milliseconds; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 0x7fffffff;

/**
 * The two limits of one request: without answer or progress (`idleMs`), and in all (60 times that). Both stand still
 * while a person is asked something. While it runs it holds the event loop: a process must not end under a request.
 */
export class RequestClock {
  readonly #idleMs: number;
  readonly #expire: (limit: "idle" | "total", limitMs: number) => void;
  /** What is left of each limit, as of `#since` while running. */
  #idleLeft: number;
  #totalLeft: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  /** An infinite limit is none. */
  constructor(idleMs: number, expire: (limit: "idle" | "total", limitMs: number) => void) {
    this.#idleMs = idleMs;
    this.#expire = expire;
    this.#idleLeft = idleMs;
    this.#totalLeft = idleMs * TOTAL_LIMIT_FACTOR;
  }

  start(): void {
    if (this.#timer !== undefined || this.#idleMs === Number.POSITIVE_INFINITY) return;
    this.#since = performance.now();
    const isTotal = this.#totalLeft < this.#idleLeft;
    const expire = () => this.#expire(isTotal ? "total" : "idle", this.#idleMs * (isTotal ? TOTAL_LIMIT_FACTOR : 1));
    this.#timer = setTimeout(expire, Math.min(this.#idleLeft, this.#totalLeft, LONGEST_TIMER_MS));
  }

  /** Time spent so far is kept; `start` goes on from there. */
  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spent = performance.now() - this.#since;
    this.#idleLeft -= spent;
    this.#totalLeft -= spent;
  }

  progress(): void {
    const running = this.#timer !== undefined;
    this.pause();
    this.#idleLeft = this.#idleMs;
    if (running) this.start();
  }
}
