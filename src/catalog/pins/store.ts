import { createHash, randomUUID } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../is-object.ts";
import { type Lock, lockAt } from "../../lock.ts";
import type { Pin } from "./definition.ts";

/** What a person has accepted of a server. */
export interface AcceptedPins {
  readonly tools: ReadonlyMap<string, Pin>;
  /** Digests of the changes somebody was told of, the latest ones, so that nobody hears of them twice. */
  readonly told: readonly string[];
}

/** The record of one server, on disk. */
export interface PinStore {
  readonly file: string;
  /** Undefined when nothing was accepted yet. Throws an Error with a sentence for a record that cannot be used. */
  read(): AcceptedPins | undefined;
  /** Changes it in one step that no other process' change falls into. Done when it returns, unless others hold the lock. */
  update(change: (now: AcceptedPins | undefined) => AcceptedPins): Promise<void>;
}

const VERSION = 1;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** More servers than anybody has in more projects than anybody works in; beyond, those that were used longest ago go. */
const MAX_FILES = 2_000;
const NAME_DIGITS = 40;
const FILE = new RegExp(`^[0-9a-f]{${NAME_DIGITS}}\\.json$`);
const DAY_MS = 24 * 3_600_000;
const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

/**
 * The record of a server that is configured under a name in a file: two projects may have two servers of one name, and an
 * entry whose command was changed by its person is the same server still.
 */
export function openPins(folder: string, server: string, configuredIn: string): PinStore {
  const key = createHash("sha256")
    .update(JSON.stringify([server, configuredIn]))
    .digest("hex")
    .slice(0, NAME_DIGITS);
  const file = join(folder, `${key}.json`);
  let cached: { readonly stamp: string; readonly pins: AcceptedPins | undefined } | undefined;

  function read(): AcceptedPins | undefined {
    const stat = lstatSync(file, { throwIfNoEntry: false, bigint: true });
    if (stat === undefined) return undefined;
    const stamp = `${stat.mtimeNs}:${stat.size}:${stat.ino}`;
    if (cached?.stamp === stamp) return cached.pins;
    const pins = stat.isFile() && stat.size <= MAX_FILE_BYTES ? decode(readFileSync(file, "utf8")) : undefined;
    if (pins === undefined) {
      throw new Error(
        `the record of accepted tools, ${file}, cannot be used; mend it, or delete it to accept them anew`,
      );
    }
    touch(file, Number(stat.mtimeMs));
    cached = { stamp, pins };
    return pins;
  }

  function write(pins: AcceptedPins): void {
    const temporary = join(folder, `.${key}.${randomUUID()}.tmp`);
    try {
      writeFileSync(temporary, encode(server, configuredIn, pins), { mode: 0o600, flag: "wx" });
      renameSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    prune(folder);
  }

  return {
    file,
    read,
    async update(change) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const attempt = lockAt(join(folder, `${key}.lock`));
      let lock: Lock | undefined;
      for (const deadline = performance.now() + PATIENCE_MS; ; ) {
        lock = attempt();
        if (lock !== undefined) break;
        if (performance.now() > deadline)
          throw new Error(`the record of accepted tools, ${file}, is held by another process`);
        await sleep(PAUSE_MS);
      }
      try {
        const now = read();
        const next = change(now);
        if (next !== now) write(next);
      } finally {
        lock.release();
      }
    },
  };
}

function encode(server: string, configuredIn: string, { tools, told }: AcceptedPins): string {
  const text = (pins: ReadonlyMap<string, Pin>) =>
    `${JSON.stringify({ version: VERSION, server, configuredIn, told, tools: Object.fromEntries(pins) })}\n`;
  const whole = text(tools);
  if (Buffer.byteLength(whole) <= MAX_FILE_BYTES) return whole;
  return text(new Map([...tools].map(([name, { hash }]) => [name, { hash }])));
}

/** Undefined for anything but what `encode` writes. */
function decode(text: string): AcceptedPins | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== VERSION || !isObject(value.tools)) return undefined;
  const tools = Object.entries(value.tools);
  if (!tools.every(isPin)) return undefined;
  const told = Array.isArray(value.told) ? value.told.filter((each) => typeof each === "string") : [];
  return { tools: new Map(tools), told };
}

function isPin(entry: [string, unknown]): entry is [string, Pin] {
  const pin = entry[1];
  return isObject(pin) && typeof pin.hash === "string" && (pin.definition === undefined || isObject(pin.definition));
}

/** Whether a record was used lately is known to a day. */
function touch(file: string, mtimeMs: number): void {
  const now = Date.now();
  if (Math.abs(now - mtimeMs) < DAY_MS) return;
  try {
    utimesSync(file, now / 1_000, now / 1_000);
  } catch {
    // It can only be read.
  }
}

function prune(folder: string): void {
  const names = readdirSync(folder).filter((name) => FILE.test(name));
  if (names.length <= MAX_FILES) return;
  const files = names.map((name) => join(folder, name));
  const usedAt = new Map(files.map((file) => [file, lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  const oldest = files.sort((a, b) => (usedAt.get(a) ?? 0) - (usedAt.get(b) ?? 0)).slice(0, files.length - MAX_FILES);
  for (const file of oldest) rmSync(file, { force: true });
}
