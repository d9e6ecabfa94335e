import { expect, it } from "vitest";
import { visibleJson } from "./json.ts";

it("visibleJson means the same and holds nothing that is not seen", () => {
  const value = { "a\u202e": ["\u001b[31m", "\u0085\u2028\u200b\ufeff", "\u{e0041}", "é字👍", "\n\t", "\ud800"] };
  const text = visibleJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toMatch(/^[\x20-\x7eé字👍]*$/u);
});

it("visibleJson gives a text for what cannot be written", () => {
  let deep: object = {};
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(JSON.parse(visibleJson(deep))).toContain("too deeply nested");
});
