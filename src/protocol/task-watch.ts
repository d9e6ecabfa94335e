import { TOTAL_LIMIT_FACTOR } from "./clock.ts";
import { stringOf } from "./decode/fields.ts";
import { RequestTimeout } from "./errors.ts";
import type { ExchangeRequest } from "./exchange.ts";
import type { JsonObject } from "./types.ts";

/** Between two looks at a task whose server names no interval; and the bounds of one that does, milliseconds. */
const USUAL_MS = 1_000;
const LEAST_MS = 50;
const MOST_MS = 60_000;

export type Pause = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

/** The looks at one task, in either of its two forms: how often, how they are shown, and when it is enough. */
export class TaskWatch {
  readonly #pause: Pause;
  readonly #limits: ExchangeRequest;
  /** A task may take long, but not for ever: the total limit of a call, without the time people take to answer. */
  #until: number;
  #looks = 0;

  constructor(pause: Pause, limits: ExchangeRequest) {
    this.#pause = pause;
    this.#limits = limits;
    this.#until = performance.now() + limits.timeoutMs * TOTAL_LIMIT_FACTOR;
  }

  /** Until the next look. Rejects with RequestTimeout when there is to be none. */
  async wait(intervalMs: unknown): Promise<void> {
    if (performance.now() > this.#until) {
      throw new RequestTimeout("tools/call", this.#limits.timeoutMs * TOTAL_LIMIT_FACTOR, "total");
    }
    const asked = typeof intervalMs === "number" && intervalMs >= 0 ? intervalMs : USUAL_MS;
    await this.#pause(Math.min(Math.max(asked, LEAST_MS), MOST_MS), this.#limits.signal);
  }

  async asking<T>(ask: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const answer = await ask();
    this.#until += performance.now() - since;
    return answer;
  }

  /** To whoever waits a look is progress. */
  looked({ status, statusMessage }: JsonObject): void {
    this.#looks++;
    this.#limits.onProgress?.({ progress: this.#looks, message: stringOf(statusMessage) ?? String(status) });
  }
}
