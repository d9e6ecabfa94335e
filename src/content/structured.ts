import { isDeepStrictEqual } from "node:util";
import { isObject } from "../is-object.ts";

/**
 * Whether the text blocks of a result already say what its structured content says, compared as JSON: then showing both
 * would cost a model the same tokens twice. Servers that wrap a plain value as `{"result": value}` often repeat that
 * value alone, a list as one block for each item; others put the very text into their only field.
 */
export function saysTheSame(texts: readonly string[], structured: unknown): boolean {
  if (texts.some((text) => equals(text, structured))) return true;
  if (!isObject(structured)) return false;
  const [[key, result] = [], ...more] = Object.entries(structured);
  if (key === undefined || more.length > 0) return false;
  if (texts.some((text) => text === result)) return true;
  if (key !== "result") return false;
  if (texts.some((text) => equals(text, result))) return true;
  if (!Array.isArray(result) || result.length === 0 || result.length !== texts.length) return false;
  return result.every((item, index) => texts[index] === item || equals(texts[index] ?? "", item));
}

function equals(text: string, value: unknown): boolean {
  const trimmed = text.trim();
  // A cheap guard: prose does not begin like this, and need not be parsed to find out.
  if (!/^[[{"\d\-tfn]/.test(trimmed)) return false;
  try {
    return isDeepStrictEqual(JSON.parse(trimmed), value);
  } catch {
    return false;
  }
}
