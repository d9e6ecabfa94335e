import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentDir, configPaths, type UserEnvironment } from "../../config/paths.ts";
import { isObject } from "../../is-object.ts";
import type { PiApi, PiContext } from "./api.ts";

/** Its being there says that the person has been told. */
const TOLD = "mcp-builtin-told";

/** The entry of the settings that keeps pi's own client from being loaded at all. */
const OFF = "-builtin:mcp";

/**
 * pi 1.x warns at each start, on its screen twice, that its own client was not loaded; only a person's settings can stop that.
 * So it is said once how; `undefined` when that was said before, or there is nothing to say. Remembers that it was said.
 */
export function builtinNotice(
  pi: PiApi,
  { mode }: Pick<PiContext, "mode">,
  user: UserEnvironment,
  argv: readonly string[],
): string | undefined {
  if (mode !== "tui" || argv.includes("--no-mcp") || isOff(pi)) return undefined;
  const told = join(agentDir(user), TOLD);
  try {
    if (existsSync(told)) return undefined;
    writeFileSync(told, "", { mode: 0o600 });
  } catch {
    // It would be said at every start.
    return undefined;
  }
  const { settings } = configPaths(user);
  return `pi-mcp takes the place of pi's own MCP client, as pi says at each start, and reads the same mcp.json. To stop that message, add "${OFF}" to "extensions" in ${settings}: "extensions": ["${OFF}"]. This is said once.`;
}

/** Also on hosts that have no such client. */
function isOff(pi: PiApi): boolean {
  if (!("getSettings" in pi) || typeof pi.getSettings !== "function") return true;
  const settings: unknown = pi.getSettings();
  return isObject(settings) && Array.isArray(settings.extensions) && settings.extensions.includes(OFF);
}
