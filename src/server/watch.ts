interface WatchOptions {
  /** A connection that was not used for so long is idle, milliseconds; 0: never. */
  readonly idleTimeoutMs: number;
  /** Milliseconds between checks; 0: none. */
  readonly healthCheckMs: number;
  idle(): void;
  check(): void;
}

/** The clocks of a connection nobody uses at the moment. They do not hold the process. */
export class Watch {
  readonly #options: WatchOptions;
  #idle: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.stop();
    this.#isRunning = true;
    const { healthCheckMs, check } = this.#options;
    if (healthCheckMs > 0) this.#check = setInterval(check, healthCheckMs).unref();
    this.used();
  }

  /** The connection has just been used: it is idle only so long after this. */
  used(): void {
    clearTimeout(this.#idle);
    const { idleTimeoutMs, idle } = this.#options;
    if (this.#isRunning && idleTimeoutMs > 0) this.#idle = setTimeout(idle, idleTimeoutMs).unref();
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#idle);
    clearInterval(this.#check);
  }
}
