import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { shortJson, stringsOf } from "./json-value.ts";
import { isOfType, statedTypes } from "./schema-types.ts";

/** Values that are alike so far count as one. */
const MAX_VALUE_CHARS = 10_000;

/**
 * One schema for what has to fit both: `allOf`, or a branch of a union with what stands beside it. Where two keywords
 * cannot be joined into one, the second gives way: the result is for a model to read, and may allow more than the two do.
 */
export function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...second, ...first };
  for (const keyword of Object.keys(second)) {
    if (first[keyword] !== undefined) merged[keyword] = mergeKeyword(keyword, first, second);
  }
  return merged;
}

function mergeKeyword(keyword: string, first: JsonObject, second: JsonObject): unknown {
  const [a, b] = [first[keyword], second[keyword]];
  switch (keyword) {
    case "properties":
      return isObject(a) && isObject(b) ? mergeProperties(a, b) : isObject(a) ? a : b;
    case "required":
      return [...new Set([...stringsOf(a), ...stringsOf(b)])];
    case "type":
      return mergeTypes(first, second);
    case "enum":
      return Array.isArray(a) && Array.isArray(b) ? mergeValues(a, b) : a;
    case "items":
      return isObject(a) && isObject(b) ? { allOf: [a, b] } : a;
    case "minimum":
    case "minItems":
    case "minLength":
      return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : a;
    case "maximum":
    case "maxItems":
    case "maxLength":
      return typeof a === "number" && typeof b === "number" ? Math.min(a, b) : a;
    default:
      return a;
  }
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name) => {
      if (!Object.hasOwn(a, name)) return [name, b[name]];
      return [name, Object.hasOwn(b, name) ? { allOf: [a[name], b[name]] } : a[name]];
    }),
  );
}

function mergeTypes(first: JsonObject, second: JsonObject): unknown {
  const [a, b] = [statedTypes(first), statedTypes(second)];
  if (a === undefined || b === undefined) return a === undefined ? second.type : first.type;
  const both = [
    ...a.filter((type) => b.some((other) => isOfType(type, other))),
    ...b.filter((type) => a.some((other) => other !== type && isOfType(type, other))),
  ];
  return both.length === 0 ? first.type : [...new Set(both)];
}

function mergeValues(a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  const texts = new Set(b.map((value) => shortJson(value, MAX_VALUE_CHARS)));
  const both = a.filter((value) => texts.has(shortJson(value, MAX_VALUE_CHARS)));
  return both.length === 0 ? a : both;
}
