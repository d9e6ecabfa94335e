import { listSome } from "../config/list-some.ts";
import type { ServerConfig } from "../config/record.ts";
import { fieldPlace, unmatchedPatterns } from "../config/tool-filter.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import type { ToolDefinition } from "../protocol/types.ts";

/** How many names a notice lists. */
const NAMES_SHOWN = 5;
const NAME_CHARS = 60;

/**
 * What of a server's configuration does not fit the complete list of its tools, of which so many are included: a name that
 * was misspelt includes nothing, and excludes nothing either.
 */
export function filterMisfits(config: ServerConfig, tools: readonly ToolDefinition[], included: number): string[] {
  const names = tools.map(({ name }) => name);
  const misfits = unmatchedPatterns(config, names).map(([field, patterns]) => {
    const shown = patterns.map((pattern) => JSON.stringify(sanitizeLine(pattern, NAME_CHARS)));
    return `it has no tool ${listSome(shown, NAMES_SHOWN)}, which ${fieldPlace(config, field)} names`;
  });
  if (tools.length > 0 && included === 0) misfits.push(`the configuration leaves out all of its ${tools.length} tools`);
  return misfits;
}
