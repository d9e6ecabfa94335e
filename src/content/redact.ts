import type { ConfiguredSecret } from "../config/record.ts";
import { createValueSearch, type ValueSearch } from "./find-values.ts";
import { isSecretName, REDACTED, redactPatterns } from "./redact-patterns.ts";

/** Removes secrets from what a model, a person or a log is to see. Always before the text is cut. */
export interface Redactor {
  /** The text with each secret replaced by `[REDACTED]`. */
  text(text: string): string;
  /** A copy of a JSON value with its strings and the names of its members redacted, and numbers that are a secret. */
  json<T>(value: T): T;
}

/** Values this long are removed from texts; shorter ones only if their name says that they are secret. */
const MIN_VALUE_CHARS = 4;

/** No honest value is nested deeper, and a deeper one would exhaust the stack. */
const MAX_DEPTH = 1000;

/**
 * A redactor for the values that are configured for a server (S1-15, S1-63); in the mode `patterns` it also removes
 * what merely looks like a secret (S1-17).
 */
export function createRedactor(secrets: readonly ConfiguredSecret[], mode: "patterns" | "values"): Redactor {
  const values = secrets.flatMap(({ value, isSecret }) => (isSecret || value.length >= MIN_VALUE_CHARS ? value : []));
  const search = createValueSearch(values);
  // Most numbers that equal a configured value are a port or a limit, and a mark in their place would spoil them: only
  // long secrets are looked for.
  const numbers = new Set(
    secrets.flatMap(({ value, isSecret }) => (isSecret && value.length >= MIN_VALUE_CHARS ? [value.trim()] : [])),
  );

  function redact(text: string): string {
    const redacted = redactValues(text, search);
    return mode === "patterns" ? redactPatterns(redacted) : redacted;
  }

  function copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return redact(value);
    if (typeof value === "number") return numbers.has(String(value)) ? REDACTED : value;
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return REDACTED;
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    return copyMembers(value, depth + 1);
  }

  /** Names that become the same are told apart by a number. */
  function copyMembers(value: object, depth: number): object {
    const members = new Map<string, unknown>();
    let serial = 1;
    for (const [name, item] of Object.entries(value)) {
      const redacted = redact(name);
      let free = redacted;
      while (members.has(free)) free = `${redacted} ${++serial}`;
      // As in a text that holds the same as JSON.
      const isSecret = mode === "patterns" && isSecretName(name) && /^(?:string|number)$/.test(typeof item);
      members.set(free, isSecret ? REDACTED : copy(item, depth));
    }
    return Object.fromEntries(members);
  }

  return { text: redact, json: (value) => copy(value, 0) as typeof value };
}

/**
 * Finds all values in the text as it is and only then replaces, so that values which overlap or contain each other are
 * covered to the last character, and no value is found inside a mark.
 */
function redactValues(text: string, search: ValueSearch): string {
  let covered: Uint8Array | undefined;
  search(text, (start, end) => {
    covered ??= new Uint8Array(text.length);
    covered.fill(1, start, end);
  });
  if (covered === undefined) return text;
  for (let at = text.indexOf(REDACTED); at !== -1; at = text.indexOf(REDACTED, at + REDACTED.length)) {
    covered.fill(0, at, at + REDACTED.length);
  }
  let out = "";
  let at = 0;
  while (at < text.length) {
    const start = covered.indexOf(1, at);
    if (start === -1) break;
    const end = covered.indexOf(0, start);
    out += text.slice(at, start) + REDACTED;
    at = end === -1 ? text.length : end;
  }
  return out + text.slice(at);
}
