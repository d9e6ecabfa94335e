import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./wait.ts";

export const PROVIDER = "scripted";
export const MODEL = "scripted-1";

export interface ModelTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: unknown;
}

export interface ModelMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}

/** One request pi made to the model. */
export interface ModelRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tools: readonly ModelTool[];
  readonly messages: readonly ModelMessage[];
  /** All system and developer messages, joined. */
  readonly system: string;
}

export interface ToolCall {
  readonly tool: string;
  readonly args?: unknown;
}

/** What the model does when it is asked: call tools, or say something. */
export interface Turn {
  readonly call?: ToolCall | readonly ToolCall[];
  readonly say?: string | ((request: ModelRequest) => string);
}

export interface ScriptedModel {
  readonly origin: string;
  readonly requests: readonly ModelRequest[];
  /** `models.json` for pi. */
  models(): object;
  /** Waits for the request with this number, counted from 1. */
  until(count: number, timeoutMs?: number): Promise<ModelRequest>;
  /** Turns that were not asked for. */
  unplayed(): number;
  /** Hosts that somebody tried to reach through the proxy variables of a temporary home: nobody should. */
  outside(): string[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A model that plays a list of turns, one per request, and then says "(no more turns)". It speaks OpenAI's chat
 * completions as a stream, which pi of all versions understands, on a loopback port. It is also the HTTP proxy of the
 * temporary home it is given to, one that refuses everything, so that a test sees who wanted to go out.
 */
export async function scriptedModel(
  turns: readonly (Turn | ((request: ModelRequest) => Turn))[],
): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const outside: string[] = [];
  let next = 0;

  const server = createServer(async (request, response) => {
    response.on("error", () => {});
    if (!request.url?.startsWith("/")) {
      outside.push(request.url ?? "");
      response.writeHead(403).end();
    } else if (request.method !== "POST" || request.url !== "/v1/chat/completions") response.writeHead(404).end();
    else {
      const asked = await readRequest(request);
      requests.push(asked);
      const turn = turns[next++] ?? { say: "(no more turns)" };
      answer(response, typeof turn === "function" ? turn(asked) : turn, asked, requests.length);
    }
  });
  server.on("connect", (request, socket) => {
    outside.push(request.url ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  return {
    origin,
    requests,
    models: () => ({
      providers: {
        [PROVIDER]: {
          baseUrl: `${origin}/v1`,
          api: "openai-completions",
          apiKey: "no-key-needed",
          compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
          models: [{ id: MODEL, name: "Scripted", input: ["text", "image"], contextWindow: 200_000, maxTokens: 8_192 }],
        },
      },
    }),
    until: (count, timeoutMs) => until(`model request ${count}`, () => requests[count - 1], timeoutMs),
    unplayed: () => Math.max(0, turns.length - next),
    outside: () => [...outside],
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The texts of all tool results a request carries, in order. */
export function toolResults(request: ModelRequest | undefined): string[] {
  return (request?.messages ?? [])
    .filter((message) => message.role === "tool")
    .map((message) => textOf(message.content));
}

async function readRequest(request: IncomingMessage): Promise<ModelRequest> {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
    messages: ModelMessage[];
    tools?: { function: ModelTool }[];
  };
  const isSystem = ({ role }: ModelMessage): boolean => role === "system" || role === "developer";
  return {
    at: Date.now(),
    tools: (body.tools ?? []).map((each) => each.function),
    messages: body.messages,
    system: body.messages
      .filter(isSystem)
      .map((message) => textOf(message.content))
      .join("\n\n"),
  };
}

/** A message's content is a text, or parts of which some have a text. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function answer(response: ServerResponse, turn: Turn, request: ModelRequest, number: number): void {
  const calls = [turn.call ?? []].flat() as ToolCall[];
  const said = typeof turn.say === "function" ? turn.say(request) : turn.say;
  const toolCalls = calls.map((call, index) => ({
    index,
    id: `call_${number}_${index + 1}`,
    type: "function",
    function: { name: call.tool, arguments: JSON.stringify(call.args ?? {}) },
  }));
  const delta = {
    role: "assistant",
    ...(said === undefined ? {} : { content: said }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  const chunk = (choice: object, more: object = {}): string =>
    `data: ${JSON.stringify({
      id: `answer-${number}`,
      object: "chat.completion.chunk",
      created: Math.floor(Date.now() / 1000),
      model: MODEL,
      choices: [{ index: 0, finish_reason: null, ...choice }],
      ...more,
    })}\n\n`;
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ delta }));
  response.write(chunk({ delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }, { usage }));
  response.end("data: [DONE]\n\n");
}
