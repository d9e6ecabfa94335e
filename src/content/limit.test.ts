import { describe, expect, it } from "vitest";
import { limitText } from "./limit.ts";
import { randomNumbers, randomText } from "./random.fixture.ts";

const KIB_32 = { maxBytes: 32 * 1024, maxLines: 2000 };

/** A limited text without the last line. */
function bodyOf(text: string): string {
  return text.slice(0, text.lastIndexOf("\n[output truncated: "));
}

describe("limitText", () => {
  it("leaves a text within both limits alone", () => {
    for (const text of ["", "a", "a\n", "x".repeat(32 * 1024), "a\n".repeat(2000)]) {
      expect(limitText(text, KIB_32)).toEqual({ text, truncated: false, omittedBytes: 0, omittedLines: 0 });
    }
  });

  it("bounds a long text at 32 KiB and says how much is missing", () => {
    const { text, truncated, omittedBytes } = limitText("word ".repeat(20_000), KIB_32);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(bodyOf(text))).toBe(32 * 1024);
    expect(omittedBytes).toBe(100_000 - 32 * 1024);
    expect(text.endsWith(`\n[output truncated: ${omittedBytes} of 100000 bytes not shown]`)).toBe(true);
  });

  it("cuts inside a single line that is longer than the limit", () => {
    const { text } = limitText("x".repeat(200 * 1024), KIB_32);
    expect(bodyOf(text)).toBe("x".repeat(32 * 1024));
  });

  it("cuts after the last line that is allowed", () => {
    const text = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join("\n");
    const limited = limitText(text, { maxBytes: 50 * 1024, maxLines: 2000 });
    expect(bodyOf(limited.text).split("\n")).toHaveLength(2000);
    expect(bodyOf(limited.text).endsWith("\nline 1999")).toBe(true);
    expect(limited.omittedLines).toBe(1000);
  });

  it("counts a line that is cut as omitted", () => {
    expect(limitText("aaaa\nbbbb\ncccc\n", { maxBytes: 7, maxLines: 9 })).toEqual({
      text: "aaaa\nbb\n[output truncated: 8 of 15 bytes not shown]",
      truncated: true,
      omittedBytes: 8,
      omittedLines: 2,
    });
  });

  it("never cuts inside a character", () => {
    for (const [letter, bytes] of [
      ["é", 2],
      ["€", 3],
      ["\u{1f600}", 4],
    ] as const) {
      for (let maxBytes = 0; maxBytes < 12; maxBytes++) {
        const { text } = limitText(letter.repeat(10), { maxBytes, maxLines: 10 });
        expect(bodyOf(text)).toBe(letter.repeat(Math.floor(maxBytes / bytes)));
      }
    }
  });

  it("never leaves a part of a redaction mark", () => {
    const text = "key [REDACTED] and more text";
    for (let maxBytes = 4; maxBytes < 14; maxBytes++) {
      expect(bodyOf(limitText(text, { maxBytes, maxLines: 10 }).text)).toBe("key ");
    }
    expect(bodyOf(limitText(text, { maxBytes: 14, maxLines: 10 }).text)).toBe("key [REDACTED]");
    expect(bodyOf(limitText("a [RED apple", { maxBytes: 6, maxLines: 10 }).text)).toBe("a [RED");
  });

  it("shows a beginning within the limits, and accounts for the rest, whatever the text", () => {
    const next = randomNumbers(3);
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(next, ["a", "é", "€", "\u{1f600}", "\n", "\n\n", "[REDACTED]"], 20);
      const limit = { maxBytes: next(40), maxLines: next(8) };
      const limited = limitText(text, limit);
      const body = limited.truncated ? bodyOf(limited.text) : limited.text;
      expect(text.startsWith(body)).toBe(true);
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limit.maxBytes);
      expect(body.replace(/\n$/, "").split("\n").length).toBeLessThanOrEqual(Math.max(1, limit.maxLines));
      expect(limited.omittedBytes).toBe(Buffer.byteLength(text) - Buffer.byteLength(body));
      expect(limited.truncated).toBe(body !== text);
      expect(limited.omittedLines > 0).toBe(limited.truncated && !/^\n?$/.test(text.slice(body.length)));
    }
  });
});
