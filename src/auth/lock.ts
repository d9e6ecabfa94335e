import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A holder tells this often that it lives; one that has not for `STALE_MS` was killed, and its lock is taken over. */
const HEARTBEAT_MS = 1_000;
const STALE_MS = 5_000;
const PAUSE_MS = 25;

/** A lock could not be had because nothing can be written there. */
export class Unwritable extends Error {}

const UNWRITABLE = new Set(["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "ENOTDIR"]);

export function isUnwritable(error: unknown): boolean {
  return UNWRITABLE.has((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

/**
 * Runs alone among all processes, by a folder `<path>.lock` that is kept fresh. A lock is never skipped because others hold
 * it [E131]; one whose holder is dead is taken over, whatever process has its number now [E134]. Rejects with Unwritable
 * where nothing can be written, and with `signal`'s reason.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, patienceMs: number): Promise<T> {
  const release = await acquire(path, patienceMs);
  try {
    return await work();
  } finally {
    await release().catch(() => {});
  }
}

async function acquire(path: string, patienceMs: number): Promise<() => Promise<void>> {
  const { lock } = await import("proper-lockfile");
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Taken over from us while this process stood still: what is read again before a write then counts.
      return await lock(path, { realpath: false, stale: STALE_MS, update: HEARTBEAT_MS, onCompromised: () => {} });
    } catch (error) {
      if (isUnwritable(error)) throw new Unwritable("nothing can be written there", { cause: error });
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ELOCKED" && code !== "ENOENT") throw error;
      if (performance.now() > deadline)
        throw new Error("another process holds the lock for too long", { cause: error });
    }
    // It holds the process: whoever waits for a lock waits for an answer.
    await sleep(PAUSE_MS + Math.random() * PAUSE_MS);
  }
}
