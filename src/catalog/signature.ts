import { isObject } from "../is-object.ts";
import type { JsonObject, ToolDefinition } from "../protocol/types.ts";
import { resolveLocal } from "./local-reference.ts";

export interface SignatureOptions {
  /** At most so many characters (UTF-16 units) in all; at least 80 are always allowed. 500 unless given. */
  readonly maxChars?: number;
  /** At most so many characters of the description's first sentence; 0 for none. 120 unless given. */
  readonly descriptionChars?: number;
  /** At most so many characters of what each required parameter says of itself. 0, none, unless given. */
  readonly parameterDocChars?: number;
}

const DEFAULT_CHARS = 500;
const LEAST_CHARS = 80;
const DEFAULT_DESCRIPTION_CHARS = 120;
/** No model takes a name that is longer; a server may give one. */
const NAME_CHARS = 64;
const VALUE_CHARS = 40;
const DEFAULT_VALUE_CHARS = 30;
/** A parameter that is longer is shown with less of what is inside it. */
const PARAMETER_CHARS = 160;
const MAX_VALUES = 8;
const VALUES_CHARS = 120;
const MAX_VARIANTS = 4;
/** There are seven. */
const MAX_TYPES = 7;
const MAX_INNER = 8;
/** How many objects deep a parameter is shown. */
const MAX_DEPTH = 2;
/** Schemas looked at for one tool; a model that needs more asks for the schema itself. */
const MAX_SCHEMAS = 500;
const CUT = "…";

/** What is needed on the way down, and how much may still be looked at. */
interface Reading {
  readonly root: JsonObject;
  left: number;
  /** Each object's members are read once, however often it is referred to. */
  readonly members: Map<JsonObject, Members>;
}

/**
 * A tool in one line, as TypeScript would write it:
 * `read_file(path: string, encoding?: "utf8"|"base64" = "utf8") // Reads a file.` Required parameters come first, in the
 * server's order; whole numbers are `integer`; what does not fit is counted (`…+3`).
 *
 * The line holds no line break and no control character, whatever the server wrote. Characters that people cannot see
 * are left in: whoever shows the line cleans it, as any text of a server.
 */
export function toolSignature(tool: ToolDefinition, options: SignatureOptions = {}): string {
  const room = Math.max(options.maxChars ?? DEFAULT_CHARS, LEAST_CHARS);
  const name = nameOf(tool.name);
  const lead = firstSentence(tool.description ?? "", options.descriptionChars ?? DEFAULT_DESCRIPTION_CHARS);
  const reading: Reading = { root: tool.inputSchema, left: MAX_SCHEMAS, members: new Map() };
  const all = parametersOf(tool.inputSchema, reading, options.parameterDocChars ?? 0);
  // Of both the parameters matter more, but a word of what the tool does is left.
  const forDescription = Math.min(lead.length, Math.max(0, room - name.length - 2 - 4 - joined(all, room).length));
  const description = lead === "" ? "" : ` // ${cut(lead, Math.max(forDescription, Math.min(lead.length, 20)))}`;
  const line = `${name}(${joined(all, room - name.length - 2 - description.length)})${description}`;
  // Only a name that is all line ends, written out, is so long.
  return cut(line, room);
}

interface Parameters {
  readonly texts: readonly string[];
  /** How many more there are. */
  readonly more: number;
}

/** As many as fit, and how many did not. */
function joined({ texts, more }: Parameters, room: number): string {
  let line = "";
  for (const [at, text] of texts.entries()) {
    const next = line === "" ? text : `${line}, ${text}`;
    const left = texts.length - at - 1 + more;
    const note = left > 0 ? `, ${CUT}+${left}` : "";
    if (next.length + note.length > room) return `${line}${line === "" ? "" : ", "}${CUT}+${left + 1}`;
    line = next;
  }
  return more > 0 ? `${line}${line === "" ? "" : ", "}${CUT}+${more}` : line;
}

