import { RequestCancelled } from "./errors.ts";

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
