import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/types.ts";
import { providerSchema } from "./provider-schema.ts";

function shown(part: unknown, more: JsonObject = {}): unknown {
  const { schema } = providerSchema({ type: "object", properties: { x: part }, ...more });
  return (schema.properties as JsonObject).x;
}

test("a plain schema stays what it is", () => {
  const plain = {
    type: "object",
    properties: {
      path: { type: "string", description: "Where" },
      mode: { type: "string", enum: ["a", "b"] },
      tags: { type: "array", items: { type: "string" }, minItems: 1 },
      deep: { type: "object", properties: { n: { type: "integer", minimum: 0 } }, required: ["n"] },
    },
    required: ["path"],
  };
  expect(providerSchema(plain)).toEqual({ schema: plain, notes: [] });
});

test("what cannot be a keyword everywhere is said in words", () => {
  expect(shown({ type: "string", format: "uri", pattern: "^h", minLength: 1, maxLength: 9, default: "h" })).toEqual({
    type: "string",
    description: '(format uri; pattern ^h; 1 to 9 characters; default "h")',
  });
  expect(shown({ type: "integer", exclusiveMinimum: 0, multipleOf: 5, description: "How many" })).toEqual({
    type: "integer",
    description: "How many (greater than 0; multiple of 5)",
  });
  expect(shown({ type: "integer", enum: [0, 1] })).toEqual({ type: "integer", description: "(one of 0, 1)" });
});

test("unions keep their structure, with nothing beside them", () => {
  const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const b = { type: "object", properties: { b: { type: "integer" } } };
  expect(shown({ oneOf: [a, b], description: "Which" })).toEqual({
    anyOf: [
      { ...a, description: "Which" },
      { ...b, description: "Which" },
    ],
  });
  expect(shown({ anyOf: [{ type: "string" }, { type: "null" }] })).toEqual({ type: "string" });
  expect(shown({ oneOf: [{ const: "a" }, { const: "b" }] })).toEqual({ type: "string", enum: ["a", "b"] });
});

test("a union at the root becomes one object, and the choice a sentence", () => {
  const { schema, notes } = providerSchema({
    type: "object",
    properties: { id: { type: "string" }, name: { type: "string" }, of: { type: "string" } },
    required: ["of"],
    oneOf: [{ required: ["id"] }, { required: ["name"] }],
  });
  expect(schema.required).toEqual(["of"]);
  expect(Object.keys(schema)).toEqual(["type", "properties", "required"]);
  expect(notes).toEqual(["Give id, or name."]);
});

test("a reference is written out, one inside itself twice and then named by its fields", () => {
  const node = { type: "object", properties: { value: { type: "string" }, next: { $ref: "#/$defs/Node" } } };
  const end = { type: "object", properties: {}, description: "(fields value, next)" };
  const inner = { type: "object", properties: { value: { type: "string" }, next: end } };
  expect(shown({ $ref: "#/$defs/Node" }, { $defs: { Node: node } })).toEqual({
    type: "object",
    properties: { value: { type: "string" }, next: inner },
  });
});

test("a property with a name that is refused is shown by another, which says what it is sent as", () => {
  const { schema } = providerSchema({
    type: "object",
    properties: { $filter: { type: "string", description: "OData" } },
    required: ["$filter"],
  });
  expect(schema).toEqual({
    type: "object",
    properties: { _filter: { type: "string", description: 'OData (sent as "$filter")' } },
    required: ["_filter"],
  });
});

test("hostile nesting and references end", () => {
  let deep: JsonObject = {};
  for (let level = 0; level < 20_000; level++) deep = { properties: { x: deep } };
  expect(() => providerSchema(deep)).not.toThrow();
  let unions: JsonObject = { type: "string" };
  for (let level = 0; level < 20_000; level++) unions = { anyOf: [unions] };
  expect(() => providerSchema({ properties: { x: unions } })).not.toThrow();
  let parts: JsonObject = { type: "string" };
  for (let level = 0; level < 20_000; level++) parts = { allOf: [parts] };
  expect(() => providerSchema({ properties: { x: parts } })).not.toThrow();
  let chain: JsonObject = { type: "string" };
  const $defs: Record<string, unknown> = {};
  for (let n = 0; n < 5_000; n++) {
    $defs[`d${n}`] = chain;
    chain = { $ref: `#/$defs/d${n}` };
  }
  expect(() => providerSchema({ properties: { x: chain }, $defs })).not.toThrow();
});
