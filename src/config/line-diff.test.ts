import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineDiff } from "./line-diff.ts";

/** What the lines of a difference make of the text before. */
function applied(before: string, diff: readonly string[]): string {
  const old = before === "" ? [] : before.split("\n");
  const now: string[] = [];
  let at = 0;
  for (const line of diff) {
    const header = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(line);
    if (header !== null) {
      const start = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      while (at < start) now.push(old[at++] ?? "");
    } else if (line.startsWith("+")) now.push(line.slice(1));
    else {
      expect(old[at]).toBe(line.slice(1));
      if (line.startsWith(" ")) now.push(line.slice(1));
      at++;
    }
  }
  return [...now, ...old.slice(at)].join("\n");
}

const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 }).map((lines) => lines.join("\n"));

describe("the difference of two texts", () => {
  it("turns one into the other", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applied(before, lineDiff(before, after))).toBe(after);
      }),
    );
  });

  it("has three lines around each change and nothing of the rest", () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const after = before.with(4, "five").toSpliced(20, 0, "new");
    expect(lineDiff(before.join("\n"), after.join("\n"))).toEqual([
      "@@ -2,7 +2,7 @@",
      ...[" line 2", " line 3", " line 4", "-line 5", "+five", " line 6", " line 7", " line 8"],
      "@@ -18,6 +18,7 @@",
      ...[" line 18", " line 19", " line 20", "+new", " line 21", " line 22", " line 23"],
    ]);
  });

  it("is empty without one, and all of a text that is new", () => {
    expect(lineDiff("a\n", "a\n")).toEqual([]);
    expect(lineDiff("", "a\nb\n")).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
  });

  it("of large texts that have nothing in common is given all the same", () => {
    const lines = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join("\n");
    expect(lineDiff(lines("a"), lines("b"))).toHaveLength(10_001);
  });
});
