import { isDeepStrictEqual } from "node:util";
import { isObject } from "../is-object.ts";
import { readJsonFile } from "./json-file.ts";
import { permissionPath, type UserEnvironment } from "./paths.ts";
import { formatProblem } from "./problems.ts";
import type { ConfigProblem, KeptPermission, UseKind } from "./record.ts";
import { changeRecord } from "./record-file.ts";

const VERSION = 1;
const KINDS: readonly UseKind[] = ["tool", "resource", "prompt"];

/** Reads what was allowed for good. Never throws; a record that cannot be used is reported and allows nothing. */
export function readKept(user: UserEnvironment, problems: ConfigProblem[]): readonly KeptPermission[] {
  const file = permissionPath(user);
  const found: ConfigProblem[] = [];
  const document = readJsonFile(file, found);
  const kept = document === undefined ? [] : keptIn(document.text);
  if (kept !== undefined && found.length === 0) return kept;
  const what = "The record of what was allowed for good cannot be used, so it is asked about again. Mend or delete it.";
  const { message = "It has another form.", ...place } = found[0] ?? {};
  problems.push({ file, line: 1, column: 1, ...place, severity: "error", message: `${what} (${message})` });
  return [];
}

/** Keeps one more. Throws an Error with a sentence when the record cannot be used or written. */
export function keepPermission(user: UserEnvironment, permission: KeptPermission): void {
  change(user, (kept) => [...kept.filter((each) => !isDeepStrictEqual(each, permission)), permission]);
}

/** Forgets all that was allowed for good, or all of one server. Returns what that was; throws as `keepPermission` does. */
export function forgetPermissions(user: UserEnvironment, server?: string): readonly KeptPermission[] {
  let forgotten: readonly KeptPermission[] = [];
  const isMeant = (each: KeptPermission) => server === undefined || each.server === server;
  if (!usable(user).some(isMeant)) return [];
  change(user, (kept) => {
    forgotten = kept.filter(isMeant);
    return kept.filter((each) => !isMeant(each));
  });
  return forgotten;
}

function change(user: UserEnvironment, edit: (kept: readonly KeptPermission[]) => readonly KeptPermission[]): void {
  // Read before anything is written, too, so that a record that cannot be used stays alone.
  usable(user);
  changeRecord(permissionPath(user), "The record of what was allowed for good", () => ({
    version: VERSION,
    allowed: edit(usable(user)),
  }));
}

function usable(user: UserEnvironment): readonly KeptPermission[] {
  const problems: ConfigProblem[] = [];
  const kept = readKept(user, problems);
  if (problems[0] !== undefined) throw new Error(formatProblem(problems[0]));
  return kept;
}

/** `undefined` for anything but what `change` writes. */
function keptIn(text: string): readonly KeptPermission[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== VERSION || !Array.isArray(value.allowed)) return undefined;
  const items: readonly unknown[] = value.allowed;
  return items.every(isKept) ? items : undefined;
}

function isKept(value: unknown): value is KeptPermission {
  if (!isObject(value)) return false;
  const { server, identity, kind, name } = value;
  const isKnown = KINDS.some((each) => each === kind);
  return typeof server === "string" && typeof identity === "string" && isKnown && typeof name === "string";
}
