import fc from "fast-check";

/** What a terminal obeys, or nobody sees. */
const PIECES = [
  ..."\0\x07\b\r\x0b\x0c\x0e\x1b\x7f\x80\x85\x90\x9b\x9c\x9d\x9e\x9f",
  ..."\u00ad\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2066\u2068\u2069\u3164\ufeff\ufe01\ufff9",
  "\x1b[2J",
  "\x1b[31;1m",
  "\x1b]0;title\x07",
  "\x1b]8;;http://evil.example\x1b\\",
  "\x1b]52;c;cm0gLXJm\x07",
  "\x1bP+q544e\x1b\\",
  "\x9b6n",
  "\x9d0;title\x9c",
  "\r\n\x1b[1A",
  "\u{e0001}\u{e0041}\u{e007f}",
  "\u{e0100}\u{e01ef}",
  "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  "\ud83d",
  "\ude00",
  "x".repeat(3_000),
  "漢字",
  "\u0645\u200c",
  "é ",
  "\n",
  "a",
  "`",
  '"',
  "\\",
];

/** Texts of hostile pieces and of any characters at all. */
const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: "binary", maxLength: 6 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((pieces) => pieces.join(""));

/** The same texts in every run, unless somebody looks for new ones. */
export function hostileTexts(count: number): string[] {
  const { seed } = fc.readConfigureGlobal() ?? {};
  return fc.sample(hostileText, { numRuns: count, ...(seed !== undefined && { seed }) });
}

/** No control but line feed and tab, nothing that changes the direction, is of no width, is a tag, or half a character. */
const UNFIT =
  /[^\P{Cc}\n\t]|[\u061c\u115f\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e00ff}\p{Cs}]|(?<![\p{M}\p{Script=Arabic}\p{L}\p{Emoji}])[\u200c\u200d]/u;

/** What a terminal should not be given, with what stands around it; `undefined` for a text that is fit. */
export function unfitIn(text: string): string | undefined {
  const at = text.search(UNFIT);
  return at === -1 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 60), at + 20));
}
