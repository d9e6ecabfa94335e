/**
 * Text from a server is shown in terminals and read by models. Terminals obey escape sequences; models read characters
 * that people cannot see. Both are taken out here, in one pass over the text, so that what a person sees is what the
 * model gets.
 */

const ESC = 0x1b;
const BEL = 0x07;
/** String terminator of the C1 set; `ESC \` is its 7-bit form (ECMA-48). */
const ST = 0x9c;

/** What nobody sees: ignorable by definition (Unicode, DerivedCoreProperties), separators, annotations, half pairs. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}\ufff9-\ufffb]/u;

/** Stands where a text was that nobody sees: who reads should know that there was one. */
const HIDDEN_TEXT = "[hidden text]";

/** The name of a region behind a black flag, as England's; a flag without it is all that is lost. */
const FLAG_NAME = /[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/uy;
const BLACK_FLAG = 0x1f3f4;

/** Longer words are data that has come into a sentence. */
const MAX_WORD_CHARS = 500;
const SHOWN_WORD_CHARS = 200;

/** One test that tells whether a text needs the slow pass at all: most have no controls but line feeds and tabs. */
const SUSPICIOUS = new RegExp(`[^\\P{Cc}\\n\\t]|${INVISIBLE.source}`, "u");

/** An emoji, or what may follow one before a joiner: a skin tone, a variation selector, a keycap. */
const EMOJI_BEFORE = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u20e3/u;
const EMOJI_AFTER = /\p{Extended_Pictographic}/u;

/** Scripts whose spelling needs joiners between letters (Unicode standard, section 23.2). */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]/u;

/**
 * Removes escape sequences, control characters but line feed and tab, direction marks, tag characters and invisible
 * characters; `\r\n` and the Unicode line separators become `\n`, and half of a surrogate pair becomes U+FFFD. Tag characters and
 * the variation selectors beyond the first 16, in which whole texts can be written, leave a mark. Joiners stay inside emoji and
 * where a script is spelled with them, and so does a single variation selector. Linear time.
 */
export function sanitizeText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const terminators = createTerminatorSearch(text);
  let out = "";
  /** Start of the run that is copied as it is. */
  let clean = 0;
  /** Last code point that was kept, for joiners and variation selectors. */
  let previous = -1;
  /** Whether what was written last is a mark. */
  let isMarked = false;
  let at = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x20 && unit < 0x7f) {
      previous = unit;
      at++;
      continue;
    }
    const code = text.codePointAt(at) ?? 0;
    const width = code > 0xffff ? 2 : 1;
    let end = specialEnd(text, at, code, width, previous, terminators);
    if (end === at) {
      previous = code;
      at += width;
      continue;
    }
    out += text.slice(clean, at);
    isMarked &&= clean === at;
    let substitute = substituteOf(code);
    if (isHiddenWriting(code)) {
      const flag = previous === BLACK_FLAG ? flagNameEnd(text, at) : undefined;
      if (flag !== undefined) end = flag;
      else if (!isMarked) substitute = HIDDEN_TEXT;
      isMarked ||= substitute !== "";
    } else isMarked &&= substitute === "";
    if (substitute !== "") {
      out += substitute;
      previous = substitute.charCodeAt(substitute.length - 1);
    }
    at = end;
    clean = end;
  }
  return clean === 0 ? text : out + text.slice(clean);
}

/**
 * What a server says of something, sanitised, and its over-long words cut. Of ASCII alone: other scripts do not part their words.
 */
export function sanitizeProse(text: string): string {
  return sanitizeText(text).replace(/[!-~]+/g, (word) =>
    word.length <= MAX_WORD_CHARS ? word : `${word.slice(0, SHOWN_WORD_CHARS)}…`,
  );
}

/**
 * One line for a list, a status or a log: sanitised, every run of white space one space, none at the ends, and
 * cut after `maxChars` code points with `…` behind them.
 */
export function sanitizeLine(text: string, maxChars: number): string {
  const line = sanitizeText(text).replace(/\s+/g, " ").trim();
  // A code point has one UTF-16 unit or two, so a line this short needs no counting.
  if (line.length <= maxChars) return line;
  let at = 0;
  for (let count = 0; count < maxChars && at < line.length; count++) at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at < line.length ? `${line.slice(0, at)}…` : line;
}

