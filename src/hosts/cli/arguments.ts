import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { ArgumentsError, inexactNumber, parseArguments } from "../../tools/arguments.ts";

/** `{"a": 1}` as one word, or words like `a=1`. */
export type CallWords =
  | { readonly kind: "object"; readonly args: JsonObject | undefined }
  | { readonly kind: "pairs"; readonly pairs: readonly (readonly [key: string, text: string])[] };

/** Reads the words after the tool's name. Throws ArgumentsError before any server is started. */
export function readCallWords(words: readonly string[]): CallWords {
  const [first = "", ...more] = words;
  if (more.length === 0 && (first.trim() === "" || isJson(first))) {
    return { kind: "object", args: parseArguments(first, "the arguments") };
  }
  return { kind: "pairs", pairs: words.map(readPair) };
}

/** Whether the word is meant as JSON: no tool's argument has a name that begins like this. */
function isJson(word: string): boolean {
  return /^\s*[[{"]/.test(word);
}

function readPair(word: string): readonly [string, string] {
  if (isJson(word))
    throw new ArgumentsError(`arguments as JSON must be one word, in quotes, and the only one: \`${word}\``);
  const at = word.indexOf("=");
  if (at <= 0) throw new ArgumentsError(`the argument \`${word}\` is neither JSON nor key=value`);
  return [word.slice(0, at), word.slice(at + 1)];
}

/**
 * Gives each text the type the tool's schema states; without a statement, JSON where it is JSON and text otherwise. What is of
 * no such type stays a text: it is mended, or refused by the server, as what a model writes.
 */
export function argumentsFromPairs(pairs: readonly (readonly [string, string])[], schema: JsonObject): JsonObject {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject | undefined>;
  return Object.fromEntries(pairs.map(([key, text]) => [key, typed(key, text, properties[key]?.type)]));
}

function typed(key: string, text: string, type: unknown): unknown {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (types.length === 1 && types[0] === "string") return text;
  const value = parsed(text);
  if (types.length === 0) return value === undefined ? text : value;
  if (value !== undefined && types.some((name) => isOfType(value, name))) return value;
  if (types.includes("string") || inexactNumber(text) !== text) return text;
  const why = `must be of type ${types.join(" or ")}, not \`${text}\`, which is too large to be sent unchanged`;
  throw new ArgumentsError(`\`${key}\` ${why}`);
}

/** `undefined` also for JSON that would not arrive as it was written. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return inexactNumber(text) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}
