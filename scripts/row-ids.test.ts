import { expect, test } from "vitest";
import { asRanges, claimsOf } from "./row-ids.ts";

// The samples stay out of the names of these tests, which would claim the rows else.
test.each<[what: string, name: string, ids: string[]]>([
  ["one id", "[S1-27] follows nextCursor", ["S1-27"]],
  ["a list", "[S1-27, S1-28] keeps 512 tools", ["S1-27", "S1-28"]],
  ["one bracket after the other", "[S1-27][S3-01] reads both", ["S1-27", "S3-01"]],
  ["brackets in the middle", "paging [S1-29] [S1-27] of a list", ["S1-29", "S1-27"]],
  ["a group and its test naming the same row once", "[S1-27] a group [S1-27] a test in it", ["S1-27"]],
  ["no claim without brackets", "S1-27 without brackets", []],
  ["no claim in other brackets", "sends [1, 2] and [S] as they are", []],
])("reads %s", (_what, name, ids) => {
  expect(claimsOf(name)).toEqual({ ids, unreadable: [] });
});

test.each<[what: string, bracket: string]>([
  ["words beside an id", "[S1-27 follows]"],
  ["a semicolon", "[S1-27; S1-28]"],
  ["a range", "[S1-27..30]"],
  ["a small letter", "[s1-27]"],
  ["an id without a number", "[S1-]"],
])("calls %s unreadable", (_what, bracket) => {
  expect(claimsOf(`${bracket} a test`)).toEqual({ ids: [], unreadable: [bracket] });
});

test("joins neighbouring rows into ranges, never across systems", () => {
  const order = ["S1-01", "S1-02", "S1-03", "S2-01", "S2-02"];
  expect(asRanges(["S1-02", "S1-03", "S2-01"], order)).toBe("S1-02..S1-03, S2-01");
  expect(asRanges(["S1-01", "S1-03"], order)).toBe("S1-01, S1-03");
  expect(asRanges([], order)).toBe("");
});
