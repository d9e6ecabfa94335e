import type { ServerConfig } from "../config/record.ts";
import { excludedBy, fieldPlace, isIncluded } from "../config/tool-filter.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError } from "../error.ts";
import type { CallToolResult, ToolDefinition } from "../protocol/types.ts";

/** How many tool names an error lists. */
const NAMES_SHOWN = 40;
const NAME_CHARS = 100;
/** An answer that says there is no such tool says it at once. */
const REFUSAL_CHARS = 1_000;

const UNKNOWN_TOOL = [
  /\b(?:unknown|unrecogni[sz]ed|invalid|no|no such|not a (?:valid|known)) tool\b/i,
  /\btool\b.*(?:\bnot|n't) (?:be )?(?:found|exist|known|available|registered|recogni[sz]ed|supported)\b/is,
  /\bmethod not found\b/i,
];

/** Whether a call failed in one of the ways servers say it; a list of tools is asked for before anything follows from it. */
export function soundsUnknown(error: unknown): boolean {
  const isRefusal = error instanceof McpServerError && ["unknown-tool", "validation", "other"].includes(error.category);
  return isRefusal && saysUnknown(error.message);
}

/** The same of a result: servers say it as one, too. */
export function soundsUnknownIn({ isError, content }: CallToolResult): boolean {
  return isError && saysUnknown(content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"));
}

function saysUnknown(text: string): boolean {
  return UNKNOWN_TOOL.some((pattern) => pattern.test(text.slice(0, REFUSAL_CHARS)));
}

/** A tool that the configuration leaves out is none, which needs no asking. */
export function assertIncluded(config: ServerConfig, tool: string): void {
  if (isIncluded(config, tool)) return;
  const text = `its tool \`${nameOf(tool)}\` is left out by the configuration, ${fieldPlace(config, excludedBy(config, tool))}`;
  throw new McpServerError(config.name, "unknown-tool", `MCP server \`${config.name}\`: ${text}`);
}

/** That none of the tools there are has this name. */
export function notListed({ name }: ServerConfig, tool: string, tools: readonly ToolDefinition[]): McpServerError {
  const names = tools.slice(0, NAMES_SHOWN).map((each) => nameOf(each.name));
  const more = tools.length > NAMES_SHOWN ? ", …" : "";
  return unknown(name, tool, `available: ${names.join(", ")}${more}`);
}

/** That a server which was asked for one tool has it not. */
export function notFound({ name }: ServerConfig, tool: string): McpServerError {
  return unknown(name, tool, "the server was asked for it by name; list its tools to see all");
}

function unknown(server: string, tool: string, more: string): McpServerError {
  const message = `MCP server \`${server}\` has no tool \`${nameOf(tool)}\` (${more})`;
  return new McpServerError(server, "unknown-tool", message);
}

function nameOf(tool: string): string {
  return sanitizeLine(tool, NAME_CHARS);
}
