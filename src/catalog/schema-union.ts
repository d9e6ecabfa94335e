import type { JsonObject } from "../protocol/types.ts";
import { shortText, stringsOf } from "./json-value.ts";
import { MAX_DESCRIPTION_CHARS, MAX_ENUM_VALUES, MAX_NOTE_CHARS } from "./provider-limits.ts";

/** The union of finished schemas: each once, all enumerations of strings as one. */
export function unionOf(shapes: readonly JsonObject[]): JsonObject | undefined {
  const flat = shapes.flatMap((shape) => (Array.isArray(shape.anyOf) ? (shape.anyOf as JsonObject[]) : [shape]));
  const kept: JsonObject[] = [];
  for (const shape of flat) {
    const twin = kept.findIndex((other) => canJoin(other, shape));
    const other = kept[twin];
    if (other === undefined) kept.push(shape);
    else kept[twin] = join(other, shape);
  }
  if (kept.length <= 1) return kept[0];
  return { anyOf: kept };
}

/** Scalars of one type join, and what differs in nothing but its description. */
function canJoin(a: JsonObject, b: JsonObject): boolean {
  if (a.type !== b.type)
    return a.type === "number" && b.type === "integer" ? true : a.type === "integer" && b.type === "number";
  if (a.type !== "object" && a.type !== "array") return true;
  return JSON.stringify({ ...a, description: 0 }) === JSON.stringify({ ...b, description: 0 });
}

function join(a: JsonObject, b: JsonObject): JsonObject {
  const description = a.description ?? b.description;
  const text = description === undefined ? {} : { description };
  if (a.type === "object" || a.type === "array") return { ...a, ...text };
  if (a.type === "string" && Array.isArray(a.enum) && Array.isArray(b.enum)) {
    const values = [...new Set([...a.enum, ...b.enum])];
    return values.length <= MAX_ENUM_VALUES ? { type: "string", enum: values, ...text } : { type: "string", ...text };
  }
  const type = a.type === b.type ? a.type : "number";
  return isSame(a, b) ? { ...a, ...text } : { type, ...text };
}

function isSame(a: JsonObject, b: JsonObject): boolean {
  return JSON.stringify({ ...a, description: 0 }) === JSON.stringify({ ...b, description: 0 });
}

export function joinProperties(objects: readonly JsonObject[]): JsonObject {
  const shapes = new Map<string, JsonObject[]>();
  for (const { properties } of objects) {
    for (const [name, shape] of Object.entries(properties as JsonObject)) {
      shapes.set(name, [...(shapes.get(name) ?? []), shape as JsonObject]);
    }
  }
  return Object.fromEntries([...shapes].map(([name, all]) => [name, unionOf(all)]));
}

/** Which properties belong together, where the root is a union: no provider takes one there. */
export function choiceInWords(objects: readonly JsonObject[], required: readonly string[]): string | undefined {
  const sets = objects.map((object) => stringsOf(object.required).filter((name) => !required.includes(name)));
  const choices = [...new Set(sets.filter((names) => names.length > 0).map((names) => names.join(" and ")))];
  if (choices.length === 0 || objects.length < 2) return undefined;
  const optional = sets.some((names) => names.length === 0) ? "Optionally give" : "Give";
  return shortText(`${optional} ${choices.join(", or ")}.`, MAX_NOTE_CHARS);
}

export function objectSchema(properties: JsonObject, required: readonly string[]): JsonObject {
  const kept = required.filter((name) => Object.hasOwn(properties, name));
  return { type: "object", properties, ...(kept.length > 0 && { required: kept }) };
}

/** A word for the description of a finished schema, or of the first branch of a union. */
export function withWord(shape: JsonObject, word: string): JsonObject {
  if (Array.isArray(shape.anyOf)) {
    const [first, ...others] = shape.anyOf as JsonObject[];
    return { anyOf: [withWord(first ?? {}, word), ...others] };
  }
  const text =
    typeof shape.description === "string" ? `${shortText(shape.description, MAX_DESCRIPTION_CHARS - 130)} ` : "";
  return { ...shape, description: `${text}(${word})` };
}
