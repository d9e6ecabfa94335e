import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indentJson, isJsonText, mainListOf } from "./json-text.ts";

describe("mainListOf", () => {
  it("finds the longest list that stands in no other, and where its elements end", () => {
    const text = '{ "a": [1], "b": { "rows": [ [1, 2] , "x,]\\"" ,{"c":[]} ] }, "n": 1 }';
    const { ends = [], close = 0 } = mainListOf(text) ?? {};
    expect(ends.map((end) => text.slice(0, end).replace(/^.*"rows": /, ""))).toEqual([
      "[ [1, 2]",
      '[ [1, 2] , "x,]\\""',
      '[ [1, 2] , "x,]\\"" ,{"c":[]}',
    ]);
    expect(text.slice(close)).toBe(']}, "n": 1 }'.replace("]}", "] }"));
  });

  it("knows no list where there is none, or no JSON", () => {
    for (const text of ["", "{}", '"[1]"', "7", "[1", "a [1]", '{"a": "[1, 2]"}'])
      expect(mainListOf(text)).toBeUndefined();
    expect(mainListOf("[ ]")).toEqual({ ends: [], close: 2 });
    expect(mainListOf(`[${"[".repeat(50_000)}`)).toBeUndefined();
  });

  it("finds every element of any list", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(0, 2, "\t"), (items, space) => {
        const text = JSON.stringify(items, null, space);
        const { ends, close } = mainListOf(text) ?? expect.fail("it is a list");
        const found = ends.map((end, at) => JSON.parse(text.slice(at === 0 ? 1 : (ends[at - 1] ?? 0) + 1, end)));
        expect(JSON.stringify(found)).toBe(JSON.stringify(items));
        expect(close).toBe(text.length - 1);
      }),
    );
  });
});

const JSON_VALUE = fc.jsonValue({ maxDepth: 3 });

describe("indentJson", () => {
  it("writes what JSON.stringify would, for any value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(JSON_VALUE), fc.dictionary(fc.string(), JSON_VALUE)), (value) => {
        expect(indentJson(JSON.stringify(value))).toBe(`${JSON.stringify(value, null, 2)}\n`);
        expect(indentJson(JSON.stringify(value, null, 3))).toBe(`${JSON.stringify(value, null, 2)}\n`);
      }),
    );
  });

  it("keeps values to the letter, and grows little with brackets", () => {
    expect(indentJson('[12345678901234567890,1.10,"\\u00e9"]')).toBe(
      '[\n  12345678901234567890,\n  1.10,\n  "\\u00e9"\n]\n',
    );
    expect(indentJson(`${"[".repeat(5_000)}${"]".repeat(5_000)}`).length).toBeLessThan(11_000);
  });
});

it("JSON is what is one object or array", () => {
  for (const text of ["{}", " [1]\n", '{"a":1}']) expect(isJsonText(text)).toBe(true);
  for (const text of ["", "1", '"a"', "{", "[1] [2]", "note: {}"]) expect(isJsonText(text)).toBe(false);
});
