import type { ToolDescription } from "./tool.ts";

export const MCP_ACTIONS = ["list_servers", "list_tools", "call"] as const;

/**
 * The `mcp` tool as a model sees it: one tool for discovery and calling [S1-06]. Its schema keeps to what all model
 * providers take, so nothing stands beside a union.
 */
export const MCP_TOOL: ToolDescription = {
  name: "mcp",
  label: "MCP",
  description:
    "Use the tools of the configured MCP servers. Actions: list_servers; list_tools (needs server); call (needs server and tool, args as the tool's schema says).",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", description: `MCP action to run: ${MCP_ACTIONS.join(", ")}` },
      server: { type: "string", description: "Name of the server, for list_tools and call" },
      tool: { type: "string", description: "Name of the tool, for call" },
      args: {
        anyOf: [
          {
            type: "object",
            properties: {},
            description: "Arguments of the tool, for call: a JSON object, or a JSON string holding one",
          },
          { type: "string" },
        ],
      },
    },
    required: ["action"],
  },
  promptSnippet: "Discover and call tools of MCP servers",
  promptGuidelines: [
    "mcp: start with action list_servers, then list_tools for the server you need, then call.",
    "mcp: servers may change things outside this project; review the arguments before you call a tool.",
    "mcp: pass args as a JSON object or as a JSON string that holds one; anything else is refused.",
  ],
};
