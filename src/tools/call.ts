import { McpServerError } from "../error.ts";
import type { CallToolResult } from "../protocol/types.ts";
import type { CallOptions, McpSession } from "../session/session.ts";
import { adviseArguments, blamesArguments, type CallTarget, prepareArguments } from "./call-arguments.ts";

/** What came of a call, with what is to be said of its arguments. */
export interface CalledTool {
  readonly result: CallToolResult;
  /** What was changed in the arguments before they were sent, one sentence each. */
  readonly repairs: readonly string[];
  /** What the tool expects, where a failed result is the arguments' fault. */
  readonly advice?: string;
}

/**
 * Calls a server's tool with the arguments its schema asks for. Whoever calls, a model or a person, is told once and short
 * what it expects when the server refuses them: as `advice`, or in the message of the McpServerError this rejects with.
 */
export async function callTool(session: McpSession, target: CallTarget, options: CallOptions): Promise<CalledTool> {
  const { server, tool } = target;
  const { args, repairs } = await prepareArguments(session, target);
  const advise = () => adviseArguments(session, { server, tool, args }, repairs);
  const result = await session.callTool(server, tool, args, options).catch(async (thrown: unknown) => {
    if (!(thrown instanceof McpServerError) || thrown.category !== "validation") throw thrown;
    const advice = await advise();
    throw advice === undefined ? thrown : withAdvice(thrown, advice.text);
  });
  const advice = result.isError ? await advise() : undefined;
  const isToBlame = advice !== undefined && (advice.areWrong || blamesArguments(textOf(result)));
  return { result, repairs, ...(isToBlame && { advice: advice.text }) };
}

function withAdvice(error: McpServerError, advice: string): McpServerError {
  const { server, category, message, cause, attempts, diagnostics } = error;
  return new McpServerError(server, category, `${message}\n\n${advice}`, { cause, attempts, diagnostics });
}

function textOf({ content }: CallToolResult): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
