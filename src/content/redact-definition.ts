import type { ConfiguredSecret } from "../config/record.ts";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { Redactor } from "./redact.ts";

/** Members that are words for whoever reads. */
const TEXTS: ReadonlySet<string> = new Set(["title", "description", "$comment"]);

/** Members whose texts a call has to hold as they are. */
const NEEDED: ReadonlySet<string> = new Set(["name", "enum", "const", "required", "$ref", "type", "format", "pattern"]);

/** Names that MCP and JSON Schema give. They give nothing away, and a definition cannot do without. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"],
  ...["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"],
  ...["uri", "uriTemplate", "mimeType", "size", "arguments"],
  ...["$schema", "$id", "$ref", "$defs", "$anchor", "$comment", "definitions", "type", "enum", "const", "default"],
  ...["properties", "required", "additionalProperties", "patternProperties", "propertyNames", "items", "prefixItems"],
  ...["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "format", "pattern", "minimum", "maximum", "examples"],
  ...["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "nullable", "deprecated", "multipleOf"],
]);

const TYPES: ReadonlySet<unknown> = new Set([...["string", "number", "integer", "boolean", "object", "array", "null"]]);

/** Deeper than any honest definition; a deeper one would exhaust the stack. */
const MAX_DEPTH = 200;

/** Shorter values stand in half of all names by chance. */
const MIN_CHARS = 4;
/** `production`: a setting, and as likely the name of a parameter. */
const ORDINARY_WORD = /^[A-Za-z][A-Za-z_-]{0,19}$/;

/** What is taken out of a definition, by what it is taken out of. */
export interface DefinitionRedactors {
  /** For what is read. */
  readonly texts: Redactor;
  /** For values: defaults, examples, whatever a server adds. */
  readonly values: Redactor;
  /** For what a call needs: names of tools and of parameters, and the values these may have. */
  readonly words: Redactor;
}

/** Those to remove from values: an ordinary word only if it is called secret. */
export function valueSecrets(secrets: readonly ConfiguredSecret[]): ConfiguredSecret[] {
  return secrets.filter(({ value, isSecret }) => isLong(value) && (isSecret || !ORDINARY_WORD.test(value.trim())));
}

/** Those to remove from what a call needs: no ordinary word, as `basic` of `AUTH_MODE` is in `basic_search` by chance. */
export function wordSecrets(secrets: readonly ConfiguredSecret[]): ConfiguredSecret[] {
  return secrets.filter(({ value }) => isLong(value) && !ORDINARY_WORD.test(value.trim()));
}

function isLong(value: string): boolean {
  return value.trim().length >= MIN_CHARS;
}

/** The definition of a tool, a prompt or a resource without secrets. The definition itself where there is nothing to remove. */
export function redactDefinition(definition: JsonObject, { texts, values, words }: DefinitionRedactors): JsonObject {
  const json = JSON.stringify(definition);
  if ([texts, values, words].every((redactor) => redactor.text(json) === json)) return definition;
  return copy(definition, undefined, 0) as JsonObject;

  function copy(value: unknown, member: string | undefined, depth: number): unknown {
    const isNeeded = member !== undefined && NEEDED.has(member);
    if (typeof value === "string") {
      if (member !== undefined && TEXTS.has(member)) return texts.text(value);
      if (member === "type" && TYPES.has(value)) return value;
      return (isNeeded ? words : values).text(value);
    }
    if (depth > MAX_DEPTH) return true;
    if (Array.isArray(value)) return value.map((item) => copy(item, member, depth + 1));
    if (!isObject(value)) return (isNeeded ? words : values).json(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        KEYWORDS.has(name) ? name : words.text(name),
        copy(item, name, depth + 1),
      ]),
    );
  }
}
