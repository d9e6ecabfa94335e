import type { ToolDescription } from "./tool.ts";

export const MCP_AUTH_ACTIONS = ["start", "complete", "status"] as const;

/** The `mcp_auth` tool as a model sees it [S3-35, S3-37]. Signing out is left to people. */
export const MCP_AUTH_TOOL: ToolDescription = {
  name: "mcp_auth",
  label: "MCP sign-in",
  description:
    "Sign the user in to an MCP server that says it requires authentication. Actions: start (gives an address for the user to open), complete (needs code), status.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", description: `One of: ${MCP_AUTH_ACTIONS.join(", ")}` },
      server: { type: "string", description: "Name of the server" },
      code: { type: "string", description: "For complete: the whole address the browser ended at, or the code alone" },
    },
    required: ["action", "server"],
  },
};
