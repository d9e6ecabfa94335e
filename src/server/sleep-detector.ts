/** Small steps are corrections of the clock; a sleep is longer. */
const SLEEP_MS = 30_000;

/**
 * Notices that this computer has slept: the wall clock has moved on while the monotonic one, which counts waking time,
 * has not.
 */
export class SleepDetector {
  #offset = wallAhead();

  /** Whether it has, since this was last asked. */
  hasSlept(): boolean {
    const before = this.#offset;
    this.#offset = wallAhead();
    return this.#offset - before > SLEEP_MS;
  }
}

function wallAhead(): number {
  return Date.now() - performance.now();
}
