import { expect, it } from "vitest";
import { cleanSchema } from "./clean-schema.ts";

const HIDDEN = String.fromCodePoint(0xe0041);

it("cleans titles and descriptions wherever a schema can stand", () => {
  const schema = (mark: string) => ({
    description: `a${mark}`,
    properties: {
      title: { type: "string", title: `b${mark}` },
      default: { anyOf: [{ description: `c${mark}` }, { items: { description: `d${mark}` } }] },
    },
    $defs: { enum: { description: `e${mark}` } },
    not: { additionalProperties: { description: `f${mark}` } },
  });
  expect(cleanSchema(schema(HIDDEN))).toEqual(schema("[hidden text]"));
});

it("leaves names and values as they are", () => {
  const schema = {
    type: "object",
    properties: { [`p${HIDDEN}`]: { enum: [`v${HIDDEN}`, { title: HIDDEN }], default: { description: HIDDEN } } },
    required: [`p${HIDDEN}`],
    additionalProperties: false,
    maximum: 100,
    description: null,
  };
  expect(cleanSchema(schema)).toEqual(schema);
});

it("copies a property called __proto__ as a property", () => {
  const schema = JSON.parse('{"properties": {"__proto__": {"type": "string"}}}');
  expect(JSON.stringify(cleanSchema(schema))).toBe(JSON.stringify(schema));
});

it("allows everything below a depth that no schema has", () => {
  const depth = 50_000;
  const schema = JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`);
  expect(JSON.stringify(cleanSchema(schema))).toMatch(/^(\{"not":)+\{\}\}+$/);
});
