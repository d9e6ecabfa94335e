import { randomUUID } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** A new file may come to hold secrets, so it is its owner's alone. */
const NEW_FILE_MODE = 0o600;

/** More links in a row than any system follows (Linux: 40). */
const MAX_LINKS = 40;

/** Ends the names of the files a replacement is written to first. */
const TEMPORARY = ".pi-mcp.tmp";

/**
 * The file that a path means in the end: through symbolic links, also when the last one points to a file that is not
 * there yet. Throws the system's error for links that form a loop and for folders that cannot be entered.
 */
export function targetOf(file: string): string {
  let path = resolve(file);
  for (let links = 0; links < MAX_LINKS; links++) {
    const folder = realpathIfThere(dirname(path));
    path = join(folder, basename(path));
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isSymbolicLink()) return path;
    path = resolve(folder, readlinkSync(path));
  }
  return realpathSync(file);
}

function realpathIfThere(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return folder;
    throw thrown;
  }
}

/**
 * Gives a file new content in one step: whoever reads it, and whatever ends this process, it is the old file or the new
 * one. Mode and owner stay; a new file gets mode 0600. `isUnchanged` is asked last, right before the step; without its
 * consent nothing happens and the answer is `false`. Throws the system's errors; then nothing is left behind.
 */
export function replaceFile(target: string, content: Uint8Array, isUnchanged: () => boolean): boolean {
  const old = statSync(target, { throwIfNoEntry: false });
  const mode = old === undefined ? NEW_FILE_MODE : old.mode & 0o7777;
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}${TEMPORARY}`);
  try {
    // Never readable by more people than the file itself, not even for a moment.
    const handle = openSync(temporary, "wx", NEW_FILE_MODE);
    try {
      writeFileSync(handle, content);
      if (old !== undefined) keepOwner(handle, old);
      fchmodSync(handle, mode);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    const go = isUnchanged();
    if (go) renameSync(temporary, target);
    else rmSync(temporary, { force: true });
    return go;
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw thrown;
  }
}

/** Only the superuser may give files away; for everybody else the owner is the same already. */
function keepOwner(handle: number, { uid, gid }: Stats): void {
  try {
    fchownSync(handle, uid, gid);
  } catch {
    // A group one is no member of, or a file system without owners: content is worth more.
  }
}

/** Removes what processes that were killed in the middle have left beside a file, once it is older than `ageMs`. */
export function removeLeftovers(target: string, ageMs: number): void {
  const folder = dirname(target);
  const start = `.${basename(target)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !name.endsWith(TEMPORARY)) continue;
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeMs < Date.now() - ageMs) rmSync(join(folder, name), { force: true });
  }
}
