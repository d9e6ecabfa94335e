import { readdirSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Every temporary home is one folder with this prefix in the system's temporary folder. */
export const PREFIX = "pi-mcp-ground-";

export interface Places {
  /** Folders that a run has no business in. */
  folders: readonly string[];
  /** A folder that others use too: only entries with such names are looked at. */
  shared: string;
  names: RegExp;
}

/**
 * Where pi, Node and an MCP client would write if they did not obey HOME, TMPDIR and the XDG variables. This checks
 * known places, not the whole disk: other programs write at the same time, so only places can be compared that nobody
 * else touches. A person who uses pi while the tests run writes sessions, which lie deeper than is looked.
 */
const PLACES: Places = {
  folders: [".pi", ".config/mcp", ".config/pi-mcp", ".cache/pi-mcp", ".local/share/pi-mcp", ".local/state/pi-mcp"].map(
    (folder) => join(homedir(), folder),
  ),
  shared: tmpdir(),
  // Files that name a container lie here where the temporary folder of a home is none; that they go, their own tests say.
  names: /^(pi|mcp)(?![a-z])(?!.*\.cid$)/,
};

/** Files at most this far below a folder. */
const DEPTH = 2;

/** Remembers what is there now; the function it gives lists what has appeared or changed since. */
export function watchForStrays(places: Places = PLACES): () => string[] {
  const before = new Set(files(places));
  return () => files(places).filter((file) => !before.has(file));
}

function files({ folders, shared, names }: Places): string[] {
  const named = readdirSync(shared).filter((name) => names.test(name) && !name.startsWith(PREFIX));
  return [...folders, ...named.map((name) => join(shared, name))].flatMap((path) => filesBelow(path, DEPTH));
}

/** With the time of the last change, so that an overwritten file counts as new. */
function filesBelow(path: string, depth: number): string[] {
  try {
    const stat = statSync(path);
    if (!stat.isDirectory()) return [`${path} (changed ${new Date(stat.mtimeMs).toISOString()})`];
    return [path, ...(depth === 0 ? [] : readdirSync(path).flatMap((name) => filesBelow(join(path, name), depth - 1)))];
  } catch {
    return [];
  }
}
