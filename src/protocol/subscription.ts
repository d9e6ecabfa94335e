import { isObject } from "../is-object.ts";
import { TransportError } from "../transport/transport.ts";
import type { ChangingList } from "./client-side.ts";
import { RequestCancelled } from "./errors.ts";
import { PASSING } from "./retry.ts";
import type { JsonObject } from "./types.ts";

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;
/** A stream that lived this long was a good one: the next loss starts from the first delay again. */
const GOOD_MS = 30_000;

const PARAMETER = { tools: "toolsListChanged", prompts: "promptsListChanged", resources: "resourcesListChanged" };

export interface SubscriptionOptions {
  readonly lists: readonly ChangingList[];
  /** Sends `subscriptions/listen` and settles when its stream is over. */
  listen(params: JsonObject, signal: AbortSignal): Promise<unknown>;
  changed(list: ChangingList): void;
  notice(text: string): void;
}

/**
 * Keeps `subscriptions/listen` open (2026-07-28, basic/patterns/subscriptions), again after a loss with growing waits, and
 * then takes the lists for changed: nobody told what happened meanwhile. A server that refuses is not asked again.
 * Nothing of it holds the process.
 */
export function subscribe(options: SubscriptionOptions): { acknowledged(params: JsonObject): void; stop(): void } {
  const stopped = new AbortController();
  const wanted = Object.fromEntries(options.lists.map((list) => [PARAMETER[list], true]));
  void keepListening();
  return { acknowledged, stop: () => stopped.abort() };

  async function keepListening(): Promise<void> {
    let delay = FIRST_DELAY_MS;
    while (!stopped.signal.aborted) {
      const since = performance.now();
      try {
        await options.listen({ notifications: wanted }, stopped.signal);
      } catch (error) {
        if (error instanceof RequestCancelled || !mayReturn(error)) return;
      }
      delay = performance.now() - since > GOOD_MS ? FIRST_DELAY_MS : Math.min(delay * 2, LONGEST_DELAY_MS);
      await quietly(delay);
      if (!stopped.signal.aborted) for (const list of options.lists) options.changed(list);
    }
  }

  /** The first message says what of the wish is granted. */
  function acknowledged(params: JsonObject): void {
    const granted = isObject(params.notifications) ? params.notifications : {};
    const missing = options.lists.filter((list) => granted[PARAMETER[list]] !== true);
    if (missing.length > 0) options.notice(`the server does not tell of changes to its ${missing.join(", ")}`);
  }

  function quietly(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, ms);
      timer.unref();
      stopped.signal.addEventListener("abort", end, { once: true });
    });
  }
}

/** A stream may come back that was lost, or whose server is being replaced; all other answers are final. */
function mayReturn(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  if (error.http) return PASSING.has(error.http.status);
  return error.failure === "unreachable" || (error.failure === "ended" && error.delivery !== "not-sent");
}
