import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText, firstRows, GAP, widenLimit } from "./limit.ts";

const KIB_32 = { maxBytes: 32 * 1024, maxLines: 2000 };

interface Shown {
  readonly head: string;
  readonly tail: string;
  /** What is shown, with the line of the gap. */
  readonly body: string;
}

function shown(text: string, limit: { maxBytes: number; maxLines: number }): Shown {
  const cut = cutText(text, limit);
  if (cut === undefined) return { head: text, tail: "", body: text };
  const head = text.slice(0, cut.headEnd);
  const tail = text.slice(cut.tailStart);
  return { head, tail, body: tail === "" ? head : `${head}\n${GAP}\n${tail}` };
}

function countLines(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

describe("cutText", () => {
  it("leaves a text within both limits alone", () => {
    for (const text of ["", "a", "a\n", "x".repeat(32 * 1024), "a\n".repeat(2000)]) {
      expect(cutText(text, KIB_32)).toBeUndefined();
    }
  });

  it("[S1-33] [E175] shows the beginning and the end of one long line, and uses the limit to the last byte", () => {
    const text = `${"a".repeat(100 * 1024)}${"z".repeat(100 * 1024)}`;
    const { head, tail, body } = shown(text, KIB_32);
    expect(head).toMatch(/^a+$/);
    expect(tail).toBe("z".repeat(8 * 1024));
    expect(Buffer.byteLength(body)).toBe(32 * 1024);
    expect(cutText(text, KIB_32)).toMatchObject({
      totalBytes: text.length,
      omittedBytes: text.length - head.length - tail.length,
    });
  });

  it("[S3-59] [E175] shows no more than the lines that are allowed, the last ones whole", () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `line ${index}`);
    for (const end of ["", "\n"]) {
      const { head, tail, body } = shown(lines.join("\n") + end, { maxBytes: 50 * 1024, maxLines: 2000 });
      expect(countLines(body)).toBe(2000);
      expect(head.endsWith("\nline 1498")).toBe(true);
      expect(tail).toBe(lines.slice(2500).join("\n") + end);
    }
  });

  it("[S3-60] begins the end at the start of a line where there is one, also when the bytes are the limit", () => {
    const lines = Array.from({ length: 2000 }, (_, index) => `${index} ${"é".repeat(40)}`);
    const { tail, body } = shown(lines.join("\n"), { maxBytes: 50 * 1024, maxLines: 2000 });
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(50 * 1024);
    expect(Buffer.byteLength(body)).toBeGreaterThan(50 * 1024 - 4);
    expect(tail).toMatch(/^\d+ é/);
  });

  it("shows nothing of the end where there is room for little", () => {
    expect(shown("aaaa\nbbbb\ncccc\n", { maxBytes: 7, maxLines: 9 }).body).toBe("aaaa\nbb");
    expect(shown("aaaa\nbbbb\ncccc\n", { maxBytes: 1000, maxLines: 2 }).body).toBe("aaaa\nbbbb");
    expect(shown("aaaa", { maxBytes: 0, maxLines: 0 }).body).toBe("");
  });

  it("never leaves a part of a redaction mark", () => {
    const text = `key [REDACTED] ${"-".repeat(1000)} key [REDACTED] and more`;
    for (let maxBytes = 0; maxBytes < 400; maxBytes++) {
      const { head, tail } = shown(text, { maxBytes, maxLines: 10 });
      expect(head.replaceAll("[REDACTED]", "")).not.toMatch(/\[|R/);
      expect(tail.replaceAll("[REDACTED]", "")).not.toMatch(/\]|D/);
    }
    expect(shown("a [RED apple", { maxBytes: 6, maxLines: 10 }).head).toBe("a [RED");
  });

  it("stays within the limits, inside no character, and accounts for the rest, whatever the text", () => {
    const pieces = fc.constantFrom("a", "é", "€", "\u{1f600}", "\n", "\n\n", "[REDACTED]", "word ".repeat(30));
    const texts = fc.array(pieces, { maxLength: 60 }).map((list) => list.join(""));
    const limits = fc.record({ maxBytes: fc.nat(600), maxLines: fc.nat(20) });
    fc.assert(
      fc.property(texts, limits, (text, limit) => {
        const cut = cutText(text, limit);
        const { head, tail, body } = shown(text, limit);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(head.length + tail.length).toBeLessThanOrEqual(text.length);
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limit.maxBytes);
        expect(countLines(body)).toBeLessThanOrEqual(Math.max(1, limit.maxLines));
        expect(`${head}\n${tail}`).not.toMatch(/\p{Surrogate}/u);
        const bytes = Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail);
        expect(cut?.omittedBytes ?? 0).toBe(bytes);
        expect(cut === undefined).toBe(head === text);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("widenLimit", () => {
  const meta = (value: unknown) => ({ "anthropic/maxResultSizeChars": value });

  it("[E175] gives a tool the room it asks for, in lines too, up to a ceiling", () => {
    expect(widenLimit(KIB_32, meta(64 * 1024))).toEqual({ maxBytes: 64 * 1024, maxLines: 4000 });
    expect(widenLimit(KIB_32, meta(1e12))).toEqual({ maxBytes: 200 * 1024, maxLines: 14_000 });
    expect(widenLimit({ maxBytes: 1e6, maxLines: 10 }, meta(1e12))).toEqual({ maxBytes: 1e6, maxLines: 10 });
  });

  it("takes no other wish", () => {
    for (const wish of [undefined, null, 7, "text", [], {}, meta(0), meta(-1), meta(1000), meta("90000"), meta(null)]) {
      expect(widenLimit(KIB_32, wish)).toBe(KIB_32);
    }
  });
});

describe("firstRows", () => {
  it("gives the rows that fit with their line feeds, up to the number of lines", () => {
    const rows = ["ab", "é", "c"];
    expect(firstRows(rows, { maxBytes: 8, maxLines: 3 })).toEqual(rows);
    expect(firstRows(rows, { maxBytes: 7, maxLines: 3 })).toEqual(["ab", "é"]);
    expect(firstRows(rows, { maxBytes: 5, maxLines: 3 })).toEqual(["ab"]);
    expect(firstRows(rows, { maxBytes: 100, maxLines: 1 })).toEqual(["ab"]);
    expect(firstRows(rows, { maxBytes: 2, maxLines: 1 })).toEqual([]);
  });
});
