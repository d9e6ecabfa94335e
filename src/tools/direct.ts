import { directToolName } from "../catalog/names.ts";
import { renderBlocks } from "../content/render.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import type { ToolDefinition } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";
import { parseArguments } from "./arguments.ts";
import { failureAnswer } from "./mcp.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "./tool.ts";

export interface DirectTool extends ToolDescription {
  run(call: ToolCall): Promise<ToolAnswer>;
}

/**
 * Each tool of a server as a tool of its own, named `mcp__<server>__<tool>` [S2-17]. The prefix keeps a server from
 * taking the place of a host's own tool [S2-18]. `taken` holds the names already given in this session and grows.
 */
export function directTools(
  session: McpSession,
  server: string,
  tools: readonly ToolDefinition[],
  taken: Set<string>,
): DirectTool[] {
  return tools.map((tool) => {
    const name = directToolName(server, tool.name, taken);
    taken.add(name);
    return {
      name,
      label: sanitizeLine(`${server}: ${tool.title ?? tool.name}`, 80),
      description: sanitizeText(tool.description ?? `Tool ${tool.name} of MCP server ${server}`),
      parameters: tool.inputSchema,
      run: (call) => runDirectTool(session, server, tool.name, call),
    };
  });
}

async function runDirectTool(session: McpSession, server: string, tool: string, call: ToolCall): Promise<ToolAnswer> {
  const details = { server, tool };
  try {
    const result = await session.callTool(server, tool, parseArguments(call.args, `\`${tool}\` arguments`) ?? {}, {
      ...(call.signal && { signal: call.signal }),
      ...(call.onProgress && { onProgress: call.onProgress }),
    });
    const content = renderBlocks(result, session.config(server).policy.resultLimit);
    return { content, isError: result.isError, details: { ...details, isError: result.isError } };
  } catch (thrown) {
    return failureAnswer(thrown, details);
  }
}
