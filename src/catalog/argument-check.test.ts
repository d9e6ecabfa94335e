import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/types.ts";
import { argumentCheck } from "./argument-check.ts";
import { expectedParameters, nearestCall } from "./expected-parameters.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string", description: "Where to look" },
    limit: { type: "integer", minimum: 1, default: 10 },
    mode: { type: "string", enum: ["fast", "slow"] },
    range: { type: "object", properties: { from: { type: "number" } }, required: ["from"] },
  },
  required: ["path", "mode"],
  additionalProperties: false,
};

async function problems(of: JsonObject, args: JsonObject) {
  return (await argumentCheck(of))?.problems(args);
}

test("says what is wrong, and where", async () => {
  expect(await problems(schema, { path: 5, range: {}, extra: 1 })).toEqual([
    '"mode" is missing',
    "path: must be string, not number",
    'range: "from" is missing',
    "extra: is not among the parameters",
  ]);
});

test("shows the parameters, what must be given first, and the nearest call that fits", async () => {
  expect(expectedParameters(schema)).toBe(
    [
      "Expected parameters:",
      "  path: string – Where to look",
      '  mode: "fast" | "slow"',
      "  limit?: integer – (default 10)",
      "  range?: {from: number}",
    ].join("\n"),
  );
  const check = await argumentCheck(schema);
  if (check === undefined) throw new Error("the schema cannot be checked");
  expect(nearestCall({ path: 5, limit: 0, mode: "slow", range: {}, extra: 1 }, check)).toBe(
    '{"path":"<path>","limit":10,"mode":"slow","range":{"from":1}}',
  );
  expect(nearestCall({}, check)).toBe('{"path":"<path>","mode":"fast"}');
});

test("refuses nothing for a pattern, a format, or what hangs on one", async () => {
  const x = (part: JsonObject, more: JsonObject = {}) => ({ type: "object", properties: { x: part }, ...more });
  expect(await problems(x({ type: "string", pattern: "^(a+)+$" }), { x: `${"a".repeat(100)}!` })).toEqual([]);
  expect(await problems(x({ type: "string", pattern: "(?i)a" }), { x: "A" })).toEqual([]);
  expect(await problems(x({ type: "string", format: "uuid" }), { x: "no" })).toEqual([]);
  expect(await problems(x({ not: { pattern: "^a" } }), { x: "b" })).toEqual([]);
  expect(await problems(x({ oneOf: [{ pattern: "^a" }, { pattern: "^b" }] }), { x: "ab" })).toEqual([]);
  const byPattern = { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false };
  expect(await problems(byPattern, { "x-a": "1" })).toEqual([]);
  // And still for what is wrong beside them.
  expect(await problems(x({ type: "string", pattern: "a" }), { x: 5 })).toEqual(["x: must be string, not number"]);
});

test("reads each draft as it was meant", async () => {
  const x = (part: JsonObject, draft = "2020-12/schema") => ({
    $schema: `https://json-schema.org/draft/${draft}`,
    properties: { x: part },
  });
  expect(await problems(x({ prefixItems: [{ type: "string" }], items: false }), { x: ["a"] })).toEqual([]);
  expect(await problems(x({ items: [{ type: "string" }], additionalItems: false }), { x: ["a", 1] })).not.toEqual([]);
  const draft4 = {
    $schema: "http://json-schema.org/draft-04/schema#",
    properties: { x: { minimum: 0, exclusiveMinimum: true } },
  };
  expect(await problems(draft4, { x: 0 })).not.toEqual([]);
  expect(await problems(draft4, { x: 1 })).toEqual([]);
  expect(await problems(x({ type: "string", nullable: true }), { x: null })).toEqual([]);
});

test.each<[string, JsonObject]>([
  ["a reference to nothing", { properties: { x: { $ref: "#/$defs/none" } } }],
  ["a reference to the net", { properties: { x: { $ref: "https://example.invalid/s" } } }],
  ["a reference to itself", { properties: { x: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/a" } } }],
  ["a type nobody knows", { properties: { x: { type: "file" } } }],
  ["properties that are none", { properties: "x", additionalProperties: false }],
  ["an empty enumeration", { properties: { x: { enum: [] } } }],
  ["keywords of the wrong kind", { properties: { x: { minLength: "1", required: true, anyOf: {}, allOf: [null] } } }],
  ["the same $id twice", { properties: { x: { $id: "a" }, y: { $id: "a" } } }],
])("a schema with %s refuses nothing", async (_, odd) => {
  expect((await problems(odd, { x: "anything" })) ?? []).toEqual([]);
});

test("ends with schemas that would take for ever, and refuses nothing then", async () => {
  const doubling: JsonObject = {
    properties: { x: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `d${n}`,
        n === 59 ? { type: "integer" } : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    ),
  };
  expect(await problems(doubling, { x: 1 })).toEqual([]);
  // What one call has used up is there again for the next.
  const check = await argumentCheck(doubling);
  expect(check?.accepts({ x: 1 })).toBe(true);
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 5_000; level++) deep = { properties: { x: deep } };
  expect((await problems(deep, { x: 1 })) ?? []).toEqual([]);
});

test("a schema is compiled once, and not changed", async () => {
  const frozen = Object.freeze({ type: "object", properties: Object.freeze({ x: Object.freeze({ type: "string" }) }) });
  expect(await argumentCheck(frozen)).toBe(await argumentCheck(frozen));
  expect(await problems(frozen, { x: 1 })).toEqual(["x: must be string, not number"]);
});
