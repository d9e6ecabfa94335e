import { isUtf8 } from "node:buffer";
import { isObject } from "../is-object.ts";
import type { CallToolResult, ContentBlock, JsonObject, PromptResult, ResourceContents } from "../protocol/types.ts";
import { decodeBase64 } from "./bytes.ts";
import type { Redactor } from "./redact.ts";

/** MCP's own names for the members of a result and its blocks. They give nothing away, and a result cannot do without. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...["content", "structuredContent", "isError", "_meta", "type", "kind", "text", "data", "mimeType", "annotations"],
  ...["resource", "uri", "blob", "name", "title", "description", "size"],
]);

const BLOCK_TYPES: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link", "unknown"]);

/**
 * A result without secrets. A configured value may well be `text` or `content`, and a short one stands somewhere in
 * every larger image: the shape of a result and its binary data stay as they are. A text in base64 is a text.
 */
export function redactResult(result: CallToolResult, redactor: Redactor): CallToolResult {
  const { content, structuredContent, raw } = result;
  const rawBlock = (block: unknown) => (isObject(block) ? withResource(block, redactor) : redactor.json(block));
  return {
    ...result,
    content: content.map((block) => redactMembers(block, redactor) as ContentBlock),
    ...(structuredContent !== undefined && { structuredContent: redactor.json(structuredContent) }),
    raw: {
      ...redactMembers(raw, redactor),
      ...(Array.isArray(raw.content) && { content: raw.content.map(rawBlock) }),
    },
  };
}

/** One part of a resource without secrets, likewise. */
export function redactContents(part: ResourceContents, redactor: Redactor): ResourceContents {
  return redactMembers(part, redactor) as unknown as ResourceContents;
}

/** The messages of a prompt without secrets, likewise. */
export function redactPrompt(prompt: PromptResult, redactor: Redactor): PromptResult {
  const { description, messages, raw } = prompt;
  const rawMessages = Array.isArray(raw.messages)
    ? raw.messages.map((each: unknown) => rawMessage(each, redactor))
    : [];
  return {
    ...(description !== undefined && { description: redactor.text(description) }),
    messages: messages.map(({ role, content }) => ({
      role: redactor.text(role),
      content: content.map((block) => redactMembers(block, redactor) as ContentBlock),
    })),
    raw: { ...redactMembers(raw, redactor), messages: rawMessages },
  };
}

function rawMessage(message: unknown, redactor: Redactor): unknown {
  if (!isObject(message) || !isObject(message.content)) return redactor.json(message);
  const { content, ...others } = message;
  return { ...redactMembers(others, redactor), content: withResource(content as JsonObject, redactor) };
}

/** A block as the server sent it: what it says about a resource lies one level deeper. */
function withResource(block: JsonObject, redactor: Redactor): JsonObject {
  const { resource } = block;
  return {
    ...redactMembers(block, redactor),
    ...(isObject(resource) && { resource: redactMembers(resource, redactor) }),
  };
}

function redactMembers(object: object, redactor: Redactor): JsonObject {
  const members = Object.entries(object);
  const known = members.filter(([name]) => MEMBERS.has(name));
  const others = members.filter(([name]) => !MEMBERS.has(name));
  return {
    ...Object.fromEntries(known.map(([name, value]) => [name, redactMember(name, value, redactor)])),
    ...redactor.json(Object.fromEntries(others)),
  };
}

function redactMember(name: string, value: unknown, redactor: Redactor): unknown {
  if (name === "size" || (name === "type" && BLOCK_TYPES.has(value))) return value;
  const isData = (name === "data" || name === "blob") && typeof value === "string";
  const bytes = isData ? decodeBase64(value) : undefined;
  return bytes === undefined ? redactor.json(value) : redactBytes(value as string, bytes, redactor);
}

/** The data itself where there is nothing to remove. */
function redactBytes(data: string, bytes: Buffer, redactor: Redactor): string {
  if (!isUtf8(bytes)) return data;
  const text = bytes.toString("utf8");
  const redacted = redactor.text(text);
  return redacted === text ? data : Buffer.from(redacted, "utf8").toString("base64");
}
