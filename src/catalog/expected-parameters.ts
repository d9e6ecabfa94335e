import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { ArgumentCheck } from "./argument-check.ts";
import { shortJson, shortText, stringsOf } from "./json-value.ts";
import { providerSchema } from "./provider-schema.ts";
import { statedTypes } from "./schema-types.ts";

const MAX_LINES = 24;
const MAX_TYPE_CHARS = 160;
const MAX_DESCRIPTION_CHARS = 100;
const MAX_CALL_CHARS = 1_000;
/** Fields of a field are named as well; what lies deeper is `object`. */
const MAX_DEPTH = 2;
const MAX_EXAMPLE_DEPTH = 6;

/** The parameters of a tool, one a line, those it must have first: `path: string – Where to look`, `limit?: integer`. */
export function expectedParameters(original: JsonObject): string {
  const { schema, notes } = providerSchema(original);
  const properties = Object.entries(schema.properties as Record<string, JsonObject>);
  const required = stringsOf(schema.required);
  const sorted = properties.sort(([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)));
  const lines = sorted.slice(0, MAX_LINES).map(([name, part]) => {
    const type = shortText(typeText(part, 0), MAX_TYPE_CHARS);
    const description = firstDescription(part).replace(/\s+/g, " ").trim();
    const text = description === "" ? "" : ` – ${shortText(description, MAX_DESCRIPTION_CHARS)}`;
    return `  ${name}${required.includes(name) ? "" : "?"}: ${type}${text}`;
  });
  if (sorted.length > lines.length) lines.push(`  … and ${sorted.length - lines.length} more`);
  if (lines.length === 0) lines.push("  none");
  return [
    "Expected parameters:",
    ...lines,
    ...notes.slice(-1).filter((note) => /^(Optionally g|G)ive /.test(note)),
  ].join("\n");
}

function firstDescription(part: JsonObject): string {
  const own =
    part.description ?? (part.anyOf as JsonObject[] | undefined)?.find(({ description }) => description)?.description;
  return typeof own === "string" ? own : "";
}

/** A finished schema as a TypeScript type. */
function typeText(part: JsonObject, depth: number): string {
  if (Array.isArray(part.anyOf)) return part.anyOf.map((branch) => typeText(branch as JsonObject, depth)).join(" | ");
  if (Array.isArray(part.enum)) return part.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (part.type === "array") {
    const items = isObject(part.items) ? typeText(part.items, depth) : "any";
    return items.includes(" | ") ? `(${items})[]` : `${items}[]`;
  }
  if (part.type !== "object") return String(part.type);
  const fields = Object.entries(part.properties as Record<string, JsonObject>);
  if (fields.length === 0 || depth >= MAX_DEPTH) return "object";
  const required = stringsOf(part.required);
  return `{${fields.map(([name, field]) => `${name}${required.includes(name) ? "" : "?"}: ${typeText(field, depth + 1)}`).join(", ")}}`;
}

/**
 * The call that is nearest to what was tried and fits the schema: what was right stays, what was wrong is replaced by a
 * default, a first choice or a stand-in, what is not allowed is left out. `undefined` where none is found.
 */
export function nearestCall(args: JsonObject, check: ArgumentCheck): string | undefined {
  const near = fitted(args, check.schema, check, 0);
  if (!isObject(near) || !check.accepts(near)) return undefined;
  const text = shortJson(near, MAX_CALL_CHARS + 1);
  return text.length > MAX_CALL_CHARS ? undefined : text;
}

function fitted(value: unknown, part: unknown, check: ArgumentCheck, depth: number, name = "value"): unknown {
  if (value !== undefined && check.accepts(value, part)) return value;
  const found = check.follow(part);
  if (!isObject(found) || depth > MAX_EXAMPLE_DEPTH) return undefined;
  const stated = [found.default, found.const, ...listOf(found.enum), ...listOf(found.examples)];
  const given = stated.find((candidate) => candidate !== undefined && check.accepts(candidate, part));
  if (given !== undefined) return given;
  for (const branch of [...listOf(found.anyOf), ...listOf(found.oneOf)]) {
    // What stands beside a union counts in each branch.
    const candidate = fitted(value, branch, check, depth + 1, name);
    const whole = isObject(candidate) ? object(candidate, found, check, depth) : candidate;
    if (whole !== undefined && check.accepts(whole, part)) return whole;
  }
  const type = statedTypes(found)?.[0] ?? (isObject(value) || found.properties !== undefined ? "object" : undefined);
  switch (type) {
    case "string":
      return standIn(name, found);
    case "integer":
    case "number":
      return [found.minimum, found.maximum, 1].find((bound) => typeof bound === "number" && check.accepts(bound, part));
    case "boolean":
      return true;
    case "array":
      return [
        fitted(undefined, found.items ?? listOf(found.prefixItems)[0] ?? true, check, depth + 1, name) ?? `<${name}>`,
      ];
    case "object":
      return object(isObject(value) ? value : {}, found, check, depth);
    default:
      return type === "null" ? null : undefined;
  }
}

function object(value: JsonObject, part: JsonObject, check: ArgumentCheck, depth: number): JsonObject {
  const properties = isObject(part.properties) ? part.properties : {};
  const required = stringsOf(part.required);
  const kept = Object.entries(value).flatMap(([key, item]) => {
    if (!Object.hasOwn(properties, key)) return part.additionalProperties === false ? [] : [[key, item] as const];
    if (check.accepts(item, properties[key])) return [[key, item] as const];
    const instead = fitted(item, properties[key], check, depth + 1, key);
    return instead === undefined ? [] : [[key, instead] as const];
  });
  const there = new Set(kept.map(([key]) => key));
  const added = required
    .filter((key) => !there.has(key))
    .map((key) => [key, fitted(undefined, properties[key] ?? true, check, depth + 1, key) ?? `<${key}>`] as const);
  return Object.fromEntries([...kept, ...added]);
}

function standIn(name: string, { minLength, maxLength }: JsonObject): string {
  const text = `<${name}>`;
  const long = typeof minLength === "number" && minLength <= 100 ? text.padEnd(minLength, "…") : text;
  return typeof maxLength === "number" ? long.slice(0, maxLength) : long;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 20) : [];
}
