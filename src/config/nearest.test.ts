import { expect, it } from "vitest";
import { KNOWN_FIELDS, SUGGESTED_FIELDS } from "./known-fields.ts";
import { nearest } from "./nearest.ts";

it("finds what was meant", () => {
  for (const [slip, meant] of [
    ["comand", "command"],
    ["commandd", "command"],
    ["comamnd", "command"],
    ["Command", "command"],
    ["arg", "args"],
    ["agrs", "args"],
    ["ENV", "env"],
    ["header", "headers"],
    ["request_timeout_ms", "requestTimeoutMs"],
    ["requestTimeout", "requestTimeoutMs"],
    ["bearer-token", "bearerToken"],
    ["enable", "enabled"],
    ["lifecylce", "lifecycle"],
  ]) {
    expect(nearest(slip ?? "", SUGGESTED_FIELDS), slip).toBe(meant);
  }
});

it("finds nothing near what is far from everything", () => {
  for (const word of ["", "x", "ab", "whatever", "path", "user", "color", "__proto__", "c".repeat(10_000)]) {
    expect(nearest(word, SUGGESTED_FIELDS), word).toBeUndefined();
  }
});

it("takes the nearest, and of two the first", () => {
  expect(nearest("abcd", ["abxd", "abcde", "abcd"])).toBe("abcd");
  expect(nearest("abcd", ["abxd", "abcy"])).toBe("abxd");
});

it("is asked only for what is not known", () => {
  for (const field of KNOWN_FIELDS.keys()) expect(field).toMatch(/^[A-Za-z0-9_]+$/);
});
