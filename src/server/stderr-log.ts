import { constants } from "node:fs";
import { chmod, type FileHandle, lstat, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf } from "../error.ts";

/** Where the stderr of one server's processes goes. Nothing here throws or rejects. */
export interface StderrSink {
  write(chunk: Buffer): void;
  /** What was written is where it belongs, or has failed to get there. */
  close(): Promise<void>;
}

interface LogLimits {
  /** A log that is larger when it is opened is begun anew [S2-57]. */
  readonly keptBytes: number;
  /** One that would become larger moves aside, in the place of the one that did so before. */
  readonly maxBytes: number;
  /** What may wait for a slow disk. More is left out: neither the server nor this process waits for it. */
  readonly waitingBytes: number;
}

const LIMITS: LogLimits = {
  keptBytes: 512 * 1024,
  maxBytes: 4 * 1024 * 1024,
  waitingBytes: 8 * 1024 * 1024,
};

/** How long the end of a connection waits for the disk. */
const FLUSH_LIMIT_MS = 1_000;

/** Written in one go. */
const BATCH_BYTES = 1024 * 1024;

/** Ends the name of the log before this one. */
const BEFORE = ".1";

/**
 * A log file of a server: its bytes as they come [S2-58], behind those of earlier starts [S2-56], for its owner's eyes.
 * Two sessions may write to one log. However much a server says, at most twice `maxBytes` lie on the disk. When the file
 * cannot be written any more, that is told once and the rest is left out.
 */
export function openStderrLog(path: string, notice: (text: string) => void, limits: LogLimits = LIMITS): StderrSink {
  let file: FileHandle | undefined;
  let size = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let isOver = false;
  let isIncomplete = false;

  const giveUp = (reason: string) => {
    if (isOver) return;
    isOver = true;
    waiting = [];
    notice(`its log ${basename(path)} is not written: ${reason}`);
  };

  /** The earlier words, as the last ones matter most. */
  const leaveOut = () => {
    if (!isIncomplete) notice(`its log ${basename(path)} is not complete: the disk is too slow for all it says`);
    isIncomplete = true;
    waiting = [];
    waitingBytes = 0;
  };

  const begin = async () => {
    file = await openSafely(path);
    size = (await file.stat()).size;
  };

  const beginAnew = async () => {
    await file?.truncate(0);
    size = 0;
  };

  const moveAside = async () => {
    // Another session may have done so already: then its new file is the one to go on with.
    const [mine, present] = await Promise.all([file?.stat(), lstat(path).catch(() => undefined)]);
    await file?.close();
    file = undefined;
    // Which may happen at the very moment, too; and Windows moves no file that another session has open.
    if (mine?.ino === present?.ino && mine?.dev === present?.dev)
      await rename(path, `${path}${BEFORE}`).catch(() => {});
    await begin();
    if (size > limits.maxBytes) await beginAnew();
  };

  const start = async () => {
    await begin();
    if (size <= limits.keptBytes) return;
    await beginAnew();
    await rm(`${path}${BEFORE}`, { force: true });
  };

  const batchBytes = Math.min(BATCH_BYTES, limits.maxBytes);
  const takeBatch = (): Buffer => {
    let count = 0;
    let length = 0;
    do length += waiting[count++]?.length ?? 0;
    while (count < waiting.length && length + (waiting[count]?.length ?? 0) <= batchBytes);
    waitingBytes -= length;
    return Buffer.concat(waiting.splice(0, count));
  };

  const drain = async () => {
    while (waiting.length > 0 && !isOver) {
      const batch = takeBatch();
      // Before and not after, so that the last words are where they are looked for.
      if (size > 0 && size + batch.length > limits.maxBytes) await moveAside();
      await file?.appendFile(batch);
      size += batch.length;
    }
  };

  /** One thing after the other, in the order it was asked for. */
  let work = start().catch((error: unknown) => giveUp(reasonOf(error)));

  return {
    write(chunk) {
      if (isOver) return;
      if (waitingBytes + chunk.length > limits.waitingBytes) leaveOut();
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waiting.length === 1) work = work.then(drain).catch((error: unknown) => giveUp(reasonOf(error)));
    },
    async close() {
      const closing = work.finally(async () => {
        isOver = true;
        await file?.close().catch(() => {});
      });
      await Promise.race([closing, limit(FLUSH_LIMIT_MS)]);
    },
  };
}

/**
 * Opens for appending what is a plain file of one's own with no other name, or makes one. A link in its place could lead a
 * server's words into any other file, and a pipe would be waited for.
 */
async function openSafely(path: string): Promise<FileHandle> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (!isMine(uid)) throw new Error("its folder belongs to somebody else");
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  // Windows has neither of the two.
  const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, O_APPEND | O_CREAT | O_WRONLY | careful, 0o600);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error("something else has its name");
    if (!isMine(found.uid)) throw new Error("a file of somebody else has its name");
    if (found.nlink > 1) throw new Error("the file has another name as well");
    if ((found.mode & 0o077) !== 0) await file.chmod(0o600);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function isMine(uid: number): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** In words where the system has a code for it that says little. */
function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return messageOf(error);
  return code === "ELOOP" ? "a link has its name" : code === "ENOSPC" ? "the disk is full" : `the system says ${code}`;
}

function limit(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