function parametersOf(schema: JsonObject, reading: Reading, docChars: number): Parameters {
  const { properties, required } = membersOf(schema, reading);
  if (properties.size === 0) {
    const whole = typeOf(schema, reading, MAX_DEPTH);
    return { texts: whole === "object" || whole === "any" ? [] : [cut(whole, PARAMETER_CHARS)], more: 0 };
  }
  const names = [...properties.keys()];
  const inOrder = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const texts: string[] = [];
  for (const name of inOrder) {
    if (reading.left <= 0) break;
    const isRequired = required.has(name);
    const inner = properties.get(name);
    const doc = isRequired && docChars > 0 && isObject(inner) ? firstSentence(textOf(inner.description), docChars) : "";
    texts.push(`${memberOf(name, inner, isRequired, reading, MAX_DEPTH)}${doc === "" ? "" : ` /* ${doc} */`}`);
  }
  return { texts, more: inOrder.length - texts.length };
}

interface Members {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

/** Those of the schema itself, of what it refers to, and of all it is made of (`allOf`). */
function membersOf(schema: JsonObject, reading: Reading): Members {
  const known = reading.members.get(schema);
  if (known !== undefined) return known;
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  const seen = new Set<unknown>();
  const take = (one: unknown): void => {
    if (!isObject(one) || seen.has(one) || reading.left <= 0) return;
    seen.add(one);
    reading.left--;
    if (isObject(one.properties)) {
      for (const [name, inner] of Object.entries(one.properties)) properties.set(name, inner);
    }
    if (Array.isArray(one.required)) {
      for (const name of one.required) {
        if (typeof name !== "string") continue;
        required.add(name);
        if (!properties.has(name)) properties.set(name, true);
      }
    }
    if (typeof one.$ref === "string") take(resolveLocal(one.$ref, reading.root));
    if (Array.isArray(one.allOf)) for (const part of one.allOf) take(part);
  };
  take(schema);
  const members = { properties, required };
  reading.members.set(schema, members);
  return members;
}

/** `name?: type = default`; with less of what is inside when that is too long. */
function memberOf(name: string, schema: unknown, isRequired: boolean, reading: Reading, depth: number): string {
  const shown = nameOf(name);
  const mark = isRequired ? "" : "?";
  const preset = isObject(schema) && Object.hasOwn(schema, "default") ? defaultOf(schema.default) : "";
  let text = "";
  for (let inside = depth; inside >= 0; inside--) {
    text = `${shown}${mark}: ${typeOf(schema, reading, inside)}${preset}`;
    if (text.length <= PARAMETER_CHARS) return text;
  }
  return cut(text, PARAMETER_CHARS);
}

function defaultOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "object") return "";
  const text = literalOf(value);
  return text.length > DEFAULT_VALUE_CHARS ? "" : ` = ${text}`;
}

function typeOf(schema: unknown, reading: Reading, depth: number): string {
  if (schema === false) return "never";
  if (!isObject(schema) || reading.left <= 0) return "any";
  reading.left--;
  const type = bareTypeOf(schema, reading, depth);
  return schema.nullable === true && !type.endsWith("null") ? `${type}|null` : type;
}

function bareTypeOf(schema: JsonObject, reading: Reading, depth: number): string {
  if (Object.hasOwn(schema, "const")) return literalOf(schema.const);
  if (Array.isArray(schema.enum)) return choiceOf(schema.enum);
  if (typeof schema.$ref === "string") return referredType(schema.$ref, reading, depth);
  const variants = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(variants)) return unionOf(variants, reading, depth);
  if (Array.isArray(schema.type)) {
    return unionOf(
      schema.type.slice(0, MAX_TYPES).map((type) => ({ ...schema, type })),
      reading,
      depth,
    );
  }
  switch (schema.type) {
    case "string":
      return typeof schema.format === "string" && isPlain(schema.format) ? `string<${schema.format}>` : "string";
    case "integer":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    case "array":
      return arrayOf(schema, reading, depth);
    case "object":
      return objectOf(schema, reading, depth);
  }
  if (isObject(schema.properties) || Array.isArray(schema.allOf)) return objectOf(schema, reading, depth);
  return schema.items === undefined ? "any" : arrayOf(schema, reading, depth);
}

