import type { ConfiguredSecret } from "../config/record.ts";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { Redactor } from "./redact.ts";

/** Members that are words for whoever reads. */
const TEXTS: ReadonlySet<string> = new Set(["title", "description", "$comment"]);

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

/** Those to remove from names and values that a call needs: an ordinary word only if it is called secret. */
export function wordSecrets(secrets: readonly ConfiguredSecret[]): ConfiguredSecret[] {
  return secrets.filter(
    ({ value, isSecret }) => value.trim().length >= MIN_CHARS && (isSecret || !ORDINARY_WORD.test(value.trim())),
  );
}

/**
 * The definition of a tool, a prompt or a resource without secrets. `texts` is for what is read, `words` for what is needed in a call: names of parameters
 * and values they may have. The definition itself where there is nothing to remove.
 */
export function redactDefinition(definition: JsonObject, texts: Redactor, words: Redactor): JsonObject {
  const json = JSON.stringify(definition);
  if (texts.text(json) === json && words.text(json) === json) return definition;
  return copy(definition, undefined, 0) as JsonObject;

  function copy(value: unknown, member: string | undefined, depth: number): unknown {
    if (typeof value === "string") {
      if (member !== undefined && TEXTS.has(member)) return texts.text(value);
      return member === "type" && TYPES.has(value) ? value : words.text(value);
    }
    if (depth > MAX_DEPTH) return true;
    if (Array.isArray(value)) return value.map((item) => copy(item, member, depth + 1));
    if (!isObject(value)) return words.json(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        KEYWORDS.has(name) ? name : words.text(name),
        copy(item, name, depth + 1),
      ]),
    );
  }
}
