import { createHash } from "node:crypto";

/** Model providers refuse a tool name that is longer. */
export const MAX_TOOL_NAME_LENGTH = 64;

/** Hex digits of the hash that keeps a cut or clashing name apart from others. */
const HASH_DIGITS = 8;

/**
 * The name under which a server's tool is offered to a model as a tool of its own: `mcp__<server>__<tool>` with every
 * character outside `[A-Za-z0-9_]` replaced by `_`, as pi does it. The prefix keeps a server from taking the place of a
 * built-in tool (S2-17, S2-18). A name that is too long or already in `taken` is cut to 55 characters and gets `_` and
 * 8 hex digits of sha256(server, NUL, tool), which is the same in every session (S2-19). Should even that be taken,
 * further hashes are tried: the result is never in `taken`.
 */
export function directToolName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_]/g, "_");
  if (plain.length <= MAX_TOOL_NAME_LENGTH && !taken.has(plain)) return plain;
  const head = plain.slice(0, MAX_TOOL_NAME_LENGTH - HASH_DIGITS - 1);
  let name = `${head}_${hash(`${server}\0${tool}`)}`;
  for (let round = 1; taken.has(name); round++) name = `${head}_${hash(`${server}\0${tool}\0${round}`)}`;
  return name;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_DIGITS);
}

/** The names given in one session: a tool that is offered again keeps its name. */
export class ToolNames {
  readonly #byTool = new Map<string, string>();
  readonly #taken = new Set<string>();

  nameOf(server: string, tool: string): string {
    const key = `${server}\0${tool}`;
    const name = this.#byTool.get(key) ?? directToolName(server, tool, this.#taken);
    this.#byTool.set(key, name);
    this.#taken.add(name);
    return name;
  }
}
