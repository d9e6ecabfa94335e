import { createHmac, randomBytes, randomUUID } from "node:crypto";
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  decodeCatalogue,
  decodeHead,
  encodeCatalogue,
  type KeptCatalogue,
  type KeptHead,
  MAX_FILE_BYTES,
} from "./record.ts";

/** Where catalogues are kept, by what `catalogueIdentity` gives. Nothing here throws: what cannot be kept is listed again. */
export interface CatalogueFolder {
  /** Undefined where there is none that can be used. Writes nothing but the date of the file. */
  read(identity: string): KeptCatalogue | undefined;
  /** What stands at the beginning of the file: enough for the start of an agent, at a small part of the cost. */
  readHead(identity: string): KeptHead | undefined;
  keep(identity: string, catalogue: KeptCatalogue): void;
}

export interface FolderLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** Since it was last used, milliseconds. */
  readonly maxAgeMs: number;
}

const DAY_MS = 24 * 3_600_000;

/** More servers than anybody has, in more folders than anybody works in. */
const LIMITS: FolderLimits = { maxFiles: 400, maxBytes: 64 * 1024 * 1024, maxAgeMs: 60 * DAY_MS };

/** Nobody takes that long to write one. */
const LEFTOVER_AGE_MS = DAY_MS;

/** Whether a file was used lately is known to a day. */
const TOUCH_MS = DAY_MS;

/** Of a file of which only the beginning is wanted. */
const PIECE_BYTES = 16 * 1024;

const KEY_FILE = "key";
const KEY_BYTES = 32;
const NAME_DIGITS = 40;
const FILE = new RegExp(`^[0-9a-f]{${NAME_DIGITS}}\\.json$`);
const TEMPORARY = /^\.[0-9a-f-]{36}\.tmp$/;

/**
 * A folder with a file for each configuration. A file is named by a hash that takes a key, which lies beside it and was
 * drawn by chance: configurations hold passwords, and from a plain hash of one that is short it could be
 * guessed by whoever sees the name in a log or a listing. So everything that is configured can be part of the name.
 */
export function catalogueFolder(folder: string, limits: FolderLimits = LIMITS): CatalogueFolder {
  let key: Buffer | undefined;
  let isPruned = false;

  function fileOf(identity: string): string | undefined {
    key ??= readKey(folder);
    if (key === undefined) return undefined;
    return join(folder, `${createHmac("sha256", key).update(identity).digest("hex").slice(0, NAME_DIGITS)}.json`);
  }

  return {
    read(identity) {
      try {
        const file = fileOf(identity);
        const text = file && contentOf(file, MAX_FILE_BYTES)?.toString("utf8");
        const catalogue = text === undefined || text === "" ? undefined : decodeCatalogue(text);
        if (file && catalogue) touch(file);
        return catalogue;
      } catch {
        return undefined;
      }
    },
    readHead(identity) {
      try {
        const file = fileOf(identity);
        const head = file && decodeHead(firstLine(file));
        if (file && head) touch(file);
        return head || undefined;
      } catch {
        return undefined;
      }
    },
    keep(identity, catalogue) {
      try {
        const text = encodeCatalogue(catalogue);
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        key ??= readKey(folder) ?? makeKey(folder);
        const file = fileOf(identity);
        if (file === undefined) return;
        const temporary = write(folder, text);
        try {
          renameSync(temporary, file);
        } catch (error) {
          rmSync(temporary, { force: true });
          throw error;
        }
        if (!isPruned) prune(folder, limits);
        isPruned = true;
      } catch {
        // No folder, no rights, no room.
      }
    },
  };
}

/** A pipe would be read for ever and a link may lead anywhere: plain files alone. */
function contentOf(file: string, maxBytes: number): Buffer | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() && stat.size <= maxBytes ? readFileSync(file) : undefined;
}

/** At least the first line of a plain file; most of them are in the first piece. */
function firstLine(file: string): string {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return "";
  const piece = Buffer.alloc(PIECE_BYTES);
  const handle = openSync(file, "r");
  try {
    const text = piece.toString("utf8", 0, readSync(handle, piece));
    return text.includes("\n") ? text : (contentOf(file, MAX_FILE_BYTES)?.toString("utf8") ?? "");
  } finally {
    closeSync(handle);
  }
}

function touch(file: string): void {
  try {
    const now = Date.now();
    if (Math.abs(now - lstatSync(file).mtimeMs) > TOUCH_MS) utimesSync(file, now / 1_000, now / 1_000);
  } catch {
    // A folder that can only be read is never pruned either.
  }
}

/** For its owner alone. */
function write(folder: string, content: string | Buffer): string {
  const file = join(folder, `.${randomUUID()}.tmp`);
  const handle = openSync(file, "wx", 0o600);
  try {
    writeFileSync(handle, content);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  return file;
}

function readKey(folder: string): Buffer | undefined {
  try {
    const key = contentOf(join(folder, KEY_FILE), KEY_BYTES);
    return key?.length === KEY_BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Of two that make one at once, both get that of the first; a damaged one is replaced, and the files it named grow old. */
function makeKey(folder: string): Buffer | undefined {
  const file = join(folder, KEY_FILE);
  const temporary = write(folder, randomBytes(KEY_BYTES));
  try {
    linkSync(temporary, file);
  } catch {
    // Taken, perhaps by what is none; or a disk without links.
    if (readKey(folder) === undefined) renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  return readKey(folder);
}

/** Removes what is too old and, of the rest, what is too much: the files that were used longest ago. */
function prune(folder: string, { maxFiles, maxBytes, maxAgeMs }: FolderLimits): void {
  const now = Date.now();
  const files: { file: string; size: number; usedAt: number }[] = [];
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile()) continue;
    if (TEMPORARY.test(name) && now - stat.mtimeMs > LEFTOVER_AGE_MS) rmSync(file, { force: true });
    if (FILE.test(name)) files.push({ file, size: stat.size, usedAt: stat.mtimeMs });
  }
  files.sort((a, b) => b.usedAt - a.usedAt);
  let bytes = 0;
  for (const [at, { file, size, usedAt }] of files.entries()) {
    bytes += size;
    if (at >= maxFiles || bytes > maxBytes || now - usedAt > maxAgeMs) rmSync(file, { force: true });
  }
}
