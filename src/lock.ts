import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { isObject } from "./is-object.ts";
import { lookAtProcess } from "./proc.ts";

/** A holder tells this often that it lives. */
const HEARTBEAT_MS = 1_000;
/**
 * One of which nobody can tell that it is dead (it is stopped, or of another computer or container that shares the folder)
 * loses its lock after it was watched for so long without a sign of life. By the watcher's own clock: those of others differ.
 */
const SILENT_MS = 25_000;

/** Longer than a process may stand still between two steps, but for one that is stopped. */
const KEPT_MS = 10_000;

const HOLDER = "holder";
/** With the holder's id behind it, so that one who has lost the lock writes into nobody's note. */
const NOTE = "note-";

/** A lock that is held. It is a folder with its holder within, so both appear, and go, in one step. */
export interface Lock {
  /** What holders had noted that were killed since somebody released it. */
  readonly inherited: readonly string[];
  /** For whoever takes over if this process is killed now. Best effort. */
  note(text: string): void;
  /** Never throws. */
  release(): void;
}

interface Holder {
  /** Of this one lock, for its file names. */
  readonly id: string;
  readonly pid: number;
  /** When that process started; empty where nobody can tell. */
  readonly start: string;
  /** Where its number means something. */
  readonly where: string;
}

/**
 * Tries to take the lock at `path` each time it is called; undefined while others hold it. A holder that is dead is known by
 * its number and its start, so its lock is taken over at once, and one that lives keeps it [E134]. Throws the system's errors
 * where nothing can be written.
 */
export function lockAt(path: string): () => Lock | undefined {
  let watched: { readonly stamp: string; readonly since: number } | undefined;

  function isSilent(stamp: string): boolean {
    if (watched?.stamp !== stamp) watched = { stamp, since: performance.now() };
    return performance.now() - watched.since > SILENT_MS;
  }

  return () => {
    const held = look(path);
    if (held && !held.isDead && !isSilent(held.stamp)) return undefined;
    return !held || putAside(path, held.id) ? claim(path) : undefined;
  };
}

/** Who holds it; undefined when nobody does. What has no holder that can be read may be half of one, and is watched. */
function look(path: string): { readonly id: string; readonly stamp: string; readonly isDead: boolean } | undefined {
  const holder = readHolder(path);
  if (holder) return { id: holder.id, stamp: `${holder.id} ${beatOf(join(path, HOLDER))}`, isDead: isDead(holder) };
  try {
    // A lock is never an empty folder.
    rmdirSync(path);
  } catch {
    if (existsSync(path)) return { id: "", stamp: `${beatOf(path)}`, isDead: false };
  }
  return undefined;
}

function claim(path: string): Lock | undefined {
  const id = randomUUID();
  const prepared = `${path}.${id}`;
  try {
    mkdirSync(prepared, { mode: 0o700 });
    const { start = "" } = lookAtProcess(process.pid) ?? {};
    const holder: Holder = { id, pid: process.pid, start, where: here() };
    writeFileSync(join(prepared, HOLDER), JSON.stringify(holder), { mode: 0o600 });
    // Fails where there is a lock, as that is a folder with something in it.
    renameSync(prepared, path);
  } catch (error) {
    rmSync(prepared, { recursive: true, force: true });
    // Somebody was faster, or has tidied up. Windows has no words of its own for the former.
    const isMet = ["ENOTEMPTY", "EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (isMet || existsSync(path)) return undefined;
    throw error;
  }
  const heart = setInterval(() => beat(join(path, HOLDER)), HEARTBEAT_MS).unref();
  return {
    inherited: leftBeside(path).flatMap(notesIn).flatMap(readNote),
    note(text) {
      try {
        writeFileSync(join(path, `${NOTE}${id}`), text, { mode: 0o600 });
      } catch {
        // It helps to explain, and no more.
      }
    },
    release() {
      clearInterval(heart);
      try {
        if (readHolder(path)?.id === id && putAside(path, id)) tidy(path, id);
      } catch {
        // This process lives no longer than its lock.
      }
    },
  };
}

/**
 * Takes away the lock of this holder and of no other. Of several who found it dead one succeeds: what was put aside stays
 * for a while, and no folder takes the place of one with something in it.
 */
function putAside(path: string, id: string): boolean {
  const aside = asideOf(path, id);
  try {
    renameSync(path, aside);
  } catch {
    return false;
  }
  if ((readHolder(aside)?.id ?? "") === id) return true;
  // It had been released and taken meanwhile.
  try {
    renameSync(aside, path);
  } catch {
    // And once more. Its holder has lost it.
  }
  return false;
}

function asideOf(path: string, id: string): string {
  return `${path}.over-${id}`;
}

/** Removes what is left, but keeps what was put aside lately: somebody who stands still may have found it dead before. */
function tidy(path: string, own: string): void {
  for (const left of leftBeside(path)) {
    const age = Math.abs(Date.now() - (statSync(left, { throwIfNoEntry: false })?.ctimeMs ?? 0));
    if (left === asideOf(path, own) || age > KEPT_MS) remove(path, left);
    else for (const note of notesIn(left)) rmSync(note, { force: true });
  }
}

/** Moved first: half of a folder must not become a lock. */
function remove(path: string, left: string): void {
  const doomed = asideOf(path, randomUUID());
  renameSync(left, doomed);
  rmSync(doomed, { recursive: true, force: true });
}

/** What was put aside, and what was only being prepared. */
function leftBeside(path: string): string[] {
  const start = `${basename(path)}.`;
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(start));
  return names.map((name) => join(dirname(path), name));
}

function notesIn(left: string): string[] {
  try {
    const names = readdirSync(left).filter((name) => name.startsWith(NOTE));
    return names.map((name) => join(left, name));
  } catch {
    return [];
  }
}

function readNote(file: string): string[] {
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(path, HOLDER), "utf8"));
    if (!isObject(value) || typeof value.id !== "string" || !/^[\w-]+$/.test(value.id)) return undefined;
    return { id: value.id, pid: Number(value.pid), start: String(value.start), where: String(value.where) };
  } catch {
    return undefined;
  }
}

function isDead({ pid, start, where }: Holder): boolean {
  if (where !== here()) return false;
  const now = lookAtProcess(pid);
  // Its number may be another's by now.
  if (now) return now.start !== start;
  try {
    process.kill(pid, 0);
    // A zombie, where processes can be looked at.
    return lookAtProcess(process.pid) !== undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** The system, as far as the number of a process means the same one. */
function here(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function beat(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // Taken over, as it seems.
  }
}

function beatOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
