interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** What a request does to the other end. */
interface Sending {
  send(): void;
  /** Takes it back. */
  cancel(): void;
}

/** Requests of one end of a line that have not been answered, by id. */
export class Pending<Id extends string | number> {
  readonly #waiting = new Map<Id, Waiting>();

  /** Sends and waits. Aborting takes the request back and rejects at once; one that is aborted already is never sent. */
  wait(id: Id, { send, cancel }: Sending, signal: AbortSignal | undefined): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(new Error("cancelled"));
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    const abort = () => {
      cancel();
      this.take(id)?.reject(new Error("cancelled"));
    };
    signal?.addEventListener("abort", abort, { once: true });
    send();
    return answer.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Whoever waits under an id, which nobody does from then on. */
  take(id: unknown): Waiting | undefined {
    const waiting = this.#waiting.get(id as Id);
    this.#waiting.delete(id as Id);
    return waiting;
  }

  rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
