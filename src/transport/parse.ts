import type { JsonRpcMessage } from "./message.ts";

/**
 * The messages in one line, frame or HTTP body, or undefined when it holds none.
 * Lenient where servers are known to differ: a batch is unpacked (2025-03-26 allows one), a missing `jsonrpc` is
 * supplied [E014], and a message glued behind a prompt (`> {"jsonrpc"…`) is salvaged [E004].
 */
export function toMessages(text: string): JsonRpcMessage[] | undefined {
  const whole = parse(text);
  if (whole !== undefined) return fromValue(whole);
  const start = text.indexOf('{"');
  if (start <= 0) return undefined;
  const salvaged = parse(text.slice(start));
  return salvaged === undefined ? undefined : fromValue(salvaged);
}

function parse(text: string): unknown {
  const first = text.trimStart()[0];
  if (first !== "{" && first !== "[") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function fromValue(value: unknown): JsonRpcMessage[] | undefined {
  const items = Array.isArray(value) ? value : [value];
  const messages = items.map(asMessage).filter((message) => message !== undefined);
  return messages.length === 0 ? undefined : messages;
}

function asMessage(value: unknown): JsonRpcMessage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const hasId = typeof fields.id === "number" || typeof fields.id === "string";
  const isRequest = typeof fields.method === "string";
  const isResult = hasId && "result" in fields;
  const isFailure = typeof fields.error === "object" && fields.error !== null && (hasId || fields.id === null);
  if (!isRequest && !isResult && !isFailure) return undefined;
  return { ...fields, jsonrpc: "2.0" } as unknown as JsonRpcMessage;
}
