import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Lock, lockAt } from "../lock.ts";

const PAUSE_MS = 25;

/** A lock could not be had because nothing can be written there. */
export class Unwritable extends Error {}

const UNWRITABLE = new Set(["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "ENOTDIR", "EEXIST"]);

export function isUnwritable(error: unknown): boolean {
  return UNWRITABLE.has((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

/**
 * Runs alone among all processes, by a folder `<path>.lock`. A lock is never skipped because others hold it [E131]. Rejects
 * with Unwritable where nothing can be written.
 */
export async function withLock<T>(path: string, work: (lock: Lock) => Promise<T>, patienceMs: number): Promise<T> {
  const lock = await acquire(path, patienceMs);
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}

async function acquire(path: string, patienceMs: number): Promise<Lock> {
  const deadline = performance.now() + patienceMs;
  const tryLock = lockAt(`${path}.lock`);
  for (;;) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const lock = tryLock();
      if (lock) return lock;
    } catch (error) {
      if (isUnwritable(error)) throw new Unwritable("nothing can be written there", { cause: error });
      throw error;
    }
    if (performance.now() > deadline) throw new Error("another process holds the lock for too long");
    // It holds the process: whoever waits for a lock waits for an answer.
    await sleep(PAUSE_MS + Math.random() * PAUSE_MS);
  }
}
