import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";

/** Arguments that cannot be sent, in words a model can act on. */
export class ArgumentsError extends Error {
  override readonly name = "ArgumentsError";
}

/**
 * The arguments of a tool call as a model or a shell wrote them: an object, or a JSON string that holds one [S1-21, S1-22].
 * Absent, null and blank mean no arguments. Anything else is refused before anything is sent [S1-23].
 */
export function parseArguments(value: unknown, label = "mcp call `args`"): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") {
    if (isObject(value)) return value;
    throw new ArgumentsError(`${label} must be a JSON object or a JSON string, not ${nameOfKind(value)}`);
  }
  if (value.trim() === "") return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch (error) {
    throw new ArgumentsError(`${label} must parse to a JSON object: ${(error as Error).message}`);
  }
  if (!isObject(parsed)) {
    throw new ArgumentsError(`${label} must parse to a JSON object, not ${nameOfKind(parsed)}`);
  }
  const number = inexactNumber(value);
  if (number !== undefined) {
    throw new ArgumentsError(
      `${label} must hold numbers that can be sent unchanged, and ${shorten(number)} is too large; is it meant as text, in quotes?`,
    );
  }
  return parsed;
}

/** The first number in a JSON text that a JavaScript number cannot hold unchanged: an id of 20 digits, `1e999`. */
export function inexactNumber(json: string): string | undefined {
  const withoutStrings = json.replace(/\\./gs, "").replace(/"[^"]*"/g, '""');
  return withoutStrings.match(/-?\d[\d.eE+-]*/g)?.find((number) => !isExact(number));
}

/** Of a fraction only the first 17 digits count anywhere. */
function isExact(number: string): boolean {
  const value = Number(number);
  return Number.isFinite(value) && (/[.eE]/.test(number) || BigInt(number) === BigInt(value));
}

function shorten(number: string): string {
  return number.length > 40 ? `${number.slice(0, 40)}…` : number;
}

function nameOfKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** Names are given by models, with spaces around them now and then. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
