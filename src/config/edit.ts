import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../error.ts";
import { assertSound, EditError, type EntryEdit, editEntries, findEntries } from "./edit-entries.ts";
import { decode, parseBytes, parseJson, readBytes } from "./json-file.ts";
import type { ConfigProblem, FilePosition } from "./record.ts";
import { removeLeftovers, replaceFile, targetOf } from "./replace-file.ts";

export interface EditedServer {
  readonly name: string;
  /** Where the entry stands now; absent when it was removed. */
  readonly position?: FilePosition;
}

export interface EditedFile {
  /** The file that was written: the end of any symbolic links. */
  readonly file: string;
  /** Whether anything was to be changed at all. */
  readonly isChanged: boolean;
  readonly servers: readonly EditedServer[];
}

/** A lock whose holder has not been heard of for so long is taken over. An edit takes a few milliseconds. */
const STALE_MS = 5_000;

/** As long as a lock may be stale, and many others before us. */
const LOCK_PATIENCE_MS = 30_000;

/** How often a lock is asked for, with chance in it so that those who wait do not ask in step. */
const lockPauseMs = () => 20 + Math.random() * 60;

/** How often a file that another program changes meanwhile is read anew. */
const MAX_ATTEMPTS = 5;

/**
 * Changes the entries of an mcp.json or settings.json, all or none, and nothing else in it. One process at a time; the
 * file is replaced in one step; one that does not parse is left alone. Values are written as they are given: nothing is
 * expanded. Throws EditError with a sentence that names the file, with line and column where it is about a place. The signal ends waiting for others.
 */
export async function editConfig(file: string, edits: readonly EntryEdit[], signal?: AbortSignal): Promise<EditedFile> {
  try {
    const target = targetOf(file);
    if (target.endsWith(".toml"))
      throw new EditError("broken", `${file} is TOML; only JSON is edited, change it by hand.`);
    // Only what adds may create; there is nothing to lock or to remove beside a folder that is not there.
    if (edits.some(({ kind }) => kind === "put")) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    else if (readSound(target) === undefined) editEntries(target, "", edits);
    const unlock = await lock(target, signal);
    try {
      removeLeftovers(target, STALE_MS);
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const edited = editOnce(target, edits);
        if (edited !== undefined) return edited;
      }
      throw new EditError("failed", `${file} is being changed by another program all the time; nothing was written.`);
    } finally {
      await unlock();
    }
  } catch (thrown) {
    throw thrown instanceof EditError ? thrown : new EditError("failed", systemError(file, thrown));
  }
}

/** The lock is a folder beside the file, as other programs that use the same library have it. Throws EditError. */
async function lock(target: string, signal: AbortSignal | undefined): Promise<() => Promise<void>> {
  const deadline = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    if (signal?.aborted) throw new EditError("cancelled", `${target}: interrupted; nothing was written.`);
    const release = await tryLock(target);
    if (release !== undefined) return () => release().catch(() => {});
    if (performance.now() > deadline) {
      const message = `${target} is locked by another program (${target}.lock); nothing was written. Try again.`;
      throw new EditError("failed", message);
    }
    await sleep(lockPauseMs());
  }
}

/** `undefined` when somebody else has it. The library's own retries would also wait out a folder that is read-only. */
async function tryLock(target: string): Promise<(() => Promise<void>) | undefined> {
  const { lock: acquire } = await import("proper-lockfile");
  try {
    return await acquire(target, {
      // The file itself may not exist yet, and links have been followed.
      realpath: false,
      stale: STALE_MS,
      // Somebody took it over: the look at the file right before it is replaced is what counts then.
      onCompromised: () => {},
    });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ELOCKED") return undefined;
    throw thrown;
  }
}

function systemError(file: string, thrown: unknown): string {
  const { code, path } = thrown as NodeJS.ErrnoException;
  const why = (code !== undefined && SYSTEM_ERRORS[code]) || messageOf(thrown);
  const where = path !== undefined && path !== file ? ` (at ${path})` : "";
  return `${file} could not be written: ${why}${where}. It is as it was.`;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EACCES: "permission denied (EACCES)",
  EPERM: "permission denied (EPERM)",
  EROFS: "the file system is read-only (EROFS)",
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  ENOTDIR: "a part of its path is a file, not a folder (ENOTDIR)",
  EEXIST: "a part of its path is a file, not a folder (EEXIST)",
  ELOOP: "its symbolic links form a loop (ELOOP)",
  ENAMETOOLONG: "the path is too long (ENAMETOOLONG)",
  EISDIR: "it is a folder (EISDIR)",
};

/** `undefined` when another program has changed the file meanwhile. */
function editOnce(target: string, edits: readonly EntryEdit[]): EditedFile | undefined {
  const before = readSound(target);
  const isUtf16 = before?.[0] === 0xff && before[1] === 0xfe;
  const hasMark = isUtf16 || (before?.[0] === 0xef && before[1] === 0xbb && before[2] === 0xbf);
  const text = before === undefined ? "" : decode(before);
  const edited = editEntries(target, text, edits);
  if (edited !== text) {
    assertWritable(target);
    const content = Buffer.from(`${hasMark ? "\ufeff" : ""}${edited}`, isUtf16 ? "utf16le" : "utf8");
    const isUnchanged = () => {
      const now = readSound(target);
      return before === undefined ? now === undefined : now !== undefined && before.equals(now);
    };
    if (!replaceFile(target, content, isUnchanged)) return undefined;
  }
  return {
    file: target,
    isChanged: edited !== text,
    servers: edits.map(({ name }) => ({ name, ...positionIn(target, edited, name) })),
  };
}

function positionIn(file: string, text: string, name: string): { position?: FilePosition } {
  const document = parseJson(file, text, []);
  const found = document && findEntries(document, name).at(-1);
  return found === undefined ? {} : { position: found.position };
}

/** `undefined` for a file that does not exist. What reading it refuses (size, kind, encoding) is refused here too. */
function readSound(target: string): Buffer | undefined {
  const problems: ConfigProblem[] = [];
  const bytes = readBytes(target, problems);
  if (bytes !== undefined) parseBytes(target, bytes, problems);
  assertSound(problems);
  return bytes;
}

/** A file without any permission to write is meant to stay as it is, also for the superuser and though its folder would allow it. */
function assertWritable(target: string): void {
  const stat = statSync(target, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if ((stat.mode & 0o222) === 0) throw new EditError("failed", `${target} is read-only; nothing was written.`);
  accessSync(target, constants.W_OK);
}
