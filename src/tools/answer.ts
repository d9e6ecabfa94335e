import { widenLimit } from "../content/limit.ts";
import { type Presentation, presentResult } from "../content/present.ts";
import type { ModelBlock } from "../content/render.ts";
import { sanitizeLine, sanitizeProse } from "../content/sanitize.ts";
import { describeError, type ErrorCategory, McpServerError } from "../error.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";
import { ArgumentsError } from "./arguments.ts";
import { callTool } from "./call.ts";
import type { CallTarget } from "./call-arguments.ts";
import { offersResources } from "./offers-resources.ts";
import { READ_RESOURCE_TOOL } from "./resources-description.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";

/** Of one sentence on what was repaired. */
const REPAIR_CHARS = 200;

export interface PresentedResult extends Presentation {
  /** As the server sent it, without configured secrets. */
  readonly raw: JsonObject;
  readonly isError: boolean;
  /**
   * Facts for a host: what was changed in its arguments before sending, whether they were the reason, and whether it links to
   * resources, so that the tool that reads them is wanted.
   */
  readonly notes: JsonObject;
}

/**
 * Calls a server's tool and fits its result to the server's limit, or to what the tool itself asks for; what is to be said of
 * the arguments stands behind it.
 */
export async function callAndPresent(
  session: McpSession,
  target: CallTarget,
  { id, signal, onProgress }: ToolCall,
  showImages: boolean,
  timeoutMs?: number,
): Promise<PresentedResult> {
  const { server, tool } = target;
  const { result, repairs, advice } = await callTool(session, target, {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(id !== undefined && { callId: id }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  const limit = widenLimit(session.config(server).policy.resultLimit, session.knownTool(server, tool)?.raw._meta);
  const shown = await presentResult(result, { tool, limit, spill: session.spill, showImages });
  const hasLinks = result.content.some(({ type }) => type === "resource_link") && offersResources(session, server);
  const presented = hasLinks ? { ...shown, blocks: [...shown.blocks, howToRead(server)] } : shown;
  const noted = {
    ...(repairs.length > 0 && { repairs: repairs.map((line) => sanitizeLine(line, REPAIR_CHARS)) }),
    ...(hasLinks && { hasLinks }),
  };
  if (advice === undefined) return { ...presented, raw: result.raw, isError: result.isError, notes: noted };
  const blocks = [...presented.blocks, { type: "text" as const, text: `\n${advice}` }];
  return { ...presented, raw: result.raw, blocks, isError: true, notes: { ...noted, category: "validation" } };
}

/** Links alone are addresses of nothing. */
function howToRead(server: string): ModelBlock {
  return { type: "text", text: `\n[${READ_RESOURCE_TOOL.name} with server "${server}" reads what a link names]` };
}

/**
 * What a model gets of a result where nothing stands before it. That the tool has failed is said in the text too: not every
 * provider takes it from anywhere else.
 */
export function contentOf({ server, tool }: CallTarget, { blocks, isError }: PresentedResult): readonly ModelBlock[] {
  if (!isError) return blocks;
  const [first, ...rest] = blocks;
  const head = headOf(server, tool, true);
  return first?.type === "text"
    ? [{ type: "text", text: `${head}\n${first.text}` }, ...rest]
    : [{ type: "text", text: head }, ...blocks];
}

export function headOf(server: string, tool: string, isError: boolean): string {
  return `MCP server \`${server}\` tool \`${sanitizeLine(tool, 200)}\`${isError ? " reported an error" : ""}:`;
}

/** A failure as an answer to the model: the sentence, and what the server said on stderr when it did not start. */
export function failureAnswer(thrown: unknown, details: JsonObject): ToolAnswer {
  return {
    content: [{ type: "text", text: sanitizeProse(describeError(thrown)) }],
    isError: true,
    details: { ...details, isError: true, category: categoryOf(thrown) },
  };
}

function categoryOf(thrown: unknown): ErrorCategory {
  if (thrown instanceof McpServerError) return thrown.category;
  return thrown instanceof ArgumentsError ? "validation" : "other";
}
