import { resolve } from "node:path";
import type { ServerConfig } from "../../config/record.ts";
import { isObject } from "../../is-object.ts";

/**
 * What decides which tools a server has, in an order that is always the same: its target as it is written, with variables
 * not filled in; the folder a process works in; and what of its policy a server notices. Its name, its place in a file and
 * which of its tools are wanted decide nothing. Written values may be secrets: whoever makes a name of this uses a key.
 */
export function catalogueIdentity({ target, policy }: Pick<ServerConfig, "target" | "policy">, cwd: string): string {
  const { protocolVersion, inheritEnv, offersRoots, listLimit } = policy;
  const place = target.kind === "stdio" ? { folder: resolve(cwd, target.cwd ?? ".") } : {};
  const parts = { target, ...place, policy: { protocolVersion, inheritEnv, offersRoots, listLimit } };
  return JSON.stringify(parts, (_, value: unknown) => (isObject(value) ? sorted(value) : value));
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
