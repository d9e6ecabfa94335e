import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/types.ts";
import { argumentCheck } from "./argument-check.ts";
import { repairArguments } from "./repair.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string" },
    limit: { type: "integer" },
    ratio: { type: "number" },
    dry: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { type: "integer" } },
    filter: { type: "object", properties: { deep: { type: "array", items: { type: "integer" } } } },
    mode: { enum: ["fast", "slow"] },
    level: { enum: [1, 2] },
    either: { anyOf: [{ type: "integer" }, { type: "array", items: { type: "integer" } }] },
    free: {},
  },
  required: ["path"],
};

async function repaired(args: JsonObject, schema: JsonObject = SCHEMA) {
  const check = await argumentCheck(schema);
  if (check === undefined) throw new Error("the schema cannot be checked");
  return repairArguments(args, check);
}

test.each<[string, JsonObject, JsonObject]>([
  ["JSON text for a list", { tags: '["a","b"]' }, { tags: ["a", "b"] }],
  ["JSON text for an object, and text inside it", { filter: '{"deep":["1",2]}' }, { filter: { deep: [1, 2] } }],
  ["a number as text", { limit: " 5 ", ratio: "0.5" }, { limit: 5, ratio: 0.5 }],
  ["a boolean as text, as Python writes it, too", { dry: "True" }, { dry: true }],
  ["a number or boolean for a text", { tags: [1, true] }, { tags: ["1", "true"] }],
  ["one value for a list", { tags: "a", ids: "7" }, { tags: ["a"], ids: [7] }],
  ["null for what may be left out", { limit: null, tags: null }, {}],
  ["a number of an enumeration as text", { level: "2" }, { level: 2 }],
  ["text for the branch of a union it fits", { either: "[1,2]" }, { either: [1, 2] }],
  ["text for the other branch", { either: "3" }, { either: 3 }],
])("mends %s", async (_, wrong, right) => {
  const { args, repairs } = await repaired({ path: "p", ...wrong });
  expect(args).toEqual({ path: "p", ...right });
  expect(repairs.length).toBeGreaterThan(0);
});

test("says what was changed, and where", async () => {
  const { repairs } = await repaired({ path: 1, limit: "5", tags: "a", filter: { deep: "[1]" }, ratio: null });
  expect(repairs).toEqual([
    "path: written as text",
    "limit: read as integer",
    "tags: put into a list",
    "filter.deep: read as array",
    "ratio: null left out",
  ]);
});

test.each<[string, JsonObject]>([
  ["right values", { path: "p", limit: 5, dry: false, tags: [], filter: {}, free: null }],
  ["a text that holds JSON where a text is wanted", { path: '{"a":1}' }],
  ["a text where anything is allowed", { path: "p", free: "5" }],
  ["what the schema does not name", { path: "p", other: "5" }],
  ["a number with a fraction for a whole one", { path: "p", limit: "5.5" }],
  ["words for a number", { path: "p", limit: "five", dry: "yes" }],
  ["an id of so many digits that a number would change it", { path: "p", limit: "12345678901234567890" }],
  ["such an id inside JSON text", { path: "p", ids: "[12345678901234567890]" }],
  ["another choice than there is", { path: "p", mode: "FAST" }],
  ["several values in one text", { path: "p", ids: "1,2" }],
])("leaves alone %s", async (_, args) => {
  const result = await repaired(args);
  expect(result.args).toBe(args);
  expect(result.repairs).toEqual([]);
});

test("takes all of it out of one more wrapping, unless the tool has a parameter of that name", async () => {
  for (const key of ["arguments", "args", "input", "params", "parameters"]) {
    expect((await repaired({ [key]: { path: "p", limit: "5" } })).args).toEqual({ path: "p", limit: 5 });
    expect((await repaired({ [key]: '{"path":"p"}' })).args).toEqual({ path: "p" });
  }
  const own = { type: "object", properties: { input: { type: "object" }, x: {} }, required: ["input", "x"] };
  expect((await repaired({ input: { x: 1 } }, own)).args).toEqual({ input: { x: 1 } });
  expect((await repaired({ args: { limit: 5 } })).args).toEqual({ args: { limit: 5 } });
});

test("gives a property back the name it has for the server, at any depth", async () => {
  const inner = { type: "object", properties: { "@id": { type: "string" } } };
  const schema = { type: "object", properties: { $filter: { type: "string" }, in: { type: "array", items: inner } } };
  expect((await repaired({ _filter: "a", in: [{ _id: "b" }] }, schema)).args).toEqual({
    $filter: "a",
    in: [{ "@id": "b" }],
  });
  // A name of the tool's own stays its own.
  const both = { type: "object", properties: { $filter: { type: "string" }, _filter: { type: "string" } } };
  expect((await repaired({ _filter: "a" }, both)).args).toEqual({ _filter: "a" });
});

test("sends null for what must be null or a value, and was left out", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: ["integer", "null"] }, b: { anyOf: [{ type: "string" }, { type: "null" }] }, c: {} },
    required: ["a", "b"],
  };
  expect((await repaired({}, schema)).args).toEqual({ a: null, b: null });
  expect((await repaired({}, { ...schema, required: ["c"] })).args).toEqual({});
});

test("mends what it can where something else stays wrong", async () => {
  const { args } = await repaired({ limit: "5", dry: "perhaps" });
  expect(args).toEqual({ limit: 5, dry: "perhaps" });
});

test("ends with arguments and schemas that have no end", async () => {
  const tree = { type: "object", properties: { x: { $ref: "#" }, n: { type: "integer" } }, required: ["n"] };
  let deep: JsonObject = { n: "1" };
  for (let level = 0; level < 3_000; level++) deep = { n: "1", x: deep };
  expect((await repaired(deep, tree)).args).toMatchObject({ n: expect.anything() });
  const wide = { n: 1, list: Array.from({ length: 100_000 }, () => "1") };
  const list = {
    type: "object",
    properties: { n: { type: "integer" }, list: { type: "array", items: { type: "integer" } } },
  };
  expect((await repaired(wide, list)).args).toMatchObject({ n: 1 });
});

test("long lists beside a wrong value do not keep it from being mended", async () => {
  const list = Array.from({ length: 5_000 }, (_, n) => ({ n }));
  const schema = {
    type: "object",
    properties: {
      list: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
      limit: { type: "integer" },
    },
  };
  const { args, repairs } = await repaired({ list, limit: "5" }, schema);
  expect(repairs).toEqual(["limit: read as integer"]);
  expect(args.list).toBe(list);
});

test("a property named as the prototype stays a property", async () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"}}}') as JsonObject;
  const { args } = await repaired(JSON.parse('{"__proto__":"5"}') as JsonObject, schema);
  expect(JSON.stringify(args)).toBe('{"__proto__":5}');
});
