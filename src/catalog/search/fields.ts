import { isObject } from "../../is-object.ts";
import type { JsonObject, ToolDefinition } from "../../protocol/types.ts";
import { resolveLocal } from "../local-reference.ts";

/** A server as far as searching its tools needs it. */
export interface ServerFacts {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly instructions?: string;
}

/** What a server says of itself, apart. */
export type ServerTexts = Readonly<Record<"name" | "title" | "description" | "instructions", string>>;

/** The texts of a tool, apart, since a word in its name says more than one in the notes on a parameter. */
export interface ToolTexts {
  readonly name: string;
  readonly title: string;
  /** The first sentence of the description. */
  readonly lead: string;
  /** Names of parameters, also of nested ones. */
  readonly parameters: string;
  /** What follows the first sentence. */
  readonly rest: string;
  readonly parameterDocs: string;
  /** Values a parameter may have. */
  readonly values: string;
}

/** From what says most to what says least; a tool's bound on terms is used up in this order. */
export const TOOL_FIELDS: readonly (keyof ToolTexts)[] = [
  "name",
  "title",
  "lead",
  "parameters",
  "rest",
  "parameterDocs",
  "values",
];

/** Characters of one field that are looked at; what comes later hardly says what the tool is for. */
export const MAX_FIELD_CHARS = 3_000;
/** Schemas looked at in one tool, counting every property and variant, and how deep. */
const MAX_SCHEMAS = 400;
const MAX_DEPTH = 8;
/** Values looked at of one list. */
const MAX_VALUES = 50;
/** A first sentence that is longer is no summary. */
const MAX_LEAD_CHARS = 300;

export function serverTexts(server: ServerFacts): ServerTexts {
  const { name, title = "", description = "", instructions = "" } = server;
  return { name, title, description, instructions };
}

export function toolTexts(tool: ToolDefinition): ToolTexts {
  const description = (tool.description ?? "").slice(0, MAX_FIELD_CHARS).trimStart();
  const lead = leadOf(description);
  const found: Collected = { names: textList(), docs: textList(), values: textList(), left: MAX_SCHEMAS };
  collect(tool.inputSchema, tool.inputSchema, found, 0, new Set());
  return {
    name: tool.name,
    title: tool.title ?? tool.annotations.title ?? "",
    lead,
    rest: description.slice(lead.length),
    parameters: found.names.texts.join(" "),
    parameterDocs: found.docs.texts.join(" "),
    values: found.values.texts.join(" "),
  };
}

/** Up to the first end of a sentence or of a paragraph. */
function leadOf(text: string): string {
  const end = Math.min(text.length, MAX_LEAD_CHARS);
  for (let at = 0; at < end; at++) {
    const letter = text[at];
    if (letter === "。" || (letter === "\n" && at > 0)) return text.slice(0, at + 1);
    const next = text[at + 1];
    if (letter === "." && (next === undefined || next === " " || next === "\n")) return text.slice(0, at + 1);
  }
  return text.slice(0, end);
}

interface TextList {
  readonly texts: string[];
  /** Characters that may still be kept. */
  left: number;
}

interface Collected {
  readonly names: TextList;
  readonly docs: TextList;
  readonly values: TextList;
  /** Schemas that may still be looked at. */
  left: number;
}

function textList(): TextList {
  return { texts: [], left: MAX_FIELD_CHARS };
}

function keep(list: TextList, text: string): void {
  if (list.left <= 0) return;
  list.texts.push(text.slice(0, list.left));
  list.left -= text.length + 1;
}

/** Follows local references, each once. */
function collect(schema: unknown, root: JsonObject, found: Collected, depth: number, seen: Set<unknown>): void {
  if (!isObject(schema) || depth > MAX_DEPTH || found.left <= 0 || seen.has(schema)) return;
  found.left--;
  seen.add(schema);
  if (typeof schema.$ref === "string") collect(resolveLocal(schema.$ref, root), root, found, depth + 1, seen);
  if (depth > 0) {
    if (typeof schema.title === "string") keep(found.docs, schema.title);
    if (typeof schema.description === "string") keep(found.docs, schema.description);
  }
  if (Array.isArray(schema.enum)) {
    for (const value of schema.enum.slice(0, MAX_VALUES)) {
      if (typeof value === "string") keep(found.values, value);
    }
  }
  if (typeof schema.const === "string") keep(found.values, schema.const);
  if (isObject(schema.properties)) {
    for (const name in schema.properties) {
      if (found.left <= 0) break;
      if (!Object.hasOwn(schema.properties, name)) continue;
      keep(found.names, name);
      collect(schema.properties[name], root, found, depth + 1, seen);
    }
  }
  collect(schema.items, root, found, depth + 1, seen);
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const variants = schema[key];
    if (!Array.isArray(variants)) continue;
    for (const variant of variants) {
      if (found.left <= 0) break;
      collect(variant, root, found, depth + 1, seen);
    }
  }
}
