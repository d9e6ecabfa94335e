import { isObject } from "../is-object.ts";
import type { JsonObject } from "./types.ts";

/** Which arguments of a tool are repeated as headers: `Mcp-Param-<header>` from the property at `path`. */
export type Mirror = readonly { readonly header: string; readonly path: readonly string[] }[];

const ANNOTATION = "x-mcp-header";
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MIRRORED_TYPES = new Set(["string", "integer", "boolean"]);
/** Deeper schemas are nobody's. */
const MAX_DEPTH = 32;

/**
 * Reads the `x-mcp-header` annotations of an input schema (2026-07-28, transports, custom headers). A tool whose
 * annotations are wrong must not be offered at all: then the reason is returned as text.
 */
export function readMirror(schema: JsonObject): Mirror | string {
  const found: { header: string; path: readonly string[] }[] = [];
  const problem = collect(schema, [], true, found, 0);
  if (problem !== undefined) return problem;
  const names = new Set(found.map(({ header }) => header.toLowerCase()));
  return names.size === found.length ? found : `two properties share one ${ANNOTATION}`;
}

/** Walks all of a schema; `reachable` while only `properties` have been passed. */
function collect(
  schema: unknown,
  path: readonly string[],
  reachable: boolean,
  found: { header: string; path: readonly string[] }[],
  depth: number,
): string | undefined {
  if (depth > MAX_DEPTH) return "its schema is nested too deeply";
  if (Array.isArray(schema)) {
    return first(schema, (item) => collect(item, path, false, found, depth + 1));
  }
  if (!isObject(schema)) return undefined;
  if (ANNOTATION in schema) {
    const header = schema[ANNOTATION];
    const where = path.length === 0 ? "its root" : JSON.stringify(path.join("."));
    if (!reachable || path.length === 0) return `${ANNOTATION} at ${where} is not on a plain property`;
    if (typeof header !== "string" || !TOKEN.test(header)) return `${ANNOTATION} at ${where} is no header name`;
    if (!MIRRORED_TYPES.has(schema.type as string))
      return `${ANNOTATION} at ${where} is on a type that has no header form`;
    found.push({ header, path });
  }
  return first(Object.entries(schema), ([key, value]) => {
    if (key === "default" || key === "const" || key === "enum" || key === "examples") return undefined;
    if (key !== "properties" || !isObject(value)) return collect(value, path, false, found, depth + 1);
    return first(Object.entries(value), ([name, property]) =>
      collect(property, [...path, name], reachable, found, depth + 1),
    );
  });
}

function first<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The headers for one call's arguments; absent and null ones have none. */
export function mirrorHeaders(mirror: Mirror, args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of mirror) {
    const value = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), args);
    if (typeof value === "string" || typeof value === "boolean" || Number.isInteger(value)) {
      headers[`mcp-param-${header}`] = headerValue(String(value));
    }
  }
  return headers;
}

/** A value as a header: as it is, or in base64 between marks where a header cannot carry it. */
export function headerValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) || value === "";
  if (plain && !/^=\?base64\?.*\?=$/i.test(value)) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
