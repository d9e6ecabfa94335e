import { type FSWatcher, lstatSync, readlinkSync, statSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { FileMemory } from "./file-memory.ts";

/** An editor's save is several events, and so is an edit of ours: what they make is looked at when it is quiet again. */
const QUIET_MS = 200;
/** Somewhere there is a program that never lets a file be: then it is looked at now and then. */
const PATIENCE_MS = 2_000;
/** From one change that was told to the next, so that no file makes servers start several times a second [E029]. */
const REST_MS = 1_000;

/** As many symbolic links in a row as Linux follows. */
const MAX_LINKS = 40;
/** Folders may appear while others are being opened, but not for ever. */
const MAX_ROUNDS = 20;

export interface ConfigWatch {
  /** Ends it; nothing is told afterwards. */
  close(): void;
}

export interface WatchOptions {
  /**
   * Told of changed content, one call at a time. It reads the configuration again with the same memory; one that did
   * not would be told again. When it throws, there is nobody left to tell and the watch ends.
   */
  readonly changed: () => void | Promise<void>;
  /**
   * Told of the first folder that the system does not let be watched (`code`: ENOSPC, EMFILE, …): what changes there is
   * not told. The others are watched.
   */
  readonly failed: (folder: string, code: string) => void;
  /** In place of Node's, for tests. */
  readonly watch?: typeof watch;
  /** From one change that was told to the next, milliseconds; 1,000 when absent. */
  readonly restMs?: number;
}

/**
 * Watches the files that a configuration was read from, those of them that are not there yet too, and tells when one
 * holds other bytes. What is watched are folders, as a file that is replaced is another file: the folder of each file, of
 * each symbolic link on the way to it, or, while that is missing, the nearest one above it that is there. Nothing of it
 * keeps the process alive, and nothing is done between events.
 */
export function watchConfig(memory: FileMemory, options: WatchOptions): ConfigWatch {
  const watching = new Watching(memory, options);
  // A change since the reading has been missed.
  watching.look();
  return watching;
}

interface Folder {
  readonly watcher: FSWatcher;
  /** Device and number: another folder may have taken the place of the one that is watched. */
  readonly identity: string;
  /** What is of interest in it. */
  names: ReadonlySet<string>;
  /** It was moved or deleted, or the system has given up on it. */
  isOver: boolean;
}

class Watching implements ConfigWatch {
  readonly #memory: FileMemory;
  readonly #options: WatchOptions;
  readonly #folders = new Map<string, Folder>();
  #timer: NodeJS.Timeout | undefined;
  /** When the first event came that has not been looked at. */
  #first: number | undefined;
  /** Before then nothing is told. */
  #restUntil = 0;
  #isTelling = false;
  #hasFailed = false;
  #isClosed = false;

  constructor(memory: FileMemory, options: WatchOptions) {
    this.#memory = memory;
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  /** Watches what is there now, and tells if anything has changed. */
  look(): void {
    this.#timer = undefined;
    this.#first = undefined;
    // In this order: what changes after the look shows as an event.
    this.#arm();
    if (!this.#isTelling && this.#memory.isStale()) void this.#tell();
  }

  async #tell(): Promise<void> {
    this.#isTelling = true;
    try {
      await this.#options.changed();
    } catch {
      this.close();
    }
    this.#isTelling = false;
    this.#restUntil = performance.now() + (this.#options.restMs ?? REST_MS);
    // Other files may count now, and these may have changed again.
    this.#touch();
  }

  #touch(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#first ??= now;
    const wait = Math.max(Math.min(QUIET_MS, this.#first + PATIENCE_MS - now), this.#restUntil - now, 0);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), wait).unref();
  }

  #arm(): void {
    for (let round = 0; round < MAX_ROUNDS && !this.#isClosed; round++) {
      const wanted = foldersOf(this.#memory.files);
      for (const [path, folder] of this.#folders) {
        if (wanted.has(path) && !folder.isOver && folder.identity === identityOf(path)) continue;
        folder.watcher.close();
        this.#folders.delete(path);
      }
      let isNew = false;
      for (const [path, names] of wanted) {
        const folder = this.#folders.get(path);
        if (folder !== undefined) folder.names = names;
        else isNew = this.#open(path, names) || isNew;
      }
      // What has appeared in a folder before it was watched is seen only now.
      if (!isNew) return;
    }
  }

  #open(path: string, names: ReadonlySet<string>): boolean {
    const self = basename(path);
    try {
      const watcher = (this.#options.watch ?? watch)(path, { persistent: false }, (kind, name) => {
        // A folder that is moved or deleted says so under its own name.
        if (kind === "rename" && name === self) folder.isOver = true;
        else if (name !== null && !folder.names.has(name)) return;
        this.#touch();
      });
      const folder: Folder = { watcher, identity: identityOf(path), names, isOver: false };
      watcher.on("error", (error) => {
        folder.isOver = true;
        watcher.close();
        this.#fail(path, error);
      });
      this.#folders.set(path, folder);
      return true;
    } catch (thrown) {
      this.#fail(path, thrown);
      return false;
    }
  }

  #fail(path: string, thrown: unknown): void {
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
    // Gone in the same moment, or, on Windows, while it was watched.
    if (code === "ENOENT" || (code === "EPERM" && identityOf(path) === "")) {
      this.#touch();
      return;
    }
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.failed(path, code);
  }
}

/** The folders to watch for these files, and the names in each that matter. */
function foldersOf(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    let path = resolve(file);
    for (let links = 0; links < MAX_LINKS; links++) {
      addPlace(folders, path);
      const next = linkOf(path);
      if (next === undefined) break;
      path = resolve(dirname(path), next);
    }
  }
  return folders;
}

/**
 * The folder of a path, or the nearest that is there, in which the next one on the way will appear; and the folder of each
 * symbolic link on the way, which may come to lead elsewhere.
 */
function addPlace(folders: Map<string, Set<string>>, path: string): void {
  const add = (at: string) => folders.set(dirname(at), (folders.get(dirname(at)) ?? new Set()).add(basename(at)));
  let at = path;
  while (identityOf(dirname(at)) === "") {
    const above = dirname(at);
    if (above === at) return;
    at = above;
  }
  add(at);
  for (let above = dirname(at); above !== dirname(above); above = dirname(above)) {
    if (linkOf(above) !== undefined) add(above);
  }
}

function linkOf(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Empty for what is no folder, or cannot be looked at. */
function identityOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : "";
  } catch {
    return "";
  }
}
