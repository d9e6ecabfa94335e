import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { sanitizeProse } from "./sanitize.ts";

/** Words for whoever reads a schema. Everything else in it is for calls. */
const TEXTS: ReadonlySet<string> = new Set(["title", "description"]);

/** Keywords that hold values, which may look like schemas and are none. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "required"]);

/** Keywords that hold schemas by name, and a name may be that of any keyword. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** No honest schema is nested deeper, and a deeper one would exhaust the stack. */
const MAX_DEPTH = 1000;

/** A JSON Schema with its titles and descriptions sanitised; names and values stay as they are. */
export function cleanSchema(schema: JsonObject): JsonObject {
  return clean(schema, 0) as JsonObject;
}

function clean(schema: unknown, depth: number): unknown {
  if (Array.isArray(schema)) return schema.map((item) => cleanDeeper(item, depth));
  return mapMembers(schema, (value, keyword) => {
    if (VALUES.has(keyword)) return value;
    if (TEXTS.has(keyword) && typeof value === "string") return sanitizeProse(value);
    return SCHEMAS.has(keyword) ? mapMembers(value, (item) => cleanDeeper(item, depth)) : cleanDeeper(value, depth);
  });
}

/** Below the limit stands a schema that allows everything. */
function cleanDeeper(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  return depth < MAX_DEPTH ? clean(value, depth + 1) : {};
}

function mapMembers(value: unknown, change: (item: unknown, name: string) => unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item, name)]));
}
