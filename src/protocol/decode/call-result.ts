import { isObject } from "../../is-object.ts";
import type { CallToolResult } from "../types.ts";
import { decodeContent } from "./content.ts";
import { optional } from "./fields.ts";

/** The result of `tools/call`. A result that is no object, or has no content list, becomes an empty one with its raw value. */
export function decodeCallResult(value: unknown): CallToolResult {
  const result = isObject(value) ? value : { value };
  return {
    content: Array.isArray(result.content) ? result.content.map(decodeContent) : [],
    ...optional("structuredContent", "structuredContent" in result ? result.structuredContent : undefined),
    isError: result.isError === true,
    raw: result,
  };
}
