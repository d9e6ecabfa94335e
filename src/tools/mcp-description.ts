import type { ToolDescription } from "./tool.ts";

export const MCP_ACTIONS = ["search", "describe", "list_servers", "list_tools", "call"] as const;

/**
 * The `mcp` tool as a model sees it: one tool for discovery and calling [S1-06]. It is in every request, so each word of it
 * costs, and it never changes, so that what a provider has cached of a session stays good. Its schema keeps to what all
 * model providers take, so nothing stands beside a union.
 */
export const MCP_TOOL: ToolDescription = {
  name: "mcp",
  label: "MCP",
  description:
    "Use the tools of the configured MCP servers. Actions: search (query: finds tools of all servers by what they do); describe (server, tool: its whole schema); list_servers; list_tools (server); call (server, tool, args as the tool's schema says).",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", description: `MCP action to run: ${MCP_ACTIONS.join(", ")}` },
      query: { type: "string", description: "What the tool should do, for search" },
      limit: { type: "integer", description: "Most tools to find, for search (5)" },
      server: { type: "string", description: "Name of the server; optional for search" },
      tool: { type: "string", description: "Name of the tool, for describe and call" },
      args: {
        anyOf: [
          {
            type: "object",
            properties: {},
            description: "Arguments of the tool, for call",
          },
          { type: "string" },
        ],
      },
    },
    required: ["action"],
  },
  // It counts as one that writes [S1-34]: what a server's tool changes is not known.
  annotations: { readOnlyHint: false, openWorldHint: true },
  promptSnippet: "Find and call tools of MCP servers",
  promptGuidelines: [
    "mcp: find a tool with search, or with list_servers and list_tools; then call it.",
    "mcp: servers may change things outside this project; review the arguments before you call a tool.",
    "mcp: args is a JSON object or a JSON string holding one, nothing else.",
  ],
};
