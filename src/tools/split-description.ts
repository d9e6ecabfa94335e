import { listSome } from "../config/list-some.ts";
import { visible } from "../config/problems.ts";
import type { ToolDescription } from "./tool.ts";

/** The longest a call may be given, seconds. */
export const MAX_CALL_SECONDS = 300;

/** Servers a model is told of at once, each of which costs every request some tokens. */
const NAMED = 20;
const NAME_CHARS = 40;

/**
 * `mcp_load` as a model sees it: what there is, and what a server can do before it is called. It names the servers, so it
 * changes when they do, and at no other time.
 */
export function mcpLoadTool(servers: readonly string[]): ToolDescription {
  const names = servers.map((name) => visible(name).slice(0, NAME_CHARS));
  return {
    name: "mcp_load",
    label: "MCP load",
    description: [
      "Show an MCP server's tools with their parameters, before the first mcp_call to it, or find tools of all servers (query).",
      ...(names.length === 0 ? [] : [`Servers: ${listSome(names, NAMED)}.`]),
      ...(names.length > NAMED ? ["Without arguments it lists all."] : []),
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        server: { type: "string", description: "Name of the server" },
        tool: { type: "string", description: "One tool of it, to see it in full" },
        query: { type: "string", description: "What the tool should do" },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
    promptSnippet: "Find and show tools of MCP servers",
  };
}

/** `mcp_call` as a model sees it. */
export const MCP_CALL_TOOL: ToolDescription = {
  name: "mcp_call",
  label: "MCP call",
  description: "Call a tool of an MCP server, as mcp_load has shown it.",
  parameters: {
    type: "object",
    properties: {
      selector: { type: "string", description: "server.tool, such as github.list_issues" },
      server: { type: "string", description: "Instead of selector" },
      tool: { type: "string", description: "Instead of selector" },
      args: {
        anyOf: [
          {
            type: "object",
            properties: {},
            description: "Arguments of the tool: a JSON object, or a JSON string holding one",
          },
          { type: "string" },
        ],
      },
      timeout: { type: "number", description: `Limit in seconds, 1 to ${MAX_CALL_SECONDS}` },
    },
  },
  annotations: { readOnlyHint: false, openWorldHint: true },
  promptSnippet: "Call a tool of an MCP server",
  promptGuidelines: [
    "mcp_call: servers may change things outside this project; review the arguments before you call a tool.",
    "mcp_call: a server that is said to need authorization or cannot be reached is for the person to mend; do not try again.",
  ],
};
