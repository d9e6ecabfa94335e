import fc from "fast-check";
import { expect, test } from "vitest";
import { TailBuffer } from "./tail-buffer.ts";

function tailOf(maxBytes: number, ...chunks: (string | Uint8Array)[]): string {
  const tail = new TailBuffer(maxBytes);
  for (const chunk of chunks) tail.push(Buffer.from(chunk as string));
  return tail.toString();
}

test("is empty, short, full, or the last bytes of a flood", () => {
  expect(tailOf(8)).toBe("");
  expect(tailOf(8, "abc", "", "de")).toBe("abcde");
  expect(tailOf(8, "abc", "defgh")).toBe("abcdefgh");
  expect(tailOf(8, "abc", "defgh", "i")).toBe("bcdefghi");
  expect(tailOf(8, "abc", "0123456789".repeat(10))).toBe("23456789");
});

test("holds the last bytes however they came", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary-ascii" })), fc.integer({ min: 1, max: 20 }), (chunks, maxBytes) => {
      expect(tailOf(maxBytes, ...chunks)).toBe(chunks.join("").slice(-maxBytes));
    }),
  );
});

test("does not start inside a character", () => {
  expect(tailOf(4, "€€")).toBe("€");
});
