import type { JsonRpcMessage } from "./message.ts";

/**
 * The messages in one line, frame or HTTP body, or undefined when it holds none.
 * Lenient where servers are known to differ: a batch is unpacked (2025-03-26 allows one), a missing `jsonrpc` is
 * supplied [E014], and a message glued behind a prompt (`> {"jsonrpc"…`) is salvaged [E004].
 */
export function toMessages(text: string): JsonRpcMessage[] | undefined {
  const whole = parse(text);
  if (whole !== undefined) return fromValue(whole);
  const start = text.indexOf(GLUED);
  if (start <= 0) return undefined;
  const salvaged = parse(text.slice(start));
  return salvaged === undefined ? undefined : fromValue(salvaged);
}

/** How a message begins, wherever in a line that is. */
const GLUED = '{"';

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
  if (fields.jsonrpc === "2.0" && isFailure === "error" in fields) return fields as unknown as JsonRpcMessage;
  // `"error": null` beside a result comes of serializers that leave nothing out.
  const { error, ...rest } = fields;
  return { ...rest, ...(isFailure && { error }), jsonrpc: "2.0" } as unknown as JsonRpcMessage;
}

/** A member of an object whose value is a short string, a number or a word. */
const MEMBER = String.raw`\s*"(\w+)"\s*:\s*("(?:[^"\\]|\\.){0,256}"|[\w.+-]{1,64})\s*`;
const LEADING_MEMBER = new RegExp(`${MEMBER}[,}]`, "y");
const TRAILING_MEMBERS = new RegExp(`(?:,${MEMBER})+}\\s*$`);
const IS_ANSWER = /"(?:result|error)"\s*:/;
/** Ids of our own are numbers; some servers return them as strings. */
const OWN_ID = /^"?(\d+)"?$/;

/**
 * Whose answer a text was that cannot be parsed, because it is broken or because only its two ends were kept. The id is
 * looked for among the small members at the beginning and at the end of the outermost object. Undefined when the text is
 * no answer.
 */
export function asAnswer(head: string, tail: string): { readonly id: number | undefined } | undefined {
  const start = head.indexOf(GLUED);
  if (start < 0 || !(IS_ANSWER.test(head) || IS_ANSWER.test(tail))) return undefined;
  const trailing = TRAILING_MEMBERS.exec(tail)?.[0] ?? "";
  const members = new Map([...membersAt(head, start + 1), ...membersAt(trailing, 1)]);
  if (members.has("method")) return undefined;
  const id = OWN_ID.exec(members.get("id") ?? "")?.[1];
  return { id: id === undefined ? undefined : Number(id) };
}

/** The small members in a row from there on, their values as written. */
function membersAt(text: string, start: number): [string, string][] {
  const members: [string, string][] = [];
  LEADING_MEMBER.lastIndex = start;
  for (let match = LEADING_MEMBER.exec(text); match; match = LEADING_MEMBER.exec(text)) {
    members.push([match[1] ?? "", match[2] ?? ""]);
  }
  return members;
}