function referredType(reference: string, reading: Reading, depth: number): string {
  const target = resolveLocal(reference, reading.root);
  // One less, or one that leads to itself would be followed for ever.
  if (target !== undefined && depth > 0) return typeOf(target, reading, depth - 1);
  return isObject(target) && typeof target.type === "string" && isPlain(target.type) ? target.type : "any";
}

function choiceOf(values: readonly unknown[]): string {
  let shown = "";
  for (const [at, value] of values.entries()) {
    const next = shown === "" ? literalOf(value) : `${shown}|${literalOf(value)}`;
    if (at >= MAX_VALUES || next.length > VALUES_CHARS) return `${shown}|${CUT}+${values.length - at}`;
    shown = next;
  }
  return shown || "never";
}

function unionOf(variants: readonly unknown[], reading: Reading, depth: number): string {
  const types = new Set(variants.slice(0, MAX_VARIANTS).map((variant) => typeOf(variant, reading, depth)));
  if (variants.length > MAX_VARIANTS) types.add(`${CUT}+${variants.length - MAX_VARIANTS}`);
  return [...types].join("|") || "any";
}

function arrayOf(schema: JsonObject, reading: Reading, depth: number): string {
  const places = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
  if (Array.isArray(places)) {
    const shown = places.slice(0, MAX_VARIANTS).map((place) => typeOf(place, reading, depth));
    if (places.length > MAX_VARIANTS) shown.push(`${CUT}+${places.length - MAX_VARIANTS}`);
    return `[${shown.join(", ")}]`;
  }
  const inner = typeOf(places, reading, depth);
  return inner.includes("|") && !inner.startsWith("{") ? `(${inner})[]` : `${inner}[]`;
}

function objectOf(schema: JsonObject, reading: Reading, depth: number): string {
  if (depth <= 0) return "object";
  const { properties, required } = membersOf(schema, reading);
  if (properties.size === 0) {
    const others = schema.additionalProperties;
    return isObject(others) && Object.keys(others).length > 0
      ? `Record<string, ${typeOf(others, reading, depth - 1)}>`
      : "object";
  }
  const names = [...properties.keys()];
  const inOrder = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const shown = inOrder
    .slice(0, MAX_INNER)
    .map((name) => memberOf(name, properties.get(name), required.has(name), reading, depth - 1));
  if (inOrder.length > MAX_INNER) shown.push(`${CUT}+${inOrder.length - MAX_INNER}`);
  return `{${shown.join(", ")}}`;
}

function literalOf(value: unknown): string {
  if (typeof value === "string") return quoted(value, VALUE_CHARS);
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "[…]" : "{…}";
}

/** As it is where it is made of letters, digits and what names are joined with; else in quotes. */
function nameOf(name: string): string {
  return isPlain(name) ? name : quoted(name, NAME_CHARS);
}

function isPlain(name: string): boolean {
  if (name === "" || name.length > NAME_CHARS) return false;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
    if (!isLetter && !(code >= 48 && code <= 57) && !"_-./$@".includes(name[at] ?? "")) return false;
  }
  return true;
}

function quoted(text: string, chars: number): string {
  return oneLine(JSON.stringify(cut(text, chars)));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The first sentence, or as much of it as there is room for. */
function firstSentence(text: string, chars: number): string {
  if (chars <= 0) return "";
  // Whatever is cut off later, this is enough to find the end of a sentence in.
  const line = oneLine(text.slice(0, chars * 4 + 100)).trim();
  const ends = [line.indexOf(". "), line.indexOf("。")].filter((end) => end >= 0);
  return cut(ends.length > 0 ? line.slice(0, Math.min(...ends) + 1) : line, chars);
}

/** Control characters and line ends as single spaces. */
function oneLine(text: string): string {
  let line = "";
  let space = false;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    if (code <= 0x20 || (code >= 0x7f && code <= 0xa0) || code === 0x2028 || code === 0x2029) {
      space = true;
      continue;
    }
    if (space && line !== "") line += " ";
    space = false;
    line += letter;
  }
  return line;
}

/** At most so many characters, with a mark in place of the rest; never half of a pair of surrogates. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  if (chars <= 0) return "";
  let end = chars - 1;
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end--;
  return `${text.slice(0, end)}${CUT}`;
}
