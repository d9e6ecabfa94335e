import type { ToolDescription } from "./tool.ts";

const LIST_PARAMETERS = {
  type: "object",
  properties: {
    server: { type: "string", description: "Name of one server; all with resources if absent" },
    cursor: { type: "string", description: "nextCursor of the answer before" },
  },
};

/**
 * The tools that reach resources, under the names by which Codex, OpenCode and pi's own client have them: models know how to
 * use these. They are in requests only where a server is known to have resources.
 */
export const LIST_RESOURCES_TOOL: ToolDescription = {
  name: "list_mcp_resources",
  label: "MCP resources",
  description: "List resources of MCP servers: files, schemas and other data they offer to be read.",
  parameters: LIST_PARAMETERS,
  annotations: { readOnlyHint: true },
};

export const LIST_TEMPLATES_TOOL: ToolDescription = {
  name: "list_mcp_resource_templates",
  label: "MCP resource templates",
  description: "List templates of resource URIs of MCP servers (RFC 6570). Filled in, they can be read.",
  parameters: LIST_PARAMETERS,
  annotations: { readOnlyHint: true },
};

export const READ_RESOURCE_TOOL: ToolDescription = {
  name: "read_mcp_resource",
  label: "MCP resource",
  description: "Read a resource of an MCP server. The user refers to one as @server:uri.",
  parameters: {
    type: "object",
    properties: {
      server: { type: "string", description: "Name of the server" },
      uri: { type: "string", description: "URI as listed, made from a template, or named in a result" },
    },
    required: ["server", "uri"],
  },
  annotations: { readOnlyHint: true },
};
