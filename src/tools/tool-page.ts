import { toolSignature } from "../catalog/signature.ts";
import { visibleJson } from "../content/json.ts";
import { sanitizeLine, sanitizeProse } from "../content/sanitize.ts";
import { isObject } from "../is-object.ts";
import type { JsonObject, ToolDefinition } from "../protocol/types.ts";

/** What a page of tools may take of a model's context [S3-48], in characters: about 10,000 tokens. */
const PAGE_CHARS = 35_000;
const NAME_CHARS = 200;

/**
 * The tools of a server with all their parameters. When that is more than a model should read at once, each is one line, and
 * the page says how to get one in full.
 */
export function toolPage(server: string, tools: readonly ToolDefinition[]): string {
  const head = `## ${sanitizeLine(server, NAME_CHARS)} (${tools.length} ${tools.length === 1 ? "tool" : "tools"})`;
  const whole = [head, ...tools.map((tool) => describeTool(server, tool))].join("\n\n");
  if (whole.length <= PAGE_CHARS) return whole;
  const lines: string[] = [];
  let room = PAGE_CHARS;
  for (const tool of tools) {
    const line = sanitizeLine(toolSignature(tool), 600);
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  const rest = tools.length - lines.length;
  const more = rest === 0 ? [] : [`[${rest} more tools not shown; they can be loaded and called by name, too]`];
  const how = `[In short, since there are many: mcp_load with \`server\` and \`tool\` shows one in full]`;
  return [head, how, ...lines, ...more].join("\n");
}

/** One tool: its description and each parameter with its type, what it is for, and whether it must be given. */
function describeTool(server: string, tool: ToolDefinition): string {
  const { name, description = "", inputSchema } = tool;
  const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : []);
  const properties = isObject(inputSchema.properties) ? Object.entries(inputSchema.properties) : [];
  const parameters = properties.map(([key, schema]) => describeParameter(key, schema, required.has(key)));
  const { properties: _, required: __, type: ___, ...others } = inputSchema;
  const rest = Object.keys(others).length === 0 ? [] : [`  also: ${visibleJson(others)}`];
  const head = `### ${sanitizeLine(`${server}.${name}`, NAME_CHARS)}`;
  return [head, ...(description === "" ? [] : [sanitizeProse(description)]), ...parameters, ...rest].join("\n");
}

/** `  name: type (required) — what it is for`; what is not a plain type is shown as its schema. */
function describeParameter(name: string, schema: unknown, isRequired: boolean): string {
  const { description, ...rest } = isObject(schema) ? (schema as JsonObject) : {};
  const { type, ...more } = rest;
  const kind = Object.keys(more).length === 0 && typeof type === "string" ? type : visibleJson(rest);
  const note = typeof description === "string" && description.trim() !== "" ? ` — ${description}` : "";
  return sanitizeProse(`  ${name}: ${kind} (${isRequired ? "required" : "optional"})${note}`.replace(/\s*\n\s*/g, " "));
}
