import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Lock, lockAt } from "../lock.ts";

/**
 * Replaces a record that this program keeps for a person: JSON in a file that its owner alone can read. `next` reads the
 * record anew and gives the changed one; what it throws leaves all as it was. Whoever reads meanwhile sees the old one or
 * the new one, and of two that write at once the second waits. Throws an Error with a sentence that begins with
 * `what` when the file cannot be written.
 */
export function changeRecord(path: string, what: string, next: () => object): void {
  // A link is kept, as some people link such files from elsewhere.
  const file = realPathIfThere(path);
  let lock: Lock;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    lock = takeLock(`${file}.lock`);
  } catch (thrown) {
    throw notWritten(what, file, thrown);
  }
  try {
    const record = next();
    try {
      replace(file, `${JSON.stringify(record, null, 2)}\n`);
    } catch (thrown) {
      throw notWritten(what, file, thrown);
    }
  } finally {
    lock.release();
  }
}

function realPathIfThere(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function replace(file: string, text: string): void {
  let made = false;
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = openSync(temporary, "wx", 0o600);
    made = true;
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } catch (thrown) {
    if (made) rmSync(temporary, { force: true });
    throw thrown;
  }
}

const LOCK_RETRY_MS = 20;

/** Whoever is to say yes or no can wait. */
function takeLock(path: string): Lock {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const tryLock = lockAt(path);
  for (;;) {
    const lock = tryLock();
    if (lock) return lock;
    Atomics.wait(pause, 0, 0, LOCK_RETRY_MS);
  }
}

function notWritten(what: string, file: string, thrown: unknown): Error {
  return new Error(`${what}, ${file}, could not be written (${codeOf(thrown)}).`);
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
}
