import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";

/** Before the number in the ids of requests that are the proxy's own. */
export const OWN_PREFIX = "pi-mcp:";

export interface WireMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: unknown;
}

/** A message of either side; `undefined` for what is none, a batch among them: that is passed on as it is. */
export function readMessage(line: Buffer): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return isObject(value) ? (value as WireMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** An id as a key: `1` and `"1"` are two. */
export function keyOf(id: unknown): string {
  return JSON.stringify(id);
}

/** The text of a prompt's first block. */
export function promptText(params: JsonObject | undefined): string {
  const blocks = Array.isArray(params?.prompt) ? params.prompt : [];
  const first: unknown = blocks[0];
  return isObject(first) && first.type === "text" && typeof first.text === "string" ? first.text : "";
}
