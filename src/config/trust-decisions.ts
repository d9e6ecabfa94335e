import { basename, dirname, join } from "node:path";
import { trustPath, type UserEnvironment } from "./paths.ts";
import { formatProblem } from "./problems.ts";
import type { UntrustedFile } from "./record.ts";
import { changeRecord } from "./record-file.ts";
import { type Decision, readTrust, realPathOf, TRUST_VERSION, type TrustStore } from "./trust.ts";

/** What a person has said to one content of one file. */
export interface TrustEntry {
  /** Without symbolic links. */
  readonly file: string;
  /** Of the content, hexadecimal. */
  readonly sha256: string;
  readonly decision: Decision;
}

/**
 * Records that a person has seen this content and what they said. The content is that of `UntrustedFile`, so a file that
 * was replaced meanwhile is not what was allowed. Throws an Error with a sentence when the record cannot be used or
 * written; a record that cannot be used is left as it is.
 */
export function allowProject(
  user: UserEnvironment,
  { realPath, sha256 }: Pick<UntrustedFile, "realPath" | "sha256">,
  decision: Decision = "allow",
): void {
  change(user, (store) => {
    // Set anew, so that the latest stands last.
    const earlier = [...(store.get(realPath) ?? [])].filter(([hash]) => hash !== sha256);
    store.set(realPath, new Map([...earlier, [sha256, decision] as const].slice(-MAX_CONTENTS)));
  });
}

/** Contents of one file that are remembered, the latest ones. */
const MAX_CONTENTS = 50;

/**
 * Forgets what was decided about a file, whatever its content, or about all files. A path may be given as the project
 * has it, also of a file that is gone. Returns the files that were forgotten; throws as `allowProject` does.
 */
export function revoke(user: UserEnvironment, file?: string): string[] {
  const wanted =
    file === undefined ? undefined : new Set([file, realPathOf(file), join(realPathOf(dirname(file)), basename(file))]);
  const forgotten = [...usable(user).keys()].filter((known) => wanted?.has(known) ?? true);
  if (forgotten.length > 0) {
    change(user, (store) => {
      for (const known of forgotten) store.delete(known);
    });
  }
  return forgotten;
}

/** All decisions, in the order of their files. Throws as `allowProject` does. */
export function listTrust(user: UserEnvironment): TrustEntry[] {
  return [...usable(user)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, contents]) => [...contents].map(([sha256, decision]) => ({ file, sha256, decision })));
}

function usable(user: UserEnvironment): TrustStore {
  const { store, problem } = readTrust(user);
  if (problem !== undefined) throw new Error(formatProblem(problem));
  return store;
}

/** Of two who decide at once the second waits: a no that is lost would be worse than a moment's wait. */
function change(user: UserEnvironment, edit: (store: Map<string, ReadonlyMap<string, Decision>>) => void): void {
  // Read before anything is written, too, so that a record that cannot be used stays alone.
  usable(user);
  changeRecord(trustPath(user), "The record of allowed project files", () => {
    const store = new Map(usable(user));
    edit(store);
    const files = Object.fromEntries([...store].map(([path, contents]) => [path, Object.fromEntries(contents)]));
    return { version: TRUST_VERSION, files };
  });
}
