import { escaped } from "../config/escaped.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";

/** Of a name in a sentence or an option. */
const NAME_CHARS = 60;
/** Wider than most dialogs, narrow enough to be read. */
const LINE_CHARS = 100;

/** The name of a server or of something of it. */
export function nameOf(text: string): string {
  return sanitizeLine(text, NAME_CHARS);
}

/** Somebody's words, at most so many lines and characters of them. */
export function words(text: string, maxLines: number, maxChars: number): string {
  const clean = sanitizeText(text).trim();
  const characters = [...clean.slice(0, 2 * maxChars)];
  const isLong = characters.length > maxChars || clean.length > 2 * maxChars;
  const lines = characters.slice(0, maxChars).join("").split("\n");
  const shown = lines.slice(0, maxLines).join("\n");
  return isLong || lines.length > maxLines ? `${shown}…` : shown;
}

/** A value on one line, and whether it is all of it. What nobody could see is shown by its number. */
export function valueLine(value: unknown, maxChars: number): { text: string; isWhole: boolean } {
  const json = JSON.stringify(value) ?? "";
  const characters = [...escaped(json.slice(0, maxChars))];
  const isWhole = json.length <= maxChars && characters.length <= maxChars;
  const text = characters.slice(0, maxChars).join("");
  return { text: isWhole ? text : `${text}…`, isWhole };
}

/** What a dialog shows without its head running off the screen. */
const PAGE_LINES = 20;

/** The whole of a text, what nobody could see by its number, in pages that fit with their number above. */
export function pagesOf(text: string): string[] {
  const fitting = new RegExp(`.{1,${LINE_CHARS}}`, "gu");
  const lines = text.split("\n").flatMap((line) => escaped(line).match(fitting) ?? [""]);
  const count = Math.ceil(lines.length / PAGE_LINES);
  return Array.from({ length: count }, (_, page) =>
    [`Page ${page + 1} of ${count}:`, ...lines.slice(page * PAGE_LINES, (page + 1) * PAGE_LINES)].join("\n"),
  );
}

/** An address in lines that fit; it has been through the parser of addresses, so there is nothing in it but ASCII. */
export function addressLines(address: string): string[] {
  return address.match(new RegExp(`.{1,${LINE_CHARS}}`, "g")) ?? [];
}
