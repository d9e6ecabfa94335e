import type { EntryReader } from "./entry-reader.ts";
import { matchesGlob } from "./glob.ts";
import type { ServerConfig, ToolFilter } from "./record.ts";

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

/** Whether the configuration leaves a tool there. */
export function isIncluded({ tools }: Pick<ServerConfig, "tools">, tool: string): boolean {
  if (tools === undefined) return true;
  return (tools.include === undefined || matchesAny(tools.include, tool)) && !matchesAny(tools.exclude, tool);
}

/** Whether the configuration makes a tool one of its own for the model. */
export function isDirect(
  { exposure, directTools }: Pick<ServerConfig, "exposure" | "directTools">,
  tool: string,
): boolean {
  return exposure === "direct" || matchesAny(directTools ?? [], tool);
}

/** Whether any tool of the server may be one of its own for the model. */
export function mayHaveDirect({ exposure, directTools = [] }: Pick<ServerConfig, "exposure" | "directTools">): boolean {
  return exposure === "direct" || directTools.length > 0;
}

/**
 * The servers with the direct tools of `MCP_DIRECT_TOOLS` in place of their own, if it is set: names of servers for all of
 * their tools, and `server/tool`, with commas between them, or `__none__`. That is how a parent agent tells its subagents
 * which tools to offer (pi-mcp-adapter, pi-subagents).
 */
export function withDirectToolsOf(env: NodeJS.ProcessEnv, servers: readonly ServerConfig[]): ServerConfig[] {
  const items = (env.MCP_DIRECT_TOOLS ?? "").split(",").flatMap((item) => item.trim() || []);
  if (items.length === 0) return [...servers];
  const named = items.filter((item) => item !== NONE);
  return servers.map(({ directTools: _, ...server }) => {
    const tools = named.flatMap((item) =>
      item.startsWith(`${server.name}/`) ? item.slice(server.name.length + 1) : [],
    );
    const all = named.includes(server.name) || tools.includes("");
    const some = tools.length > 0 && !all;
    return { ...server, exposure: all ? "direct" : "gateway", ...(some && { directTools: tools }) };
  });
}

type NamingField = "includeTools" | "excludeTools" | "directTools";

/** The patterns of the configuration that match none of the names of a server's tools: slips, most likely. */
export function unmatchedPatterns(
  { tools, directTools = [] }: Pick<ServerConfig, "tools" | "directTools">,
  names: readonly string[],
): [field: NamingField, patterns: string[]][] {
  const lists: [NamingField, readonly string[]][] = [
    ["includeTools", tools?.include ?? []],
    ["excludeTools", tools?.exclude ?? []],
    ["directTools", directTools],
  ];
  return lists
    .map(([field, patterns]): [NamingField, string[]] => [
      field,
      patterns.filter((pattern) => !names.some((name) => matchesGlob(pattern, name))),
    ])
    .filter(([, patterns]) => patterns.length > 0);
}

/** The field by which a tool is left out. */
export function excludedBy({ tools }: Pick<ServerConfig, "tools">, tool: string): NamingField {
  return matchesAny(tools?.exclude ?? [], tool) ? "excludeTools" : "includeTools";
}

function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name));
}

/** Where a field of a filter stands, for a message. Direct tools that no file names are named by the variable. */
export function fieldPlace({ fields }: Pick<ServerConfig, "fields">, field: string): string {
  const place = fields[field];
  return place === undefined ? "MCP_DIRECT_TOOLS" : `"${field}" in ${place.file}:${place.line}`;
}
