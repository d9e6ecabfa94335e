import { pause } from "../protocol/pause.ts";
import type { Live } from "./live.ts";

/** All connections of one link that have not ended yet, also those that are left to their last requests. */
export class Lives {
  readonly #all = new Set<Live>();
  /** The ends of those on their way out. */
  #ending: Promise<unknown>;

  /** `predecessor`: the end of what was before these. */
  constructor(predecessor: Promise<unknown>) {
    this.#ending = predecessor;
  }

  add(live: Live): void {
    this.#all.add(live);
  }

  /** The connection is over, and with it every request on it. */
  end(live: Live): void {
    if (!this.#all.delete(live)) return;
    this.#ending = Promise.all([this.#ending, live.connection.close()]);
  }

  /** Ends all of them, or those that no request holds. */
  endAll(which: "all" | "unused"): void {
    for (const live of this.#all) if (which === "all" || !live.isUsed) this.end(live);
  }

  /** Resolves when all that were ended are gone. */
  async ended(): Promise<void> {
    await this.#ending;
  }

  /** Resolves when no request is under way on any, and what that has ended is gone. Whoever makes the last request ends it. */
  async drained(): Promise<void> {
    await Promise.all([...this.#all].map((live) => live.unused()));
    await this.#ending;
  }

  /**
   * Never two processes of one server: an old one may take its time to end, and finish what is under way on it, though for
   * no longer than `limitMs`.
   */
  async makeRoom(limitMs: number, signal: AbortSignal): Promise<void> {
    const processes = [...this.#all].filter(({ transport }) => transport.pid !== undefined);
    if (processes.length > 0) {
      const over = new AbortController();
      const limit = pause(limitMs, AbortSignal.any([signal, over.signal])).catch(() => {});
      await Promise.race([limit, Promise.all(processes.map((live) => live.unused()))]);
      over.abort();
      for (const live of processes) this.end(live);
    }
    await this.#ending;
  }
}
