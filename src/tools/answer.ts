import { widenLimit } from "../content/limit.ts";
import { type Presentation, presentResult } from "../content/present.ts";
import { sanitizeText } from "../content/sanitize.ts";
import { describeError, type ErrorCategory, McpServerError } from "../error.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";
import { ArgumentsError } from "./arguments.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";

export interface PresentedResult extends Presentation {
  readonly isError: boolean;
}

/** Calls a server's tool and fits its result to the server's limit, or to what the tool itself asks for. */
export async function callAndPresent(
  session: McpSession,
  target: { readonly server: string; readonly tool: string; readonly args: JsonObject | undefined },
  { signal, onProgress }: ToolCall,
  showImages: boolean,
  timeoutMs?: number,
): Promise<PresentedResult> {
  const { server, tool, args } = target;
  const options = {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  const result = await session.callTool(server, tool, args, options);
  const limit = widenLimit(session.config(server).policy.resultLimit, session.knownTool(server, tool)?.raw._meta);
  const presented = await presentResult(result, { tool, limit, spill: session.spill, showImages });
  return { ...presented, isError: result.isError };
}

/** A failure as an answer to the model: the sentence, and what the server said on stderr when it did not start. */
export function failureAnswer(thrown: unknown, details: JsonObject): ToolAnswer {
  return {
    content: [{ type: "text", text: sanitizeText(describeError(thrown)) }],
    isError: true,
    details: { ...details, isError: true, category: categoryOf(thrown) },
  };
}

function categoryOf(thrown: unknown): ErrorCategory {
  if (thrown instanceof McpServerError) return thrown.category;
  return thrown instanceof ArgumentsError ? "validation" : "other";
}
