import type { JsonObject } from "../protocol/types.ts";

/** Longer references are followed nowhere. */
const MAX_CHARS = 200;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a reference within a schema leads to (`#/$defs/Name`, RFC 6901); undefined when that is nothing. */
export function resolveLocal(reference: string, root: JsonObject): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/") || reference.length > MAX_CHARS) return undefined;
  let here: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(here)) here = here[Number(key)];
    else if (isJsonObject(here) && Object.hasOwn(here, key)) here = here[key];
    else return undefined;
  }
  return here;
}
