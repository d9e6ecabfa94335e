import type { RetryPolicy } from "../config/record.ts";
import type { TransportError } from "../transport/transport.ts";

/** A server that wants us to wait longer than this is not going to be ready in time. */
const LONGEST_WAIT_MS = 10_000;

/** The pause before try `attempt` + 1, milliseconds. */
export function pauseMs({ firstMs, growth, maxMs }: RetryPolicy["pause"], attempt: number): number {
  return Math.min(growth === "doubled" ? firstMs * 2 ** (attempt - 1) : firstMs * attempt, maxMs);
}

/** Where the next try goes: on the connection the last one failed on, on a new one, or it is the start that failed. */
export type NextTry = "in place" | "anew" | "start";

/** The tries of one request, counted against its server's policy. It decides how often, never whether: see `mayReplay`. */
export class Tries {
  readonly #policy: RetryPolicy;
  #made = 1;
  #inPlace = 0;
  #reconnects = 0;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  get made(): number {
    return this.#made;
  }

  /** Takes one more try and gives the pause before it, milliseconds; undefined when there is none left. */
  next(where: NextTry, failure: TransportError): number | undefined {
    const { attempts, inPlace, reconnects, repeatsStart, pause } = this.#policy;
    if (this.#made >= attempts || (where === "start" && !repeatsStart)) return undefined;
    if (where === "in place" ? this.#inPlace >= inPlace : this.#reconnects >= reconnects) return undefined;
    // A server that no longer knows the session waits for a new one, not for time to pass.
    const usual = failure.failure === "session-lost" ? 0 : pauseMs(pause, this.#made);
    const wait = Math.max(usual, failure.http?.retryAfterMs ?? 0);
    if (wait > LONGEST_WAIT_MS) return undefined;
    this.#made++;
    if (where === "in place") this.#inPlace++;
    else this.#reconnects++;
    return wait;
  }
}
