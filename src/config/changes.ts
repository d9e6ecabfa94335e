import { isDeepStrictEqual } from "node:util";
import { listSome } from "./list-some.ts";
import { visible } from "./problems.ts";
import type { ServerConfig } from "./record.ts";

/** What another reading of a configuration has made of its servers, by name. */
export interface ConfigChanges {
  readonly added: readonly string[];
  /** Still there, but no longer the same. */
  readonly replaced: readonly string[];
  readonly removed: readonly string[];
}

export function changesBetween(before: readonly ServerConfig[], after: readonly ServerConfig[]): ConfigChanges {
  const former = new Map(before.map((server) => [server.name, server]));
  const names = new Set(after.map(({ name }) => name));
  return {
    added: after.filter(({ name }) => !former.has(name)).map(({ name }) => name),
    replaced: after
      .filter((server) => {
        const earlier = former.get(server.name);
        return earlier !== undefined && !isSameServer(earlier, server);
      })
      .map(({ name }) => name),
    removed: before.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  };
}

/** Whether two entries mean the same server: all but where they stand counts. */
export function isSameServer(a: ServerConfig, b: ServerConfig): boolean {
  return isDeepStrictEqual(withoutPlace(a), withoutPlace(b));
}

/** Where the entry and its fields stand. */
const PLACES: ReadonlySet<string> = new Set(["source", "fields"]);

function withoutPlace(server: ServerConfig): unknown {
  return Object.fromEntries(Object.entries(server).filter(([field]) => !PLACES.has(field)));
}

/** The changes in one line for a person; undefined when there are none. */
export function describeChanges(changes: ConfigChanges): string | undefined {
  const parts = (["added", "replaced", "removed"] as const)
    .filter((kind) => changes[kind].length > 0)
    .map((kind) => `${kind} ${list(changes[kind])}`);
  return parts.length === 0 ? undefined : `MCP configuration changed: ${parts.join("; ")}.`;
}

const SHOWN_NAMES = 10;
const NAME_CHARS = 40;

function list(names: readonly string[]): string {
  const shown = names.map((name) => {
    const text = visible(name);
    return text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS)}…` : text;
  });
  return listSome(shown, SHOWN_NAMES);
}
