import { peel } from "./peel.ts";
import { sanitizeText } from "./sanitize.ts";

/** UTF-8 bytes: of a shorter value base64 leaves too few characters to be told from others. */
const MIN_BASE64_BYTES = 6;

/** Tells of each place where a value stands: `text.slice(start, end)`. */
export type ValueSearch = (text: string, found: (start: number, end: number) => void) => void;

/**
 * A search for values in every form they may have in a text: as they are, without the white space around them, sanitised; each
 * of these also in JSON, in addresses and forms, in any of these within another; and in base64, also of a text around them.
 */
export function createValueSearch(values: readonly string[]): ValueSearch {
  const needles = new Set(values.flatMap(formsOf));
  const peeled = new Set([...needles].flatMap((needle) => [needle, peel(needle).at(-1)?.text ?? ""]));
  peeled.delete("");
  const hasBlank = [...needles].some((needle) => needle.includes(" "));

  return (text, found) => {
    if (needles.size === 0) return;
    for (const needle of needles) search(text, needle, found);
    if (!/[\\%]/.test(text) && !(hasBlank && text.includes("+"))) return;
    for (const layer of peel(text)) {
      for (const needle of peeled) {
        search(layer.text, needle, (start, end) => found(layer.origins[start] ?? 0, layer.origins[end] ?? text.length));
      }
    }
  };
}

function search(text: string, needle: string, found: (start: number, end: number) => void): void {
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    found(at, at + needle.length);
  }
}

function formsOf(value: string): string[] {
  const texts = [...new Set([value, value.trim(), sanitizeText(value)])].filter((text) => text !== "");
  return [...texts, ...[...new Set(texts.flatMap(encoded))].flatMap(inBase64)];
}

/** A text and what may be made of it before the whole is written in base64. */
function encoded(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const forms = [text, json, JSON.stringify(json).slice(1, -1), json.replaceAll("/", "\\/"), ascii];
  return [...forms, ...[text, json].flatMap(inAddress)];
}

function inAddress(text: string): string[] {
  try {
    const forms = [encodeURIComponent(text), new URLSearchParams([["", text]]).toString().slice(1)];
    return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()))];
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
