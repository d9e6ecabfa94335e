import fc from "fast-check";
import type { Schema } from "./providers.ts";

const NAMES = ["a", "b", "c", "$d", "e f", "__proto__"];
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null", "int", "any", "STRING"];

/** Schemas of every keyword with right and wrong values, references among them. */
export function randomSchema(): fc.Arbitrary<Schema> {
  const { root } = fc.letrec<{ root: Schema; part: unknown; schema: Schema }>((tie) => {
    const part = tie("part");
    const parts = fc.array(part, { maxLength: 3 });
    const map = fc.dictionary(fc.constantFrom(...NAMES), part, { maxKeys: 4 });
    const wrong = fc.constantFrom(null, true, false, 5, -1, "x", [], {});
    const or = (right: fc.Arbitrary<unknown>) =>
      fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: wrong });
    const type = fc.constantFrom(...TYPES);
    const keywords = {
      type: or(fc.oneof(type, fc.array(type, { maxLength: 3 }))),
      properties: or(map),
      required: or(fc.array(fc.constantFrom(...NAMES), { maxLength: 3 })),
      additionalProperties: or(fc.oneof(fc.boolean(), part)),
      patternProperties: or(map),
      items: or(fc.oneof(part, parts)),
      prefixItems: or(parts),
      minItems: or(fc.integer({ min: 0, max: 3 })),
      anyOf: or(parts),
      oneOf: or(parts),
      allOf: or(parts),
      not: or(part),
      if: or(part),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: or(part),
      enum: or(fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 4 })),
      const: fc.jsonValue({ maxDepth: 1 }),
      $ref: or(fc.constantFrom("#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/nowhere")),
      minimum: or(fc.integer({ min: -5, max: 5 })),
      exclusiveMinimum: or(fc.integer({ min: -5, max: 5 })),
      pattern: or(fc.constantFrom("^a+$", "(?i)x", "[")),
      format: or(fc.constantFrom("date-time", "uri", "odd")),
      nullable: or(fc.boolean()),
      description: or(fc.constantFrom("words", "\u001b[31mred", "d".repeat(3_000))),
      title: or(fc.constant("Title")),
      default: fc.jsonValue({ maxDepth: 1 }),
    };
    const schema = fc.record(keywords, { requiredKeys: [] }).chain((full) => {
      const names = Object.keys(full);
      return fc.subarray(names, { maxLength: 4 }).map((kept) => pick(full as Schema, kept));
    });
    return {
      schema,
      part: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        fc.constantFrom<unknown>({ type: "string" }, true, {}),
        schema,
      ),
      root: fc
        .record({ schema, $defs: fc.dictionary(fc.constantFrom("a", "b"), part, { maxKeys: 2 }) })
        .map(({ schema: own, $defs }) => ({ ...own, type: "object", $defs })),
    };
  });
  return root;
}

function pick(value: Schema, names: readonly string[]): Schema {
  return Object.fromEntries(names.map((name) => [name, value[name]]));
}
