import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutToWidth, textWidth, wrapToWidth } from "./width.ts";

const MODULES = new URL("../../node_modules/", import.meta.url);

/** How both hosts count: what is wider than the terminal by this ends pi. */
const HOSTS = await Promise.all(
  ["@earendil-works", "@mariozechner"].map(async (scope) => {
    const file = new URL(`${scope}/pi-tui/dist/utils.js`, pathToFileURL(MODULES.pathname));
    const { visibleWidth } = (await import(file.href)) as { visibleWidth(text: string): number };
    return visibleWidth;
  }),
);

/** Texts that are hard to count: marks on nothing, pictures of many parts, conjuncts, half width forms. */
const hard = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."aé \u0301中한ก\u0e33क\u094dष\u093f👨👩\u200d👧🏽🇩🇪\ufe0f\u20e31©▶ｶﾞ\u1100각\u1161\u200cم\u064b\u1031\u103a\u0f7f",
      ),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("the width of a text", () => {
  test.each([
    ["", 0],
    ["plain", 5],
    ["中文", 4],
    ["e\u0301", 1],
    ["👨\u200d👩\u200d👧", 2],
    ["🇩🇪", 2],
    ["👍🏽", 2],
    ["▶ ©", 3],
    ["ﾊﾝｶｸ", 4],
  ])("%j takes %i columns", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test("is never less than a host counts, for the characters of Unicode", () => {
    const wrong: string[] = [];
    // Of large blocks that are all alike, some.
    const stepAt = (code: number) => ((code > 0x3400 && code < 0xd800) || code > 0x20000 ? 997 : 1);
    const isPrivate = (code: number) => code >= 0xe000 && code < 0xf900;
    for (let code = 0x20; code < 0x110000; code += isPrivate(code) ? 97 : stepAt(code)) {
      // Controls and half pairs are not in clean text.
      if ((code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000)) continue;
      const character = String.fromCodePoint(code);
      const width = textWidth(character);
      if (HOSTS.some((count) => count(character) > width)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  test("is never less than a host counts, and nothing that was cut or wrapped is too wide, for any text", () => {
    fc.assert(
      fc.property(hard, fc.integer({ min: 2, max: 20 }), (text, width) => {
        const lines = [cutToWidth(text, width), ...wrapToWidth(text, width)];
        for (const count of HOSTS) {
          expect(count(text)).toBeLessThanOrEqual(textWidth(text));
          for (const line of lines) expect(count(line)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

test("a cut line says so, and one that fits is left as it is", () => {
  expect(cutToWidth("hello world", 6)).toBe("hello…");
  expect(cutToWidth("hello", 5)).toBe("hello");
  expect(cutToWidth("中文字", 5)).toBe("中文…");
  expect(cutToWidth("中文字", 2)).toBe("…");
  expect(cutToWidth("anything", 0)).toBe("");
  expect(cutToWidth("x".repeat(1_000_000), 5)).toBe("xxxx…");
});

test("long lines are broken between words where that is possible", () => {
  expect(wrapToWidth("the quick brown fox\n\n\tjumps", 10)).toEqual(["the quick", "brown fox", "", "  jumps"]);
  expect(wrapToWidth("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  expect(wrapToWidth("中文字", 4)).toEqual(["中文", "字"]);
  expect(wrapToWidth("", 4)).toEqual([""]);
});
