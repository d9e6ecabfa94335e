import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stem } from "./stem.ts";

describe("stem", () => {
  it.each([
    ["issues", "issue"],
    ["queries", "query"],
    ["searching", "searches"],
    ["created", "creating"],
    ["generation", "generate"],
    ["running", "runs"],
    ["deletion", "delete"],
    ["stopped", "stop"],
    ["boxes", "box"],
    ["statuses", "status"],
    ["navigation", "navigate"],
    ["conversion", "conversions"],
    ["happy", "happiness"],
  ])("%s and %s have one", (one, other) => {
    expect(stem(one)).toBe(stem(other));
  });

  it.each([
    ["news", "new"],
    ["status", "state"],
    ["file", "fill"],
    ["hope", "hop"],
    ["user", "use"],
    ["as", "a"],
  ])("%s and %s have two", (one, other) => {
    expect(stem(one)).not.toBe(stem(other));
  });

  it("leaves what is no English word in lower case as it is", () => {
    for (const word of ["天气", "sha256", "привет", "", "es"]) expect(stem(word)).toBe(word);
  });

  it("takes any word, and gives none that is longer by more than a letter", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (word) => {
        expect(stem(word).length).toBeLessThanOrEqual(word.length + 1);
      }),
    );
    const letter = fc.constantFrom(..."aeioulysntrgdbmkh");
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 20 }), (letters) => {
        const word = letters.join("");
        expect(stem(word).length).toBeLessThanOrEqual(word.length + 1);
      }),
    );
  });
});
