import { LONGEST_TIMER_MS } from "./clock.ts";
import { RequestCancelled, RequestTimeout } from "./errors.ts";

/** Waits, holding the process as a request would. Rejects with RequestCancelled when the signal aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return untilAborted(waiting, signal).finally(() => clearTimeout(timer));
}

/** The promise, or RequestCancelled when the signal aborts first: whoever waits leaves, what they waited for goes on. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new RequestCancelled());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * The promise, unless its time is over or the signal aborts first: what was waited for goes on. Rejects with RequestTimeout,
 * which names `what` and the limit a person knows, or RequestCancelled.
 */
export async function inTime<T>(
  work: Promise<T>,
  {
    what,
    leftMs,
    limitMs,
    signal,
  }: { what: string; leftMs: number; limitMs: number; signal?: AbortSignal | undefined },
): Promise<T> {
  const over = new AbortController();
  const ends = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const limit = pause(Math.min(leftMs, LONGEST_TIMER_MS), ends).then(() => {
    throw new RequestTimeout(what, limitMs);
  });
  // Nobody waits for it any more once the work is done.
  limit.catch(() => {});
  return Promise.race([work, limit]).finally(() => over.abort());
}
