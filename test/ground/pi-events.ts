/** An event of pi's JSON and RPC modes. The fields beside `type` depend on it. */
export interface PiEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One finished tool call as pi reports it. */
export interface ToolRun {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
  /** All text blocks of the result, joined. */
  readonly text: string;
  readonly isError: boolean;
  readonly details: unknown;
}

interface Block {
  readonly type: string;
  readonly text?: string;
}

function text(content: unknown): string {
  return ((content ?? []) as Block[]).map((block) => block.text ?? "").join("");
}

/** The finished tool calls, in the order of their ends. */
export function toolRuns(events: readonly PiEvent[]): ToolRun[] {
  const ends = events.filter((event) => event.type === "tool_execution_end");
  return ends.map((end) => {
    const start = events.find((event) => event.type === "tool_execution_start" && event.toolCallId === end.toolCallId);
    const result = end.result as { content?: unknown; details?: unknown } | undefined;
    return {
      id: String(end.toolCallId),
      tool: String(end.toolName),
      args: start?.args,
      text: text(result?.content),
      isError: end.isError === true,
      details: result?.details,
    };
  });
}

/** What the assistant said last. */
export function finalText(events: readonly PiEvent[]): string {
  const said = events.flatMap((event) => {
    const message = event.message as { role?: string; content?: unknown } | undefined;
    return event.type === "message_end" && message?.role === "assistant" ? [text(message.content)] : [];
  });
  return said.at(-1) ?? "";
}
