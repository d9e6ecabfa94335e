import type { ToolNames } from "../catalog/names.ts";
import { providerSchema } from "../catalog/provider-schema.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { sanitizeLine, sanitizeProse } from "../content/sanitize.ts";
import type { ToolAnnotations, ToolDefinition } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";
import { callAndPresent, contentOf, failureAnswer } from "./answer.ts";
import { parseArguments } from "./arguments.ts";
import { scriptResult, scriptResultSchema } from "./script-result.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "./tool.ts";

const NAMESPACE_CHARS = 250;
const INSTRUCTIONS_CHARS = 4_000;

export interface DirectTool extends ToolDescription {
  readonly target: { readonly server: string; readonly tool: string };
  run(call: ToolCall): Promise<ToolAnswer>;
}

/**
 * Each tool of a server as a tool of its own [S2-17], with a schema that every model provider takes. A result keeps its
 * images, which `mcp` puts into files.
 */
export function directTools(
  session: McpSession,
  server: string,
  tools: readonly ToolDefinition[],
  names: ToolNames,
): DirectTool[] {
  const namespace = namespaceOf(session, server);
  return tools.map((tool) => {
    const { schema, notes } = providerSchema(tool.inputSchema);
    const description = tool.description ?? `Tool ${tool.name} of MCP server ${server}`;
    return {
      name: names.nameOf(server, tool.name),
      label: sanitizeLine(`${server}: ${tool.title ?? tool.name}`, 80),
      description: sanitizeProse(withNotes(description, notes)),
      parameters: cleanSchema(schema),
      target: { server, tool: tool.name },
      namespace,
      annotations: hintsOf(tool.annotations),
      outputSchema: scriptResultSchema(tool.outputSchema),
      run: (call) => runDirectTool(session, server, tool.name, call),
    };
  });
}

/** As pi names it; a script may also ask for it by the name of the server. What a server says of itself is its own word. */
function namespaceOf(session: McpSession, server: string): NonNullable<ToolDescription["namespace"]> {
  const { title, description, instructions } = session.knownTools(server)?.server ?? {};
  const about = description ?? title;
  return {
    name: `mcp__${server}`.replace(/[^A-Za-z0-9_]/g, "_"),
    aliases: [server],
    ...(about !== undefined && { description: sanitizeLine(about, NAMESPACE_CHARS) }),
    ...(instructions !== undefined && { instructions: sanitizeProse(instructions).slice(0, INSTRUCTIONS_CHARS) }),
  };
}

/** The hints alone, as far as the server gives them. */
function hintsOf({ title: _, ...hints }: ToolAnnotations): ToolAnnotations {
  return hints;
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
    const { isError, truncated, files, notes, raw } = result;
    return {
      content: contentOf(target, result),
      isError,
      details: { ...details, isError, truncated, files, ...notes },
      structured: scriptResult(raw),
    };
  } catch (thrown) {
    return failureAnswer(thrown, details);
  }
}
