import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { shortJson } from "./json-value.ts";
import { MAX_REPEAT_COUNT } from "./provider-limits.ts";
import type { JsonType } from "./schema-types.ts";

/** Schemas that are alike so far count as one kind. */
const MAX_KIND_CHARS = 10_000;

/** A list that says what stands at each place. Providers know lists of one kind of item only. */
export function tupleOf(schema: JsonObject): { items: JsonObject; count: number } | undefined {
  const places = [schema.prefixItems, schema.items].find((list): list is unknown[] => Array.isArray(list));
  if (places === undefined || places.length === 0) return undefined;
  const rest = Array.isArray(schema.prefixItems) ? schema.items : schema.additionalItems;
  const kinds = isObject(rest) ? [...places, rest] : places;
  const distinct = new Map(kinds.map((kind) => [shortJson(kind, MAX_KIND_CHARS), kind]));
  return { items: { anyOf: [...distinct.values()] }, count: places.length };
}

export function countBounds(schema: JsonObject, places: number | undefined): JsonObject {
  const closed = places !== undefined && (schema.items === false || schema.additionalItems === false);
  return {
    ...count("minItems", schema.minItems, 1),
    ...count("maxItems", closed ? places : schema.maxItems, 0),
  };
}

function count(name: string, value: unknown, least: number): JsonObject {
  const isCount = Number.isInteger(value) && (value as number) >= least && (value as number) <= MAX_REPEAT_COUNT;
  return isCount ? { [name]: value } : {};
}

/** Bounds that hold in every dialect: `minimum` and `maximum`, whole ones for whole numbers. */
export function numberBounds(schema: JsonObject, type: JsonType): JsonObject {
  const fits = (value: unknown) =>
    typeof value === "number" && Number.isFinite(value) && (type === "number" || Number.isSafeInteger(value));
  return {
    ...(fits(schema.minimum) && { minimum: schema.minimum }),
    ...(fits(schema.maximum) && { maximum: schema.maximum }),
  };
}
