import { stripVTControlCharacters } from "node:util";

const coloured = process.stdout.isTTY === true && (process.env.NO_COLOR ?? "") === "";

const style =
  (on: number, off: number) =>
  (text: string): string =>
    coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text;

export const bold = style(1, 22);
export const dim = style(2, 22);
export const red = style(31, 39);
export const green = style(32, 39);

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Milliseconds as seconds of a fixed width, so that times stand in a column. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2).padStart(6)} s`;
}

export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** The first lines of a text that came from a server, each cut, without escape sequences. */
export function excerpt(text: string, lines: number, length: number): string[] {
  const all = stripVTControlCharacters(text).trimEnd().split("\n");
  const more = all.length > lines ? [`… and ${all.length - lines} lines more`] : [];
  return [...all.slice(0, lines).map((line) => shorten(line, length)), ...more];
}
