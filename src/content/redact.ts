import type { ConfiguredSecret } from "../config/record.ts";
import { isSecretName, REDACTED, redactPatterns } from "./redact-patterns.ts";
import { sanitizeText } from "./sanitize.ts";

/** Removes secrets from what a model, a person or a log is to see. Always before the text is cut. */
export interface Redactor {
  /** The text with each secret replaced by `[REDACTED]`. */
  text(text: string): string;
  /** A copy of a JSON value with its strings and the names of its members redacted, and numbers that are a secret. */
  json<T>(value: T): T;
}

/** Values this long are removed from texts; shorter ones only if their name says that they are secret. */
const MIN_VALUE_CHARS = 4;

/** UTF-8 bytes: of a shorter value base64 leaves too few characters to be told from others. */
const MIN_BASE64_BYTES = 6;

/** No honest value is nested deeper, and a deeper one would exhaust the stack. */
const MAX_DEPTH = 1000;

/**
 * A redactor for the values that are configured for a server (S1-15, S1-63); in the mode `patterns` it also removes
 * what merely looks like a secret (S1-17). A value is found as it is, without the white space around it, sanitised, in the
 * forms it takes inside JSON, addresses and forms, and in the base64 of any of these, also of a text around it.
 */
export function createRedactor(secrets: readonly ConfiguredSecret[], mode: "patterns" | "values"): Redactor {
  const needles = needlesOf(secrets);
  // Most numbers that equal a configured value are a port or a limit, and a mark in their place would spoil them: only
  // long secrets are looked for.
  const numbers = new Set(
    secrets.flatMap(({ value, isSecret }) => (isSecret && value.length >= MIN_VALUE_CHARS ? [value.trim()] : [])),
  );

  function redact(text: string): string {
    const redacted = redactValues(text, needles);
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

/** Everything to look for, the longest first. */
function needlesOf(secrets: readonly ConfiguredSecret[]): string[] {
  const needles = new Set<string>();
  for (const { value, isSecret } of secrets) {
    const minimum = isSecret ? 1 : MIN_VALUE_CHARS;
    for (const form of formsOf(value)) if (form.length >= minimum) needles.add(form);
  }
  return [...needles].sort((a, b) => b.length - a.length);
}

function formsOf(value: string): string[] {
  const forms = new Set([value, value.trim(), sanitizeText(value)]);
  for (const plain of [...forms]) {
    const json = JSON.stringify(plain).slice(1, -1);
    forms.add(json);
    // A JSON text inside a JSON text.
    forms.add(JSON.stringify(json).slice(1, -1));
    // Other writers escape the slash, or everything that is not ASCII.
    forms.add(json.replaceAll("/", "\\/"));
    const ascii = json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    forms.add(ascii);
    forms.add(ascii.replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`));
    for (const encoded of inAddresses(plain)) {
      forms.add(encoded);
      forms.add(encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()));
    }
  }
  return [...forms, ...[...forms].flatMap(inBase64)];
}

/** As a part of an address, and as a value of a form, which differ in blanks and a few signs. */
function inAddresses(text: string): string[] {
  try {
    return [encodeURIComponent(text), new URLSearchParams([["", text]]).toString().slice(1)];
  } catch {
    // Half of a surrogate pair: no address can hold it.
    return [];
  }
}

/**
 * What of its base64 is the same wherever it stands in an encoded text: three bytes become four characters, so there are
 * three ways to begin, and the first and last characters may be shared with what is around it.
 */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length < MIN_BASE64_BYTES) return [];
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const [start, end] = [Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6)];
    return [all.toString("base64").slice(start, end), all.toString("base64url").slice(start, end)];
  });
}

/**
 * Finds all values in the text as it is and only then replaces, so that values which overlap or contain each other are
 * covered to the last character, and no value is found inside a mark.
 */
function redactValues(text: string, needles: readonly string[]): string {
  let covered: Uint8Array | undefined;
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
      covered ??= new Uint8Array(text.length);
      covered.fill(1, at, at + needle.length);
    }
  }
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
