import { resolve } from "node:path";
import type { ConfigFlags } from "../../config/flags.ts";
import type { PiApi } from "./api.ts";

const CONFIG = "mcp-config";
const STRICT = "strict-mcp-config";

/**
 * What this pi was started with. pi refuses a flag that nobody registered, and it refuses to start when two extensions
 * register one flag; others have `--mcp-config`, too. So a flag is registered only when it was given. pi keeps the last
 * value of a flag that is given several times, so the values are read here, as pi splits them.
 */
export function takeFlags(pi: Pick<PiApi, "registerFlag">, argv: readonly string[]): ConfigFlags | undefined {
  const sources = valuesOf(argv, CONFIG);
  const isStrict = valuesOf(argv, STRICT).length > 0;
  if (sources.length > 0) pi.registerFlag(CONFIG, { type: "string", description: "MCP servers: a file, or JSON" });
  if (isStrict) pi.registerFlag(STRICT, { type: "boolean", description: "No MCP servers but those of --mcp-config" });
  if (sources.length === 0 && !isStrict) return undefined;
  return { sources: sources.filter((source) => source !== undefined).map(whole), isStrict };
}

/** Of each time a flag is given its value; `undefined` without one, which pi itself complains of. */
function valuesOf(argv: readonly string[], name: string): (string | undefined)[] {
  return argv.flatMap((word, index) => {
    if (word.startsWith(`--${name}=`)) return [word.slice(name.length + 3)];
    if (word !== `--${name}`) return [];
    const next = argv[index + 1];
    return [next === undefined || /^[-@]/.test(next) ? undefined : next];
  });
}

/** A path is relative to where pi was started, also in a session that works elsewhere. */
function whole(source: string): string {
  return /^\s*(?:\{|~)/.test(source) ? source : resolve(source);
}
