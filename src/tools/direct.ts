import type { ToolNames } from "../catalog/names.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import type { ToolDefinition } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";
import { callAndPresent, failureAnswer } from "./answer.ts";
import { parseArguments } from "./arguments.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "./tool.ts";

export interface DirectTool extends ToolDescription {
  run(call: ToolCall): Promise<ToolAnswer>;
}

/** Each tool of a server as a tool of its own [S2-17]. A result keeps its images, which `mcp` puts into files. */
export function directTools(
  session: McpSession,
  server: string,
  tools: readonly ToolDefinition[],
  names: ToolNames,
): DirectTool[] {
  return tools.map((tool) => ({
    name: names.nameOf(server, tool.name),
    label: sanitizeLine(`${server}: ${tool.title ?? tool.name}`, 80),
    description: sanitizeText(tool.description ?? `Tool ${tool.name} of MCP server ${server}`),
    parameters: cleanSchema(tool.inputSchema),
    run: (call) => runDirectTool(session, server, tool.name, call),
  }));
}

async function runDirectTool(session: McpSession, server: string, tool: string, call: ToolCall): Promise<ToolAnswer> {
  const details = { server, tool };
  try {
    const target = { ...details, args: parseArguments(call.args, `\`${tool}\` arguments`) ?? {} };
    const { blocks, isError, truncated, files } = await callAndPresent(session, target, call, true);
    return { content: blocks, isError, details: { ...details, isError, truncated, files } };
  } catch (thrown) {
    return failureAnswer(thrown, details);
  }
}
