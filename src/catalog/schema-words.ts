import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { shortJson } from "./json-value.ts";
import { isOfType, type JsonType, typeOfValue } from "./schema-types.ts";

/** Of a value in words. */
const VALUE_CHARS = 80;
/** Of all the values of an enumeration in words. */
const VALUES_CHARS = 400;
const PATTERN_CHARS = 120;

/** What a schema says in keywords that not every provider takes, in words for its description. */
export function constraintsInWords(schema: JsonObject, type: JsonType): readonly string[] {
  const words: string[] = [];
  const { default: preset, examples, format, pattern } = schema;
  if (type === "string") {
    if (typeof format === "string" && format !== "date-time")
      words.push(`format ${shortJson(format, 40).slice(1, -1)}`);
    if (typeof pattern === "string" && pattern.length <= PATTERN_CHARS) words.push(`pattern ${pattern}`);
    words.push(...bounds(schema, "minLength", "maxLength", "characters"));
  }
  if (type === "number" || type === "integer") {
    if (typeof schema.exclusiveMinimum === "number") words.push(`greater than ${schema.exclusiveMinimum}`);
    if (typeof schema.exclusiveMaximum === "number") words.push(`less than ${schema.exclusiveMaximum}`);
    if (typeof schema.multipleOf === "number") words.push(`multiple of ${schema.multipleOf}`);
  }
  if (type === "array" && schema.uniqueItems === true) words.push("no duplicates");
  if (preset !== undefined && preset !== null && fits(preset, type))
    words.push(`default ${shortJson(preset, VALUE_CHARS)}`);
  else if (Array.isArray(examples) && examples.length > 0 && fits(examples[0], type)) {
    words.push(`e.g. ${shortJson(examples[0], VALUE_CHARS)}`);
  }
  return words;
}

/** The values of an enumeration that cannot stand as one. */
export function valuesInWords(values: readonly unknown[]): string {
  if (values.length === 1) return `always ${shortJson(values[0], VALUE_CHARS)}`;
  const shown: string[] = [];
  let chars = 0;
  for (const value of values) {
    const text = shortJson(value, VALUE_CHARS);
    chars += text.length;
    if (chars > VALUES_CHARS) break;
    shown.push(text);
  }
  const rest = values.length - shown.length;
  return `one of ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** What an object may hold beside its properties; nothing where that is the usual: anything, or nothing more. */
export function otherFieldsInWords(schema: JsonObject): readonly string[] {
  const { additionalProperties: others, patternProperties, properties } = schema;
  const words: string[] = [];
  if (isObject(patternProperties)) {
    const patterns = Object.keys(patternProperties).filter((pattern) => pattern.length <= PATTERN_CHARS);
    if (patterns.length > 0) words.push(`further fields named like ${patterns.slice(0, 3).join(" or ")}`);
  }
  const hasProperties = isObject(properties) && Object.keys(properties).length > 0;
  if (isObject(others) && typeof others.type === "string") words.push(`any further fields, each a ${others.type}`);
  else if ((others === true || isObject(others)) && !hasProperties && words.length === 0) words.push("any fields");
  return words;
}

function bounds(schema: JsonObject, low: string, high: string, unit: string): readonly string[] {
  const [min, max] = [schema[low], schema[high]];
  const least = typeof min === "number" && min > 0 ? min : undefined;
  const most = typeof max === "number" ? max : undefined;
  if (least !== undefined && most !== undefined) return [`${least} to ${most} ${unit}`];
  if (least !== undefined) return [`at least ${least} ${unit}`];
  return most === undefined ? [] : [`at most ${most} ${unit}`];
}

function fits(value: unknown, type: JsonType): boolean {
  return isOfType(typeOfValue(value), type);
}
