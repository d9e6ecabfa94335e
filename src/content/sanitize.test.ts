import { describe, expect, it } from "vitest";
import { randomNumbers, randomText } from "./random.fixture.ts";
import { sanitizeLine, sanitizeProse, sanitizeText } from "./sanitize.ts";

describe("sanitizeText", () => {
  it("keeps plain text, line feeds and tabs", () => {
    const text = "Grüße,\n\tdas ist – «ok» 漢字 ✓\n";
    expect(sanitizeText(text)).toBe(text);
    expect(sanitizeText("")).toBe("");
  });

  it("makes one line feed of a Windows line end", () => {
    expect(sanitizeText("a\r\nb\r\n")).toBe("a\nb\n");
    expect(sanitizeText("a\rb")).toBe("ab");
    expect(sanitizeText("a\u2028b\u2029c")).toBe("a\nb\nc");
  });

  it("removes every kind of escape sequence with its content", () => {
    const sequences = [
      "\x1b[2J",
      "\x1b[1;31m",
      "\x1b[?25l",
      "\x1b[38:2::1:2:3 q",
      "\x1b]0;title\x07",
      "\x1b]8;;http://x/\x1b\\",
      "\x1bPq#0;2;0\n0~-\x1b\\",
      "\x1bXsos\x1b\\",
      "\x1b^pm\x1b\\",
      "\x1b_apc\x1b\\",
      "\x1b(B",
      "\x1bc",
      "\x1b7",
      "\x9b31m",
      "\x9d0;title\x9c",
    ];
    for (const sequence of sequences) expect(sanitizeText(`a${sequence}b`), JSON.stringify(sequence)).toBe("ab");
  });

  it("shows the rest of a sequence that is never ended instead of losing the text behind it", () => {
    expect(sanitizeText("a\x1b]0;title and all the rest")).toBe("a0;title and all the rest");
    expect(sanitizeText("a\x1b[31")).toBe("a");
    expect(sanitizeText("a\x1b")).toBe("a");
    expect(sanitizeText("a\x1b\nb")).toBe("a\nb");
  });

  it("does not take UTF-8 read as Latin-1 for control strings", () => {
    expect(sanitizeText("say â\x80\x9dno, say â\x80\x9cyes")).toBe("say âno, say âyes");
  });

  it("removes control characters", () => {
    let controls = "";
    for (let code = 0; code < 0xa0; code++)
      if (code < 0x20 || code >= 0x7f) controls += `x${String.fromCharCode(code)}x`;
    expect(sanitizeText(controls)).not.toMatch(/[^\P{Cc}\n\t]/u);
  });

  it("removes direction marks, tags and characters nobody sees", () => {
    expect(sanitizeText("a\u202eb\u2066c\u200ed\u061ce")).toBe("abcde");
    expect(sanitizeText("i\u200bg\u2060n\ufeffo\u00adr\u3164e\u180e")).toBe("ignore");
    expect(sanitizeText("a\u200db\u200cc")).toBe("abc");
    expect(sanitizeText("A\ufe01\ufe02B")).toBe("AB");
  });

  it("[E235] marks where a text was that nobody sees, once for each", () => {
    expect(sanitizeText("x\u{e0041}\u200b\u{e0042}\u{e007f}y\u{1f3f4}\u{e0067}z")).toBe(
      "x[hidden text]y\u{1f3f4}[hidden text]z",
    );
    expect(sanitizeText("A\u{e0100}\u{e01ef}B\u{e0100}")).toBe("A[hidden text]B[hidden text]");
    expect(sanitizeText("\u{1f600}\u{e0101}\u{e0102}!")).toBe("\u{1f600}[hidden text]!");
    expect(sanitizeText("\u{e0041}\ud83d\u{e0041}")).toBe("[hidden text]\ufffd[hidden text]");
    const england = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
    expect(sanitizeText(`${england}${england}\u{e0067}`)).toBe("\u{1f3f4}\u{1f3f4}[hidden text]");
  });

  it("keeps joiners and selectors where writing needs them", () => {
    const family = "\u{1f469}\u200d\u{1f469}\u200d\u{1f466}";
    const heart = "\u2764\ufe0f\u200d\u{1f525}";
    const technologist = "\u{1f9d1}\u{1f3fd}\u200d\u{1f4bb}";
    const keycap = "1\ufe0f\u20e3";
    const persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645";
    const hindi = "\u0915\u094d\u200d\u0937";
    const ideograph = "\u8fbb\u{e0100}";
    for (const text of [family, heart, technologist, keycap, persian, hindi, ideograph]) {
      expect(sanitizeText(text), JSON.stringify(text)).toBe(text);
    }
    expect(sanitizeText(`${ideograph}\u{e0101}`)).toBe(`${ideograph}[hidden text]`);
    expect(sanitizeText("\u{1f469}\u200d\u200d\u{1f469}")).toBe("\u{1f469}\u200d\u{1f469}");
  });

  it("replaces half of a surrogate pair", () => {
    expect(sanitizeText("a\ud83db\ude00c\ud83d")).toBe("a\ufffdb\ufffdc\ufffd");
    expect(sanitizeText("\ud83d\u200b\ude00")).toBe("\ufffd\ufffd");
  });

  it("leaves nothing to remove, whatever the input", () => {
    // biome-ignore format: one line of hostile pieces reads better than thirty
    const pieces = [
      "a", " ", "\n", "\r", "\t", "\x1b", "[", "]", "\\", "P", "(", "m", "0", ";", "\x07", "\x9b", "\x9c", "\x9d", "\0",
      "\u200d", "\u200b", "\u202e", "\ufe0f", "\ufe01", "\u{e0041}", "\u{e0100}", "\ud83d", "\ude00", "\u{1f469}",
      "\u0645", "\u0915", "\u8fbb", "\u2028", "é",
    ];
    const next = randomNumbers(7);
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(next, pieces, 12);
      const clean = sanitizeText(text);
      expect(clean, JSON.stringify(text)).not.toMatch(
        /[^\P{Cc}\n\t]|[\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\p{Cs}]/u,
      );
      expect(sanitizeText(clean), JSON.stringify(text)).toBe(clean);
    }
  });

  it("finishes on 10 MB of the worst input", () => {
    const size = 10 * 1024 * 1024;
    const repeat = (piece: string): string => piece.repeat(Math.floor(size / piece.length));
    expect(sanitizeText(repeat("\x1b]"))).toBe("");
    expect(sanitizeText(repeat("\x1b[0"))).toBe("");
    expect(sanitizeText(repeat("\u200d"))).toBe("");
    expect(sanitizeText(`\x1b]${"x".repeat(size)}`)).toHaveLength(size);
    expect(sanitizeText(`\x1b[${"0".repeat(size)}`)).toBe("");
    expect(sanitizeText(repeat("\x1bPx"))).toHaveLength(Math.floor(size / 3));
  }, 60_000);
});

