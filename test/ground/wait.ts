import { setTimeout as sleep } from "node:timers/promises";

/** How often a condition is looked at that nothing announces, like another process's file or end. */
const LOOK_EVERY_MS = 15;

/** Generous: it only bounds how long a broken test takes. */
export const PATIENCE_MS = 20_000;

/** The first value of `look` that is not undefined. Rejects after `timeoutMs` with what was waited for. */
export async function until<T>(what: string, look: () => T | undefined, timeoutMs = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    await sleep(LOOK_EVERY_MS);
  }
}