/** Where what begins at `at` ends, if it is to be taken out; `at` itself if the character is to be kept. */
function specialEnd(
  text: string,
  at: number,
  code: number,
  width: number,
  previous: number,
  terminators: TerminatorSearch,
): number {
  if (code === 0x0a || code === 0x09) return at;
  if (code === ESC) return escapeEnd(text, at + 1, terminators);
  if (code < 0x20 || code === 0x7f) return at + 1;
  if (code >= 0x80 && code <= 0x9f) {
    // In UTF-8 that was read as Latin-1 such a character follows another one above ASCII: no control function then.
    return inRange(text, at - 1, 0x80, 0xff) ? at + 1 : controlEnd(text, at + 1, code - 0x40, terminators);
  }
  if (code < 0xad) return at;
  if (isJoiner(code)) return keepsJoiner(text, at, code, previous) ? at : at + 1;
  if (isVariationSelector(code)) return keepsSelector(code, previous) ? at : at + width;
  return INVISIBLE.test(String.fromCodePoint(code)) ? at + width : at;
}

/** What a removed character leaves behind: mostly nothing. Of `\r\n` the line feed stays by itself. */
function substituteOf(code: number): string {
  if (code === 0x2028 || code === 0x2029) return "\n";
  return code >= 0xd800 && code <= 0xdfff ? "\ufffd" : "";
}

/** End of an escape sequence whose ESC stands before `at`. */
function escapeEnd(text: string, at: number, terminators: TerminatorSearch): number {
  const next = text.charCodeAt(at);
  if (next >= 0x40 && next <= 0x5f) return controlEnd(text, at + 1, next, terminators);
  // ECMA-35: intermediate bytes, then a final one.
  let end = at;
  while (inRange(text, end, 0x20, 0x2f)) end++;
  return inRange(text, end, 0x30, 0x7e) ? end + 1 : at;
}

/** End of a control function; `letter` is the second byte of its 7-bit form, `at` what follows it. */
function controlEnd(text: string, at: number, letter: number, terminators: TerminatorSearch): number {
  switch (letter) {
    case 0x5b: {
      // CSI: parameters, intermediates, one final byte. A sequence broken off loses what there is of it.
      let end = at;
      while (inRange(text, end, 0x30, 0x3f)) end++;
      while (inRange(text, end, 0x20, 0x2f)) end++;
      return inRange(text, end, 0x40, 0x7e) ? end + 1 : end;
    }
    // DCS, SOS, OSC, PM, APC: a string up to its terminator. Without one the introducer goes and the rest is shown,
    // rather than that a stray byte swallows a whole result.
    case 0x50:
    case 0x58:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return terminators.endAfter(at) ?? at;
    default:
      return at;
  }
}

interface TerminatorSearch {
  /** Where the string that begins at `at` ends, behind its terminator; `undefined` if it has none. */
  endAfter(at: number): number | undefined;
}

/** Positions are asked in rising order, so the text is searched once however many strings are begun in it. */
function createTerminatorSearch(text: string): TerminatorSearch {
  let found = -1;
  return {
    endAfter(at) {
      if (found < at) {
        found = at;
        while (found < text.length && !isTerminator(text, found)) found++;
      }
      if (found >= text.length) return undefined;
      return text.charCodeAt(found) === ESC ? found + 2 : found + 1;
    },
  };
}

function isTerminator(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === BEL || code === ST || (code === ESC && text.charCodeAt(at + 1) === 0x5c);
}

function inRange(text: string, at: number, low: number, high: number): boolean {
  const code = text.charCodeAt(at);
  return code >= low && code <= high;
}

/** Zero width non-joiner and zero width joiner. */
function isJoiner(code: number): boolean {
  return code === 0x200c || code === 0x200d;
}

function keepsJoiner(text: string, at: number, code: number, previous: number): boolean {
  const next = text.codePointAt(at + 1);
  if (previous < 0 || next === undefined) return false;
  const before = String.fromCodePoint(previous);
  const after = String.fromCodePoint(next);
  if (code === 0x200d && EMOJI_BEFORE.test(before) && EMOJI_AFTER.test(after)) return true;
  return JOINING.test(before) && JOINING.test(after);
}

/** Variation selectors choose a form of the character before them. */
function isVariationSelector(code: number): boolean {
  return isMongolianSelector(code) || (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
}

/** Tag characters, and the variation selectors that were not kept. */
function isHiddenWriting(code: number): boolean {
  return code >= 0xe0000 && code <= 0xe0fff;
}

function flagNameEnd(text: string, at: number): number | undefined {
  FLAG_NAME.lastIndex = at;
  return FLAG_NAME.test(text) ? FLAG_NAME.lastIndex : undefined;
}

function isMongolianSelector(code: number): boolean {
  return (code >= 0x180b && code <= 0x180d) || code === 0x180f;
}

/** Only behind characters that have several forms: anywhere else, selectors are a way to hide bytes in a text. */
function keepsSelector(code: number, previous: number): boolean {
  if (previous < 0) return false;
  const before = String.fromCodePoint(previous);
  if (isMongolianSelector(code)) return /\p{Script=Mongolian}/u.test(before);
  if (code === 0xfe0e || code === 0xfe0f) return /\p{Emoji}/u.test(before);
  return /[\p{Script=Han}\p{Sm}]/u.test(before);
}
