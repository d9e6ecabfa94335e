import { createHash } from "node:crypto";
import { type JsonDocument, parseBytes, parseJson, readBytes } from "./json-file.ts";
import type { ConfigProblem } from "./record.ts";
import { parseToml } from "./toml-file.ts";

export interface SourceFile {
  /** The very bytes that `document` was parsed from. */
  readonly bytes: Uint8Array;
  readonly document: JsonDocument;
}

interface Remembered {
  readonly maxBytes: number | undefined;
  /** What was there when it was read last; see `digest`. */
  readonly seen: string;
  /** The last content that could be read: kept whole, since what it means may depend on the other files. */
  readonly good?: Uint8Array;
}

/**
 * What the files of a configuration held, from one reading to the next. It tells whether another reading would find
 * anything new, and it stands in for a file that is broken for the moment: somebody is writing it, or has made a slip,
 * and neither may end the servers that run.
 */
export class FileMemory {
  #files = new Map<string, Remembered>();
  /** Of the reading before this one. */
  #former: ReadonlyMap<string, Remembered> = new Map();

  /** A new reading begins: files it does not look for are forgotten. */
  begin(): void {
    this.#former = this.#files;
    this.#files = new Map();
  }

  /** Every file that was looked for, also those that were not there. */
  get files(): readonly string[] {
    return [...this.#files.keys()];
  }

  /**
   * Reads and parses a file, whose kind its name says. One that cannot be used gives a problem and what it held before;
   * one that is gone, or has nothing in it, gives nothing.
   */
  read(file: string, problems: ConfigProblem[], maxBytes?: number): SourceFile | undefined {
    const found: ConfigProblem[] = [];
    const bytes = readBytes(file, found, maxBytes);
    const document = bytes && parseBytes(file, bytes, found, parserOf(file));
    const former = this.#former.get(file)?.good;
    const good = found.length === 0 ? bytes : former;
    this.#files.set(file, { maxBytes, seen: digest(bytes, found), ...(good && { good }) });
    if (found.length === 0) return bytes && document && { bytes, document };
    if (former === undefined) {
      problems.push(...found);
      return undefined;
    }
    problems.push(...found.map((problem) => ({ ...problem, message: `${problem.message} ${KEPT}` })));
    const before = parseBytes(file, former, [], parserOf(file));
    return before && { bytes: former, document: before };
  }

  /** Takes note of a file that was read by other means, for `isStale`. */
  note(file: string): void {
    this.#files.set(file, { maxBytes: undefined, seen: now(file, undefined) });
  }

  /** Whether a file holds other bytes than when it was read, has come or has gone. A new date alone is no change. */
  isStale(): boolean {
    return [...this.#files].some(([file, { seen, maxBytes }]) => now(file, maxBytes) !== seen);
  }
}

const KEPT = "What it held before stays in use.";

function parserOf(file: string) {
  return file.endsWith(".toml") ? parseToml : parseJson;
}

function now(file: string, maxBytes: number | undefined): string {
  const problems: ConfigProblem[] = [];
  return digest(readBytes(file, problems, maxBytes), problems);
}

/** The hash of the bytes; what is wrong instead, for a file that cannot be read; nothing for none. */
function digest(bytes: Uint8Array | undefined, problems: readonly ConfigProblem[]): string {
  if (bytes !== undefined) return createHash("sha256").update(bytes).digest("hex");
  return problems[0]?.message ?? "";
}
