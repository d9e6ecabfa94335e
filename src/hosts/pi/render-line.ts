import { sanitizeText } from "../../content/sanitize.ts";
import { cutToWidth, textWidth } from "../../content/width.ts";
import type { PiColor, PiComponent, PiTheme } from "./api.ts";

/** A piece of a line in one colour. Whatever its text holds, it is made harmless when it is painted. */
export interface Span {
  readonly text: string;
  readonly color?: PiColor;
  readonly isBold?: boolean;
  /** Gives way first when the line is too long. */
  readonly gives?: true;
}

/** A line of no more than `width` columns. */
export function paintLine(spans: readonly Span[], width: number, theme: PiTheme): string {
  const clean = spans.map((span) => ({ ...span, text: oneLine(span.text) })).filter(({ text }) => text !== "");
  const fixed = clean.reduce((sum, { text, gives }) => sum + (gives ? 0 : textWidth(text)), 0);
  let giving = width - fixed;
  let left = width;
  let line = "";
  for (const { text, color, isBold, gives } of clean) {
    const cut = cutToWidth(text, gives ? Math.min(Math.max(giving, 0), left) : left);
    const taken = textWidth(cut);
    if (gives) giving -= taken;
    left -= taken;
    const bold = isBold && cut !== "" ? theme.bold(cut) : cut;
    line += color === undefined || cut === "" ? bold : theme.fg(color, bold);
    if (left <= 0) break;
  }
  return line;
}

/** A text as a piece of a line: no breaks, nothing a terminal obeys. */
function oneLine(text: string): string {
  return sanitizeText(text).replace(/[\n\t]+/g, " ");
}

/** What is drawn by a function of the width, kept until pi says that it may look different. */
export function component(draw: (width: number) => string[]): PiComponent {
  let drawn: { readonly width: number; readonly lines: string[] } | undefined;
  return {
    render(width) {
      if (drawn?.width !== width) drawn = { width, lines: draw(width) };
      return drawn.lines;
    },
    invalidate() {
      drawn = undefined;
    },
  };
}
