import { providerSchema } from "../catalog/provider-schema.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { sanitizeText } from "../content/sanitize.ts";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";

/** No honest result is nested deeper, and a deeper one would exhaust the stack. */
const MAX_DEPTH = 1000;

/**
 * What a script (`codemode` of pi) gets of a call: the whole result of MCP, as pi's own client gives it. A script reads it, not a
 * model, so nothing is cut; its texts are cleaned, since most of them end in front of one.
 */
export function scriptResult({ _meta, ...result }: JsonObject): JsonObject {
  return clean(result, 0) as JsonObject;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === "string") return sanitizeText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clean(item, depth + 1)]));
}

/** Its JSON Schema, with what the server says of its structured result. */
export function scriptResultSchema(structured: JsonObject | undefined): JsonObject {
  return {
    type: "object",
    properties: {
      content: { type: "array", items: CONTENT_BLOCK },
      // Servers also send what they have not announced.
      structuredContent: isObject(structured) ? cleanSchema(providerSchema(structured).schema) : {},
      isError: { type: "boolean" },
    },
    required: ["content"],
    additionalProperties: true,
  };
}

/** The members that scripts read most. */
const CONTENT_BLOCK: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["text", "image", "audio", "resource_link", "resource"] },
    text: { type: "string" },
    data: { type: "string" },
    mimeType: { type: "string" },
  },
  required: ["type"],
  additionalProperties: true,
};
