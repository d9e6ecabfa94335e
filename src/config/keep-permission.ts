import { isDeepStrictEqual } from "node:util";
import { KEPT_VERSION, readKept } from "./kept-permissions.ts";
import { permissionPath, type UserEnvironment } from "./paths.ts";
import { formatProblem } from "./problems.ts";
import type { ConfigProblem, KeptPermission } from "./record.ts";
import { changeRecord } from "./record-file.ts";

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
    version: KEPT_VERSION,
    allowed: edit(usable(user)),
  }));
}

function usable(user: UserEnvironment): readonly KeptPermission[] {
  const problems: ConfigProblem[] = [];
  const kept = readKept(user, problems);
  if (problems[0] !== undefined) throw new Error(formatProblem(problems[0]));
  return kept;
}
