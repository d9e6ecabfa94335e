import { cutToWidth, textWidth, wrapToWidth } from "../../../content/width.ts";
import type { PiColor } from "../api.ts";
import type { Span } from "../render-line.ts";

export type Line = readonly Span[];

/** A rule across the panel with what it is about, and what else is to be said at its end. */
export function titleLine(title: string, right: string, width: number): Line {
  const end = right === "" ? "" : ` ${right} ──`;
  const room = width - textWidth(title) - textWidth(end) - 4;
  return [
    { text: "── ", color: "border" },
    { text: title, color: "accent", isBold: true, gives: true },
    { text: ` ${"─".repeat(Math.max(room, 1))}`, color: "border" },
    { text: room < 1 ? "" : end, color: "muted" },
  ];
}

export function rule(width: number): Line {
  return [{ text: "─".repeat(width), color: "border" }];
}

/** A text of several lines, of which no more than `most` are shown. */
export function paragraph(text: string, width: number, color: PiColor, indent = "", most = 1_000): Line[] {
  const lines = wrapToWidth(text, width - indent.length);
  const shown = lines.slice(0, most);
  if (lines.length > most) shown[most - 1] = cutToWidth(`${shown[most - 1]} …`, width - indent.length);
  return shown.map((line) => [{ text: indent + line, color }]);
}

/** A text in a column. */
export function column(text: string, width: number): string {
  const cut = cutToWidth(text, width);
  return cut + " ".repeat(Math.max(width - textWidth(cut), 0));
}

/** The first line of a window of `height` lines in which line `at` is to be seen. */
export function windowStart(at: number, height: number, count: number): number {
  return Math.max(0, Math.min(at - Math.floor(height / 2), count - height));
}
