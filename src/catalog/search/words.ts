/** What a character is to the reader of words. */
const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
/** A letter of a script without case: Arabic, Hebrew, Thai and the like. */
const PLAIN = 4;
/** Written without spaces, so taken in pairs. */
const CJK = 5;
/** Belongs to the letter before it. */
const MARK = 6;

/** Longer words are cut: no word people search for is, and a blob of base64 is one word. */
const MAX_WORD_CHARS = 40;

/** Ranges of code points above ASCII that are no letters: spaces, punctuation, symbols, emoji, private use, tags. */
const NO_LETTERS: readonly (readonly [number, number])[] = [
  [0x80, 0xa9],
  [0xab, 0xb4],
  [0xb6, 0xb9],
  [0xbb, 0xbf],
  [0xd7, 0xd7],
  [0xf7, 0xf7],
  [0x2000, 0x2bff],
  [0x2e00, 0x2e7f],
  [0x3000, 0x3004],
  [0x3008, 0x3020],
  [0x3030, 0x3030],
  [0xd800, 0xf8ff],
  [0xfe10, 0xfe6f],
  [0xff00, 0xff0f],
  [0xff1a, 0xff20],
  [0xff3b, 0xff40],
  [0xff5b, 0xff65],
  [0xfff0, 0xffff],
  [0x1f000, 0x1faff],
  [0xe1000, 0x10ffff],
];

/** Han, kana and Hangul. */
const NO_SPACES: readonly (readonly [number, number])[] = [
  [0x1100, 0x11ff],
  [0x2e80, 0x2fdf],
  [0x3005, 0x3007],
  [0x3021, 0x302f],
  [0x3031, 0x9fff],
  [0xac00, 0xd7af],
  [0xf900, 0xfaff],
  [0x20000, 0x3ffff],
];

/** Accents, and what is not seen: a word is the same with them. */
const MARKS: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xe0000, 0xe0fff],
];

function within(ranges: readonly (readonly [number, number])[], code: number): boolean {
  for (const [from, to] of ranges) if (code >= from && code <= to) return true;
  return false;
}

function kindOf(code: number): number {
  if (code < 0x80) {
    if (code >= 97 && code <= 122) return LOWER;
    if (code >= 65 && code <= 90) return UPPER;
    return code >= 48 && code <= 57 ? DIGIT : OTHER;
  }
  // Before the letters, some of whose ranges they lie in.
  if (within(MARKS, code)) return MARK;
  if (within(NO_SPACES, code)) return CJK;
  if (within(NO_LETTERS, code)) return OTHER;
  const letter = String.fromCodePoint(code);
  const lower = letter.toLowerCase();
  if (lower !== letter) return UPPER;
  return lower !== letter.toUpperCase() ? LOWER : PLAIN;
}

/** One form for what looks the same: full width as half width, letters without their accents. ASCII stays as it is. */
function folded(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 0x80) continue;
    // Apart, so that the reader can leave the accents out; then together again, or Hangul would fall into its parts.
    const apart = text.normalize("NFKD");
    let bare = "";
    let from = 0;
    for (let mark = 0; mark < apart.length; mark++) {
      const code = apart.charCodeAt(mark);
      if (code < 0x300 || code > 0x36f) continue;
      bare += apart.slice(from, mark);
      from = mark + 1;
    }
    return (bare + apart.slice(from)).normalize("NFC");
  }
  return text;
}

/**
 * The words of a text in lower case, in the order they stand there. An identifier is taken apart where its case changes
 * or digits begin or end (`getUserID2` gives `get`, `user`, `id` and the whole, `getuserid2`), since either may be asked
 * for. Han, kana and Hangul, written without spaces, give pairs of neighbours. The same in every locale.
 *
 * @param limit characters of the text that are looked at
 */
export function wordsOf(text: string, limit: number): string[] {
  const words: string[] = [];
  const source = folded(text.length > limit ? text.slice(0, limit) : text);
  const end = Math.min(source.length, limit * 2);
  /** The letters and digits without anything between: all of it, and the part of one kind. */
  let whole = "";
  let part = "";
  let parts = 0;
  let before = OTHER;
  let han = "";
  let hanBefore = false;

  const endPart = (): void => {
    if (part === "") return;
    // One letter or digit says nothing alone: the x and the 2 of `x2`.
    if (part.length > 1) words.push(part.slice(0, MAX_WORD_CHARS));
    parts++;
    part = "";
  };
  const endWhole = (): void => {
    if (whole === "") return;
    if (parts > 0) endPart();
    words.push(whole.slice(0, MAX_WORD_CHARS));
    whole = "";
    part = "";
    parts = 0;
  };
  const endHan = (): void => {
    if (han !== "" && !hanBefore) words.push(han);
    han = "";
    hanBefore = false;
  };

  for (let at = 0; at < end; at++) {
    const code = source.codePointAt(at) ?? 0;
    const letter = code > 0xffff ? source.slice(at, at + 2) : (source[at] ?? "");
    if (code > 0xffff) at++;
    const kind = kindOf(code);
    if (kind === MARK) continue;
    if (kind === CJK) {
      endWhole();
      if (han !== "") {
        words.push(han + letter);
        hanBefore = true;
      }
      han = letter;
      before = kind;
      continue;
    }
    endHan();
    if (kind === OTHER) {
      endWhole();
      before = kind;
      continue;
    }
    if (whole !== "") {
      const humps = kind === UPPER && before === LOWER;
      const digits = (kind === DIGIT) !== (before === DIGIT);
      if (humps || digits) endPart();
      // The last capital of several begins the next part: HTTPServer is HTTP and Server.
      else if (kind === LOWER && before === UPPER && part.length > 1) {
        const last = part.slice(-1);
        part = part.slice(0, -1);
        endPart();
        part = last;
      }
    }
    const lower = letter.toLowerCase();
    whole += lower;
    part += lower;
    before = kind;
  }
  endWhole();
  endHan();
  return words;
}
