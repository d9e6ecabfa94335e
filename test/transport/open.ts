import { HttpTransport } from "../../src/transport/http.ts";
import type { HttpTransportOptions } from "../../src/transport/http-client.ts";
import { LegacySseTransport } from "../../src/transport/legacy-sse.ts";
import type { JsonRpcMessage, JsonRpcRequest } from "../../src/transport/message.ts";
import type { Transport, TransportError } from "../../src/transport/transport.ts";
import { until } from "../ground/wait.ts";

export type Options = Partial<HttpTransportOptions> & { url: string };

/** A transport that is open, and what it has told. */
export interface Opened extends AsyncDisposable {
  readonly transport: Transport;
  readonly messages: JsonRpcMessage[];
  /** Why it said that the connection is gone. */
  readonly closed: TransportError[];
  /** Waits for the answer to this request. */
  answer(id: number | string): Promise<JsonRpcMessage>;
  /** Waits for a notification or request of the server. */
  heard(method: string, count?: number): Promise<JsonRpcMessage>;
}

export function openHttp(options: Options): Promise<Opened> {
  return open(new HttpTransport({ headers: {}, env: {}, ...options }));
}

export function openSse(options: Options): Promise<Opened> {
  return open(new LegacySseTransport({ headers: {}, env: {}, ...options }));
}

async function open(transport: Transport): Promise<Opened> {
  const messages: JsonRpcMessage[] = [];
  const closed: TransportError[] = [];
  try {
    await transport.open({
      message: (message) => messages.push(message),
      lost: () => {},
      notice: () => {},
      closed: (reason) => closed.push(reason),
    });
  } catch (error) {
    await transport.close();
    throw error;
  }
  return {
    transport,
    messages,
    closed,
    answer: (id) =>
      until(`the answer to ${id}`, () =>
        messages.find((each) => !("method" in each) && "id" in each && each.id === id),
      ),
    heard: (method, count = 1) =>
      until(`${method}`, () => messages.filter((each) => "method" in each && each.method === method)[count - 1]),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

export function request(id: number, method: string, params: Record<string, unknown> = {}): JsonRpcRequest {
  return { jsonrpc: "2.0", id, method, params };
}

export const initialize = request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} });

export function call(id: number): JsonRpcRequest {
  return request(id, "tools/call", { name: "echo", arguments: { id } });
}

/** What a send is rejected with. */
export async function failureOf(sending: Promise<unknown>): Promise<TransportError> {
  return sending.then(
    () => {
      throw new Error("It was not rejected.");
    },
    (error: TransportError) => error,
  );
}

/** One event of a stream: a result for the request with this id. */
export function resultEvent(id: number, text: string, eventId?: string): string {
  const result = { content: [{ type: "text", text }] };
  return `${eventId === undefined ? "" : `id: ${eventId}\n`}data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
}
