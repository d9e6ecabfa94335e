import { isObject } from "../../is-object.ts";
import type { Decoded } from "../list.ts";
import type { JsonObject, ToolAnnotations, ToolDefinition } from "../types.ts";
import { optional, stringOf } from "./fields.ts";

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/**
 * One entry of `tools/list`. Only a name is indispensable: without `inputSchema` a tool takes anything, and a schema
 * that is no object schema is the server's mistake but not a reason to lose the tool's neighbours.
 */
export function decodeTool(value: unknown): Decoded<ToolDefinition> {
  if (!isObject(value)) return { notice: "an entry of the tool list is no object and was left out" };
  const name = stringOf(value.name);
  if (name === undefined || name === "") return { notice: "a tool without a name was left out" };
  const schema = value.inputSchema;
  if (isObject(schema) && schema.type !== undefined && schema.type !== "object") {
    return { notice: `tool ${JSON.stringify(name)} was left out: its input schema is not an object schema` };
  }
  return {
    item: {
      name,
      ...optional("title", stringOf(value.title)),
      ...optional("description", stringOf(value.description)),
      inputSchema: objectSchema(schema),
      ...optional("outputSchema", isObject(value.outputSchema) ? value.outputSchema : undefined),
      annotations: decodeAnnotations(value.annotations),
      raw: value,
    },
  };
}

/** The server's own object wherever it can be: what it wrote is what a call is checked against. */
function objectSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return { type: "object", properties: {} };
  return schema.type === "object" ? schema : { ...schema, type: "object" };
}

/** Only real booleans count: `"true"` and `1` are no hints (S2, permission rule). */
function decodeAnnotations(value: unknown): ToolAnnotations {
  if (!isObject(value)) return {};
  const hints: Record<string, boolean> = {};
  for (const hint of HINTS) if (typeof value[hint] === "boolean") hints[hint] = value[hint];
  return { ...optional("title", stringOf(value.title)), ...hints };
}
