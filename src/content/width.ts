/**
 * How wide a text is in a terminal, in columns. A line that is wider than the terminal ends some hosts, by their own count,
 * so this one counts as much as any of them or more. For clean text in one colour: no escape sequences, no controls.
 */

/** Nothing of its own: combining marks and what is ignorable by definition. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]$/u;

/** Marks that take a column all the same, in the terminals that one host was made for. */
const SPACING = /^[\u065f\u1033-\u1035\u103a\u103d\u103e]$/u;

/** Wide or full width (Unicode annex 11), by blocks, so that a code point of a later Unicode is rather taken for wide. */
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/** One picture of two columns, which is made of several code points. Some are left out, as one host counts them as two. */
const PICTURE =
  /^(?:[#*\d]\ufe0f?\u20e3|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?)*\ufe0f?)$/u;

const LEADING_MARK = /^[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

const ASCII = /^[\x20-\x7e]*$/;

/** A tab is shown as so many spaces. */
const TAB = "  ";

let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as a reader sees them, each with its columns. */
function* glyphs(text: string): Generator<{ readonly glyph: string; readonly columns: number }> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield { glyph: segment, columns: columnsOf(segment) };
}

function columnsOf(glyph: string): number {
  if (glyph.length === 1) return columnsOfCharacter(glyph);
  if (PICTURE.test(glyph)) return 2;
  let columns = 0;
  for (const character of glyph) columns += columnsOfCharacter(character);
  // A mark that stands on nothing: there are hosts that count what follows it twice.
  return columns > 0 && LEADING_MARK.test(glyph) ? columns + 1 : columns;
}

function columnsOfCharacter(character: string): number {
  if (SPACING.test(character)) return 1;
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that a line takes. */
export function textWidth(line: string): number {
  if (ASCII.test(line)) return line.length;
  let width = 0;
  for (const { columns } of glyphs(line)) width += columns;
  return width;
}

/** A line that takes no more than `width` columns, with `…` for what was left out. */
export function cutToWidth(line: string, width: number): string {
  if (width <= 0) return "";
  // Each code unit takes two columns at most, so what lies behind cannot matter.
  const text = line.length > 4_096 ? line.slice(0, 64 * width + 64) : line;
  if (ASCII.test(text)) return text.length <= width && text === line ? text : `${text.slice(0, width - 1)}…`;
  let used = 0;
  let kept = "";
  for (const { glyph, columns } of glyphs(text)) {
    if (used + columns > width) return `${withRoom(kept, width - 1)}…`;
    kept += glyph;
    used += columns;
  }
  return text === line ? text : `${withRoom(kept, width - 1)}…`;
}

function withRoom(text: string, width: number): string {
  let used = 0;
  let kept = "";
  for (const { glyph, columns } of glyphs(text)) {
    used += columns;
    if (used > width) break;
    kept += glyph;
  }
  return kept;
}

/**
 * The lines of a text, none of which takes more than `width` columns. Long ones are broken between words where there is one
 * in the last half, else anywhere.
 */
export function wrapToWidth(text: string, width: number): string[] {
  const columns = Math.max(width, 2);
  return text.split("\n").flatMap((line) => wrapLine(line.replaceAll("\t", TAB), columns));
}

function wrapLine(line: string, width: number): string[] {
  if (line.length <= width && ASCII.test(line)) return [line];
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const { glyph, columns } of glyphs(line)) {
    // More marks than fit on one letter would otherwise be a line that is too wide.
    if (columns > width) continue;
    while (used + columns > width && current !== "") {
      const space = current.lastIndexOf(" ");
      const at = glyph !== " " && space > current.length / 2 ? space + 1 : current.length;
      lines.push(current.slice(0, at).trimEnd());
      current = current.slice(at);
      used = textWidth(current);
    }
    current += glyph;
    used += columns;
  }
  return [...lines, current];
}
