import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText, firstRows, widenLimit } from "./limit.ts";

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
  return { head, tail, body: tail === "" ? head : `${head}\n${cut.gap}\n${tail}` };
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

  it("shows the first elements of a JSON list whole, what stands behind them, and how many were left out", () => {
    const items = Array.from({ length: 100 }, (_, index) => ({ id: index, tags: ["a", "b,]"], note: "é".repeat(20) }));
    const limit = { maxBytes: 1000, maxLines: 40 };
    for (const value of [
      items,
      { total: 100, items, next: "x" },
      { data: { short: [1, 2], nodes: items }, errors: [] },
    ]) {
      for (const space of [0, 2, "\t"]) {
        const text = JSON.stringify(value, null, space);
        const { head, tail, body } = shown(text, limit);
        const [, left = "", gapTail = ""] = /\n\[… (\d+) of 100 elements left out\]\n(.*)$/s.exec(body) ?? [];
        expect(gapTail).toBe(tail);
        // What is shown is JSON again once the gap is taken out, with the first elements in it.
        const rest = JSON.stringify(JSON.parse(head + tail));
        const kept = items.slice(0, 100 - Number(left));
        expect(kept.length).toBeGreaterThan(0);
        expect(rest).toBe(JSON.stringify(value).replace(JSON.stringify(items), JSON.stringify(kept)));
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limit.maxBytes);
        expect(countLines(body)).toBeLessThanOrEqual(limit.maxLines);
      }
    }
  });

  it("cuts a list like any text where its elements are not what is too long", () => {
    const long = "x".repeat(2000);
    const limit = { maxBytes: 1000, maxLines: 40 };
    const blank = `[1,2${"\n".repeat(50)}]`;
    for (const value of [
      [long],
      [long, 1],
      { items: [1, 2], log: long },
      { log: long, items: [1, 2] },
      { log: long, a: [] },
    ]) {
      expect(cutText(JSON.stringify(value), limit)?.gap).toBe("[…]");
    }
    for (const text of [blank, `[1,${long}]`, `[${"1,".repeat(900)}`, "[".repeat(100_000)]) {
      expect(cutText(text, limit)?.gap).toBe("[…]");
    }
  });

  it("stays within the limits, inside no character, and accounts for the rest, whatever the text", () => {
    const pieces = fc.constantFrom("a", "é", "€", "\u{1f600}", "\n", "\n\n", "[REDACTED]", "word ".repeat(30));
    const plain = fc.array(pieces, { maxLength: 60 }).map((list) => list.join(""));
    const list = fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 60 });
    const json = fc
      .tuple(
        fc.oneof(
          list,
          list.map((items) => ({ items, more: 1 })),
        ),
        fc.constantFrom(0, 1, "\t"),
      )
      .map(([value, space]) => JSON.stringify(value, null, space));
    const texts = fc.oneof(plain, json);
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
