import { isObject } from "../is-object.ts";
import { readJsonFile } from "./json-file.ts";
import { permissionPath, type UserEnvironment } from "./paths.ts";
import type { ConfigProblem, KeptPermission, UseKind } from "./record.ts";

/** Of the record. */
export const KEPT_VERSION = 1;
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

/** `undefined` for anything but what `keep-permission` writes. */
function keptIn(text: string): readonly KeptPermission[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== KEPT_VERSION || !Array.isArray(value.allowed)) return undefined;
  const items: readonly unknown[] = value.allowed;
  return items.every(isKept) ? items : undefined;
}

function isKept(value: unknown): value is KeptPermission {
  if (!isObject(value)) return false;
  const { server, identity, kind, name } = value;
  const isKnown = KINDS.some((each) => each === kind);
  return typeof server === "string" && typeof identity === "string" && isKnown && typeof name === "string";
}
