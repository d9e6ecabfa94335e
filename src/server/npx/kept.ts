import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { readBytes } from "../../config/json-file.ts";
import { replaceFile, targetOf } from "../../config/replace-file.ts";
import { isObject } from "../../is-object.ts";

/** What was found for one command line, in the words of the file. */
export interface KeptEntry {
  /** The program's file. */
  readonly resolvedBin: string;
  /** When it was last known to be what the command asks for, milliseconds since 1970; 0: it is outdated. */
  readonly resolvedAt: number;
  readonly packageVersion: string;
  /** Whether it is run with Node. */
  readonly isJs: boolean;
}

/*
 * The file, `<agent>/mcp-npx-cache.json`:
 *
 *   { "version": 1, "entries": { "[\"npx\",\"-y\",\"some-server@latest\"]": { "resolvedBin": …, "resolvedAt": …, … } } }
 *
 * The key is the command line as a JSON array, up to the package or program: a server's own arguments may be secret and
 * change nothing about what is run. pi's adapter has a file of this name with another version and other keys, which is
 * neither read nor touched.
 */
const VERSION = 1;

/** More command lines than anybody has. The oldest go. */
const MAX_ENTRIES = 200;

/** When somebody else has written in between, it is read again; that often in a row is no coincidence. */
const MAX_TRIES = 5;

/** Never throws: a file that cannot be read or understood holds nothing. */
export function readKept(file: string, key: string): KeptEntry | undefined {
  const entry = entriesOf(contentOf(file) ?? Buffer.alloc(0))?.get(key);
  return isEntry(entry) ? entry : undefined;
}

/**
 * Adds or replaces one entry, in one step, and keeps those that another process has written. A file that is damaged is
 * replaced, one of another version left alone. Never throws: what cannot be kept is found again.
 */
export function keep(file: string, key: string, entry: KeptEntry): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const target = targetOf(file);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const old = contentOf(target);
      const entries = entriesOf(old ?? Buffer.alloc(0));
      if (entries === undefined) return;
      entries.set(key, entry);
      const newest = [...entries].filter(([, each]) => isEntry(each)).sort((a, b) => timeOf(b) - timeOf(a));
      const value = { version: VERSION, entries: Object.fromEntries(newest.slice(0, MAX_ENTRIES)) };
      const text = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
      const isUnchanged = () => {
        const now = contentOf(target);
        return old === undefined || now === undefined ? old === now : now.equals(old);
      };
      if (replaceFile(target, text, isUnchanged)) return;
    }
  } catch {
    // No folder, no rights, no room.
  }
}

function timeOf([, entry]: [string, unknown]): number {
  return isEntry(entry) ? entry.resolvedAt : 0;
}

function contentOf(file: string): Buffer | undefined {
  return readBytes(file, []);
}

/** Undefined: it is another version's. */
function entriesOf(content: Buffer): Map<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch {
    return new Map();
  }
  if (!isObject(value)) return new Map();
  if (value.version !== undefined && value.version !== VERSION) return undefined;
  return new Map(isObject(value.entries) ? Object.entries(value.entries) : []);
}

function isEntry(value: unknown): value is KeptEntry {
  return (
    isObject(value) &&
    typeof value.resolvedBin === "string" &&
    typeof value.packageVersion === "string" &&
    typeof value.isJs === "boolean" &&
    typeof value.resolvedAt === "number" &&
    Number.isFinite(value.resolvedAt)
  );
}
