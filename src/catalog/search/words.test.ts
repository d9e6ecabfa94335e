import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordsOf } from "./words.ts";

describe("words of a text", () => {
  it.each([
    ["read_file", ["read", "file"]],
    ["getUserID", ["get", "user", "id", "getuserid"]],
    ["HTTPServer", ["http", "server", "httpserver"]],
    ["sha256sum", ["sha", "256", "sum", "sha256sum"]],
    ["x2", ["x2"]],
    ["GitHub's e-mail", ["git", "hub", "github", "s", "mail"]],
    ["Überblick über naïve Cafés", ["uberblick", "uber", "naive", "cafes"]],
    ["ＦＵＬＬ width", ["full", "width"]],
    ["天气预报 city", ["天气", "气预", "预报", "city"]],
    ["天", ["天"]],
    ["한국어", ["한국", "국어"]],
    ["привет мир", ["привет", "мир"]],
    ["in\u200bvis\u{e0041}ible \u202eword", ["invisible", "word"]],
    ["a😀b \ud800 c", ["a", "b", "c"]],
    ["", []],
  ])("%j gives %j", (text, words) => {
    expect(wordsOf(text, 100)).toEqual(expect.arrayContaining(words));
    expect(wordsOf(text, 100).filter((word) => word !== "e")).toHaveLength(words.length);
  });

  it("is the same in a locale whose lower case of I is another letter", () => {
    expect(wordsOf("LIST İSSUES", 100)).toEqual(["list", "issues"]);
  });

  it("looks at no more than it is told to, and cuts endless words", () => {
    expect(wordsOf("one two three", 7)).toEqual(["one", "two"]);
    expect(wordsOf("x".repeat(1000), 1000)).toEqual(["x".repeat(40)]);
  });

  it("takes any text, and gives words without spaces", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        for (const word of wordsOf(text, 1000)) {
          expect(word).not.toBe("");
          expect(word).not.toContain(" ");
          expect(word.length).toBeLessThanOrEqual(40);
        }
      }),
    );
  });
});
