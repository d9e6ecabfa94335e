import type { JsonObject, ToolDefinition } from "../../protocol/types.ts";

/** A tool in the JSON a command prints. */
export function toolRow({ raw: _, ...tool }: ToolDefinition): JsonObject {
  return tool;
}
