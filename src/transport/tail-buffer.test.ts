import { expect, test } from "vitest";
import { TailBuffer } from "./tail-buffer.ts";

test("keeps the last bytes of a flood", () => {
  const tail = new TailBuffer(1_000);
  for (let i = 0; i < 10_000; i++) tail.push(Buffer.from(`line ${i}\n`));
  const text = tail.toString();
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
  expect(text.endsWith("line 9999\n")).toBe(true);
});

test("does not start inside a character", () => {
  const tail = new TailBuffer(4);
  tail.push(Buffer.from("€€"));
  expect(tail.toString()).toBe("€");
});
