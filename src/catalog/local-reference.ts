import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";

/** Longer references are followed nowhere. Generators that write a path for each repeated schema write long ones. */
const MAX_CHARS = 1_000;

/** What a reference within a schema leads to (`#/$defs/Name`, RFC 6901, percent-encoded); undefined when that is nothing. */
export function resolveLocal(reference: string, root: JsonObject): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/") || reference.length > MAX_CHARS) return undefined;
  let here: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decodePercent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(here)) here = here[Number(key)];
    else if (isObject(here) && Object.hasOwn(here, key)) here = here[key];
    else return undefined;
  }
  return here;
}

/** A `%` that encodes nothing stands for itself. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
