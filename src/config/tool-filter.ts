import type { EntryReader } from "./entry-reader.ts";
import { exposureOf } from "./exposure.ts";
import { matchesAny, matchesName } from "./name-pattern.ts";
import type { Exposure, ServerConfig, ToolFilter } from "./record.ts";

/** What pi's adapter writes into its variable for no tool at all. */
const NONE = "__none__";

/**
 * Which of a server's tools there are: `includeTools` (only these) and `excludeTools` (none of these). An empty list is
 * taken at its word, but not under Goose's name for the first, which that program writes for "all".
 */
export function readToolFilter(reader: EntryReader): ToolFilter | undefined {
  const exclude = reader.texts("excludeTools");
  const listed = reader.has("includeTools") ? reader.texts("includeTools") : undefined;
  const include = listed?.length === 0 && reader.written("includeTools") === "available_tools" ? undefined : listed;
  if (include?.length === 0 && !reader.failed) {
    const field = reader.written("includeTools");
    reader.warning(
      "includeTools",
      `"${field}" is empty, so this server has no tool; "disabled": true switches it off.`,
    );
  }
  if (include === undefined && exclude.length === 0) return undefined;
  return { ...(include !== undefined && { include }), exclude };
}

type Filtered = Pick<ServerConfig, "tools" | "exposure" | "toolExposure" | "directTools">;

/** Whether the configuration leaves a tool there. */
export function isIncluded(config: Filtered, tool: string): boolean {
  const { tools } = config;
  if (tools?.include !== undefined && !matchesAny(tools.include, tool)) return false;
  return !matchesAny(tools?.exclude ?? [], tool) && exposureOf(config, tool) !== "hidden";
}

/**
 * The servers with the direct tools of `MCP_DIRECT_TOOLS` in place of their own, if it is set: names of servers for all of
 * their tools, and `server/tool`, with commas between them, or `__none__`. That is how a parent agent tells its subagents
 * which tools to offer (pi-mcp-adapter, pi-subagents). What is hidden stays so.
 */
export function withDirectToolsOf(env: NodeJS.ProcessEnv, servers: readonly ServerConfig[]): ServerConfig[] {
  const items = (env.MCP_DIRECT_TOOLS ?? "").split(",").flatMap((item) => item.trim() || []);
  if (items.length === 0) return [...servers];
  const named = items.filter((item) => item !== NONE);
  return servers.map(({ directTools: _, toolExposure, ...server }) => {
    const tools = named.flatMap((item) =>
      item.startsWith(`${server.name}/`) ? item.slice(server.name.length + 1) : [],
    );
    const all = named.includes(server.name) || tools.includes("");
    const some = tools.length > 0 && !all;
    const asked = (exposure: Exposure): Exposure => (exposure === "hidden" ? exposure : all ? "direct" : "gateway");
    const each = Object.entries(toolExposure ?? {}).map(([tool, exposure]) => [tool, asked(exposure)] as const);
    const hides = each.some(([, exposure]) => exposure === "hidden");
    return {
      ...server,
      exposure: asked(server.exposure),
      ...(hides && { toolExposure: Object.fromEntries(each) }),
      ...(some && { directTools: tools }),
    };
  });
}

type NamingField = "includeTools" | "excludeTools" | "directTools" | "toolExposure";

/** The patterns of the configuration that match none of the names of a server's tools: slips, most likely. */
export function unmatchedPatterns(
  { tools, directTools = [], toolExposure = {} }: Pick<ServerConfig, "tools" | "directTools" | "toolExposure">,
  names: readonly string[],
): [field: NamingField, patterns: string[]][] {
  const lists: [NamingField, readonly string[]][] = [
    ["includeTools", tools?.include ?? []],
    ["excludeTools", tools?.exclude ?? []],
    ["directTools", directTools],
    ["toolExposure", Object.keys(toolExposure)],
  ];
  return lists
    .map(([field, patterns]): [NamingField, string[]] => [
      field,
      patterns.filter((pattern) => !names.some((name) => matchesName(pattern, name))),
    ])
    .filter(([, patterns]) => patterns.length > 0);
}

/** The field by which a tool is left out. */
export function excludedBy({ tools, toolExposure }: Filtered, tool: string): NamingField | "exposure" {
  if (matchesAny(tools?.exclude ?? [], tool)) return "excludeTools";
  if (tools?.include !== undefined && !matchesAny(tools.include, tool)) return "includeTools";
  const isNamed = Object.keys(toolExposure ?? {}).some((pattern) => matchesName(pattern, tool));
  return isNamed ? "toolExposure" : "exposure";
}

/** Where a field of a filter stands, for a message. Direct tools that no file names are named by the variable. */
export function fieldPlace({ fields }: Pick<ServerConfig, "fields">, field: string): string {
  const place = fields[field];
  return place === undefined ? "MCP_DIRECT_TOOLS" : `"${field}" in ${place.file}:${place.line}`;
}
