import type { ToolNames } from "../catalog/names.ts";
import { providerSchema } from "../catalog/provider-schema.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { sanitizeLine, sanitizeProse } from "../content/sanitize.ts";
import type { ToolDefinition } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";
import { callAndPresent, contentOf, failureAnswer } from "./answer.ts";
import { parseArguments } from "./arguments.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "./tool.ts";

export interface DirectTool extends ToolDescription {
  run(call: ToolCall): Promise<ToolAnswer>;
}

/**
 * Each tool of a server as a tool of its own [S2-17], with a schema that every model provider takes. A result keeps its images, which `mcp` puts into
 * files.
 */
export function directTools(
  session: McpSession,
  server: string,
  tools: readonly ToolDefinition[],
  names: ToolNames,
): DirectTool[] {
  return tools.map((tool) => {
    const { schema, notes } = providerSchema(tool.inputSchema);
    const description = tool.description ?? `Tool ${tool.name} of MCP server ${server}`;
    return {
      name: names.nameOf(server, tool.name),
      label: sanitizeLine(`${server}: ${tool.title ?? tool.name}`, 80),
      description: sanitizeProse(withNotes(description, notes)),
      parameters: cleanSchema(schema),
      run: (call) => runDirectTool(session, server, tool.name, call),
    };
  });
}

/** What the root of a schema says and a model is not shown there. */
function withNotes(description: string, notes: readonly string[]): string {
  return [description, ...notes.filter((note) => !description.includes(note))].join("\n");
}

async function runDirectTool(session: McpSession, server: string, tool: string, call: ToolCall): Promise<ToolAnswer> {
  const details = { server, tool };
  try {
    const target = { ...details, args: parseArguments(call.args, `\`${tool}\` arguments`) ?? {} };
    const result = await callAndPresent(session, target, call, true);
    const { isError, truncated, files, notes } = result;
    return {
      content: contentOf(target, result),
      isError,
      details: { ...details, isError, truncated, files, ...notes },
    };
  } catch (thrown) {
    return failureAnswer(thrown, details);
  }
}