describe("sanitizeProse", () => {
  it("cuts what is no word, and leaves addresses and scripts without spaces alone", () => {
    const address = `https://example.com/${"a".repeat(400)}`;
    const text = `see ${address}\n${"漢字".repeat(1000)} é`;
    expect(sanitizeProse(text)).toBe(text);
    expect(sanitizeProse(`key ${"QUJD".repeat(1_000_000)}\x1b[0m, and more`)).toBe(
      `key ${"QUJD".repeat(50)}… and more`,
    );
  });
});

describe("sanitizeLine", () => {
  it("makes one trimmed line", () => {
    expect(sanitizeLine("  first\r\nsecond\tthird\n", 100)).toBe("first second third");
    expect(sanitizeLine("\x1b[31mred\x1b[0m", 100)).toBe("red");
    expect(sanitizeLine(" \n\t ", 100)).toBe("");
  });

  it("cuts after whole characters and says so", () => {
    expect(sanitizeLine("abcdef", 6)).toBe("abcdef");
    expect(sanitizeLine("abcdefg", 6)).toBe("abcdef…");
    expect(sanitizeLine("\u{1f600}\u{1f601}\u{1f602}", 3)).toBe("\u{1f600}\u{1f601}\u{1f602}");
    expect(sanitizeLine("\u{1f600}\u{1f601}\u{1f602}", 2)).toBe("\u{1f600}\u{1f601}…");
    expect(sanitizeLine("x".repeat(1_000_000), 200)).toBe(`${"x".repeat(200)}…`);
  });
});
