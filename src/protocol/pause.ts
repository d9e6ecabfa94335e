import { RequestCancelled } from "./errors.ts";

/** Waits, holding the process as a request would. Rejects with RequestCancelled when the signal aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(new RequestCancelled());
      else resolve();
    }
  });
}
