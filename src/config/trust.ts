import { realpathSync } from "node:fs";
import { isObject } from "../is-object.ts";
import { readJsonFile } from "./json-file.ts";
import { trustPath, type UserEnvironment } from "./paths.ts";
import type { ConfigProblem } from "./record.ts";

export type Decision = "allow" | "deny";

/** Decisions by file and by hash. A file may have several contents allowed: people change between branches. */
export type TrustStore = ReadonlyMap<string, ReadonlyMap<string, Decision>>;

export interface TrustFile {
  /** Empty when the file cannot be used: then nothing is trusted. */
  readonly store: TrustStore;
  readonly problem?: ConfigProblem;
}

/** Of the record. */
export const TRUST_VERSION = 1;

/** Reads what was decided. Never throws; one thing that is not as it was written makes all of it worth nothing. */
export function readTrust(user: UserEnvironment): TrustFile {
  const file = trustPath(user);
  const problems: ConfigProblem[] = [];
  const document = readJsonFile(file, problems);
  if (problems[0] !== undefined) return unusable(problems[0]);
  if (document === undefined) return { store: new Map() };
  const store = storeOf(document.text);
  return store ? { store } : unusable({ file, line: 1, column: 1, severity: "error", message: "It has another form." });
}

/** The path without symbolic links, as far as it exists. */
export function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function unusable({ message, ...position }: ConfigProblem): TrustFile {
  const what = "The record of allowed project files cannot be used, so no project file is trusted. Mend or delete it.";
  return { store: new Map(), problem: { ...position, message: `${what} (${message})` } };
}

/** `undefined` for anything but what `trust-decisions` writes. */
function storeOf(text: string): TrustStore | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== TRUST_VERSION || !isObject(value.files)) return undefined;
  const store = new Map<string, ReadonlyMap<string, Decision>>();
  for (const [file, contents] of Object.entries(value.files)) {
    if (!isObject(contents)) return undefined;
    const decisions = Object.entries(contents);
    if (!decisions.every(isDecision)) return undefined;
    store.set(file, new Map(decisions));
  }
  return store;
}

function isDecision(entry: [string, unknown]): entry is [string, Decision] {
  return /^[0-9a-f]{64}$/.test(entry[0]) && (entry[1] === "allow" || entry[1] === "deny");
}
