import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { resolveLocal } from "./local-reference.ts";

export type JsonType = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** What people write who mean a type of JSON. */
const TYPES: ReadonlyMap<string, JsonType> = new Map([
  ["string", "string"],
  ["str", "string"],
  ["text", "string"],
  ["number", "number"],
  ["float", "number"],
  ["double", "number"],
  ["decimal", "number"],
  ["integer", "integer"],
  ["int", "integer"],
  ["long", "integer"],
  ["boolean", "boolean"],
  ["bool", "boolean"],
  ["object", "object"],
  ["dict", "object"],
  ["map", "object"],
  ["array", "array"],
  ["list", "array"],
  ["null", "null"],
  ["none", "null"],
]);

/** Keywords that say something about values of one type only: where `type` is missing, they tell it. */
const IMPLIED: readonly (readonly [JsonType, readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties", "propertyNames"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]],
  ["string", ["pattern", "format", "minLength", "maxLength"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

/** The types a schema names itself; `undefined` if it names none, or one that nobody knows: then it allows all. */
export function statedTypes({ type }: JsonObject): readonly JsonType[] | undefined {
  const names = Array.isArray(type) ? type : [type];
  const types = names.map((name) => (typeof name === "string" ? TYPES.get(name.toLowerCase()) : undefined));
  if (types.length === 0 || types.includes(undefined)) return undefined;
  return [...new Set(types)] as JsonType[];
}

/** The type a schema without one is meant for. A guess, for whoever has to name one. */
export function impliedType(schema: JsonObject): JsonType | undefined {
  return IMPLIED.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0];
}

export function typeOfValue(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? (typeof value as JsonType) : "object";
}

/** Whether a value of the one type is a value of the other: whole numbers are numbers. */
export function isOfType(value: JsonType, type: JsonType): boolean {
  return value === type || (value === "integer" && type === "number");
}

/** Finds what a `$ref` points at, inside the same document only: nothing is ever fetched. */
export type ResolveRef = (ref: string) => unknown;

/** Anchors are collected once, and no deeper than an honest schema goes. */
const MAX_ANCHOR_DEPTH = 64;
const MAX_ANCHOR_NODES = 20_000;

export function createResolver(root: JsonObject): ResolveRef {
  const anchors = new Map<string, unknown>();
  let nodes = 0;
  const collect = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > MAX_ANCHOR_DEPTH || ++nodes > MAX_ANCHOR_NODES) return;
    if (isObject(value)) {
      for (const keyword of ["$anchor", "$dynamicAnchor"]) {
        const name = value[keyword];
        if (typeof name === "string" && !anchors.has(`#${name}`)) anchors.set(`#${name}`, value);
      }
      for (const keyword of ["$id", "id"]) {
        const name = value[keyword];
        if (typeof name === "string" && !anchors.has(name)) anchors.set(name, value);
      }
    }
    for (const item of Object.values(value)) collect(item, depth + 1);
  };
  return (ref) => {
    if (ref === "#" || ref.startsWith("#/")) return resolveLocal(ref, root);
    if (nodes === 0) collect(root, 0);
    const hash = ref.indexOf("#");
    if (hash <= 0) return anchors.get(ref);
    const base = anchors.get(ref.slice(0, hash));
    const rest = ref.slice(hash);
    if (rest !== "#" && !rest.startsWith("#/")) return anchors.get(rest);
    return isObject(base) ? resolveLocal(rest, base) : undefined;
  };
}
