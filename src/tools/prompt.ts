import { type Presentation, presentResult } from "../content/present.ts";
import type { ContentBlock, PromptMessage } from "../protocol/types.ts";
import type { CallOptions, McpSession } from "../session/session.ts";
import type { PromptArguments } from "./prompt-arguments.ts";

export interface PromptTarget {
  readonly server: string;
  readonly prompt: string;
  readonly args: PromptArguments;
}

/**
 * A prompt of a server as one message of a person: its texts and images, embedded resources as text, all within the server's
 * limit for results. Where the server has written a conversation, it says who speaks. Rejects with McpServerError.
 */
export async function fetchPrompt(
  session: McpSession,
  { server, prompt, args }: PromptTarget,
  options: CallOptions = {},
): Promise<Presentation> {
  const { messages, raw } = await session.getPrompt(server, prompt, args, options);
  if (messages.length === 0) return { blocks: [], truncated: false, files: [] };
  const result = { content: promptContent(messages), isError: false, raw };
  const limit = session.config(server).policy.resultLimit;
  return presentResult(result, { tool: prompt, limit, spill: session.spill, showImages: true });
}

/** The messages as what one message holds. There are two who speak; a server that names another speaks for itself. */
export function promptContent(messages: readonly PromptMessage[]): readonly ContentBlock[] {
  if (messages.every(({ role }) => role === "user")) return messages.flatMap(({ content }) => content);
  return messages.flatMap(({ role, content }) => [
    { type: "text", text: role === "user" ? "User:" : "Assistant:" } as const,
    ...content,
  ]);
}
