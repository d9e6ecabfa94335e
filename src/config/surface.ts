import { fieldsOf } from "./entries.ts";
import { type JsonDocument, positionOf } from "./json-file.ts";
import type { ConfigProblem, Surface } from "./record.ts";

/** What a person can write; `auto`: as is usual for where a server is configured. */
export const SURFACES = ["auto", "gateway", "split", "direct"] as const;

/** The key for all servers, beside `mcpServers` in a file of the person's own. */
const KEY = "mcpSurface";

/**
 * The surface a file sets for all servers that do not set one themselves; `undefined` where it sets none, `auto` where it takes
 * back what a weaker file says.
 */
export function readUsualSurface(document: JsonDocument, problems: ConfigProblem[]): Surface | "auto" | undefined {
  if (document.root.type !== "object") return undefined;
  const field = fieldsOf(document, document.root).get(KEY);
  if (field === undefined) return undefined;
  const word = SURFACES.find((each) => each === String(field.value.value).toLowerCase());
  if (word !== undefined) return word;
  const message = `"${KEY}" must be one of ${SURFACES.map((each) => `"${each}"`).join(", ")}; it is not used.`;
  problems.push({ ...positionOf(document, field.value), severity: "warning", message });
  return undefined;
}
