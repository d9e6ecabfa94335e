import type { ToolDescription } from "./tool.ts";

/** The longest a call may be given, seconds. */
export const MAX_CALL_SECONDS = 300;

/** `mcp_load` as a model sees it: what a server can do, before it is called. */
export const MCP_LOAD_TOOL: ToolDescription = {
  name: "mcp_load",
  label: "MCP load",
  description:
    "Connect an MCP server and show its tools with their parameters. Do this before the first mcp_call to it.",
  parameters: {
    type: "object",
    properties: {
      server: { type: "string", description: "Name of the server" },
      tool: { type: "string", description: "Name of one tool, to see it in full" },
    },
    required: ["server"],
  },
  promptSnippet: "Show the tools of an MCP server",
};

/** `mcp_call` as a model sees it. */
export const MCP_CALL_TOOL: ToolDescription = {
  name: "mcp_call",
  label: "MCP call",
  description: "Call a tool of an MCP server, as mcp_load has shown it.",
  parameters: {
    type: "object",
    properties: {
      selector: { type: "string", description: "server.tool, such as github.list_issues" },
      server: { type: "string", description: "Name of the server, where there is no selector" },
      tool: { type: "string", description: "Name of the tool, where there is no selector" },
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
  promptSnippet: "Call a tool of an MCP server",
  promptGuidelines: [
    "mcp_call: servers may change things outside this project; review the arguments before you call a tool.",
    "mcp_call: a server that is said to need authorization or cannot be reached is for the person to mend; do not try again.",
  ],
};
