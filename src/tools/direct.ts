import type { ToolNames } from "../catalog/names.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { widenLimit } from "../content/limit.ts";
import { presentResult } from "../content/present.ts";
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
 * taking the place of a host's own tool [S2-18].
 */
export function directTools(
  session: McpSession,
  server: string,
  tools: readonly ToolDefinition[],
  names: ToolNames,
): DirectTool[] {
  return tools.map((tool) => {
    return {
      name: names.nameOf(server, tool.name),
      label: sanitizeLine(`${server}: ${tool.title ?? tool.name}`, 80),
      description: sanitizeText(tool.description ?? `Tool ${tool.name} of MCP server ${server}`),
      parameters: cleanSchema(tool.inputSchema),
      run: (call) => runDirectTool(session, server, tool, call),
    };
  });
}

async function runDirectTool(
  session: McpSession,
  server: string,
  { name: tool, raw }: ToolDefinition,
  call: ToolCall,
): Promise<ToolAnswer> {
  const details = { server, tool };
  try {
    const result = await session.callTool(server, tool, parseArguments(call.args, `\`${tool}\` arguments`) ?? {}, {
      ...(call.signal && { signal: call.signal }),
      ...(call.onProgress && { onProgress: call.onProgress }),
    });
    const limit = widenLimit(session.config(server).policy.resultLimit, raw._meta);
    const { blocks, truncated, files } = await presentResult(result, {
      tool,
      limit,
      spill: session.spill,
      showImages: true,
    });
    const { isError } = result;
    return { content: blocks, isError, details: { ...details, isError, truncated, files } };
  } catch (thrown) {
    return failureAnswer(thrown, details);
  }
}
