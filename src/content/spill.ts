import { lstat, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { formatBytes } from "./bytes.ts";
import { fileName } from "./file-name.ts";

/** Something a result holds that does not go to the model itself. */
export interface SpillFile {
  /** An address a server gave, or the name of the tool: the file's name is made of its last part. */
  readonly source: string;
  readonly mimeType: string | undefined;
  readonly content: string | Uint8Array;
}

/** Where a file lies, or why there is none: the end of a sentence. */
export type Spilled = { readonly path: string } | { readonly reason: string };

/** Where results go that are too long or too binary for a model, so that it can read them from there. */
export interface SpillStore {
  /** Never rejects. */
  save(file: SpillFile): Promise<Spilled>;
  /** Removes the files there are and goes on with none. Never rejects. */
  clear(): Promise<void>;
  /** Removes all files, unless they are to stay; afterwards nothing is kept. Never rejects. */
  end(files: "remove" | "keep"): Promise<void>;
}

export interface SpillOptions {
  /** The folder for temporary files. */
  readonly parent: string;
  /** Bounds of one session: a server in a loop must not fill the disk. */
  readonly maxBytes?: number;
  readonly maxFiles?: number;
}

const MAX_BYTES = 100 * 1024 * 1024;
const MAX_FILES = 1_000;

/** Begins the folders' names, which is how old ones are found. */
const PREFIX = "pi-mcp-results-";

/** A week. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The files of one session: in a folder of its own, made with the first of them, which nobody else can read. Those of a
 * session that was killed, or that were to stay, are removed by a later session when they are a week old, where the system has
 * not done so.
 */
export function createSpillStore({ parent, maxBytes = MAX_BYTES, maxFiles = MAX_FILES }: SpillOptions): SpillStore {
  let folder: Promise<string> | undefined;
  let serial = 0;
  let files = 0;
  let bytes = 0;
  let hasEnded = false;
  /** Every folder that was made: a cleaner may have taken one. */
  const folders: string[] = [];

  const openFolder = (): Promise<string> => {
    folder ??= makeFolder(parent).then(
      (made) => {
        folders.push(made);
        return made;
      },
      (error: unknown) => {
        folder = undefined;
        throw error;
      },
    );
    return folder;
  };

  const write = async (name: string, content: string | Uint8Array, mayRepeat: boolean): Promise<string> => {
    const opened = openFolder();
    const path = join(await opened, name);
    try {
      await writeFile(path, content, { mode: 0o600, flag: "wx" });
      return path;
    } catch (error) {
      await rm(path, { force: true }).catch(() => {});
      // A cleaner of temporary files has taken the folder.
      if (!mayRepeat || codeOf(error) !== "ENOENT") throw error;
      if (folder === opened) folder = undefined;
      return write(name, content, false);
    }
  };

  const pending = new Set<Promise<Spilled>>();
  const save = (file: SpillFile): Promise<Spilled> => {
    const saved = keep(file).finally(() => pending.delete(saved));
    pending.add(saved);
    return saved;
  };

  const keep = async ({ source, mimeType, content }: SpillFile): Promise<Spilled> => {
    if (hasEnded) return { reason: "the session has ended" };
    const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
    if (files >= maxFiles) return { reason: `this session has kept ${maxFiles} files, its limit` };
    if (bytes + size > maxBytes) return { reason: `this session's files would exceed ${formatBytes(maxBytes)}` };
    files += 1;
    bytes += size;
    try {
      return { path: await write(fileName(++serial, source, mimeType), content, true) };
    } catch (error) {
      files -= 1;
      bytes -= size;
      return { reason: `the file could not be written (${codeOf(error)})` };
    }
  };

  const clear = async (): Promise<void> => {
    await Promise.all(pending);
    folder = undefined;
    files = 0;
    bytes = 0;
    await Promise.allSettled(folders.splice(0).map((made) => rm(made, { recursive: true, force: true })));
  };

  const end = async (what: "remove" | "keep"): Promise<void> => {
    hasEnded = true;
    await Promise.all(pending);
    if (what === "remove") await clear();
  };

  return { save, clear, end };
}

/** The random name and the mode (0700) that come with `mkdtemp` keep others out, also where all may write. */
async function makeFolder(parent: string): Promise<string> {
  const root = resolve(parent);
  const folder = await mkdtemp(join(root, PREFIX));
  const names = await readdir(root).catch(() => []);
  await Promise.allSettled(names.filter((name) => name.startsWith(PREFIX)).map((name) => removeOld(join(root, name))));
  return folder;
}

async function removeOld(folder: string): Promise<void> {
  const { uid, mtimeMs } = await lstat(folder);
  const isMine = process.getuid === undefined || uid === process.getuid();
  if (isMine && Date.now() - mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}
