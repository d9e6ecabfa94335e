/**
 * Schemas as servers send them, right, odd, wrong and hostile. Each with calls as a model writes them that was shown the
 * schema for providers: what reaches the server must be valid by the original.
 */
import type { Schema } from "./providers.ts";

export interface Case {
  readonly name: string;
  readonly schema: Schema;
  readonly calls: readonly Schema[];
}

const text = { type: "string" };
const whole = { type: "integer" };

function object(properties: Schema, required: readonly string[] = [], more: Schema = {}): Schema {
  return { type: "object", properties, ...(required.length > 0 && { required }), ...more };
}

/** A tool with one parameter `x`. */
function one(x: unknown, more: Schema = {}): Schema {
  return object({ x }, ["x"], more);
}

function nest(levels: number, innermost: Schema): Schema {
  let schema = innermost;
  for (let level = 0; level < levels; level++) schema = object({ in: schema });
  return schema;
}

function numbered<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const TREE = {
  $defs: { Node: object({ value: text, children: { type: "array", items: { $ref: "#/$defs/Node" } } }, ["value"]) },
};

const DOUBLING = {
  ...one({ $ref: "#/$defs/d0" }),
  $defs: Object.fromEntries(
    numbered(40, (n) => [
      `d${n}`,
      n === 39 ? text : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  ),
};

const WIDE = {
  ...one({ $ref: "#/$defs/d0" }),
  $defs: Object.fromEntries(
    numbered(30, (n) => [
      `d${n}`,
      object(Object.fromEntries(numbered(10, (m) => [`f${m}`, { $ref: `#/$defs/d${n + 1}` }]))),
    ]),
  ),
};

const table: readonly (readonly [string, Schema, ...Schema[]])[] = [
  // The root.
  ["no schema to speak of", {}, {}],
  ["an object without properties", { type: "object" }, {}],
  ["an empty object", object({}), {}],
  ["properties without a type", { properties: { x: text } }, { x: "a" }, {}],
  ["required without properties", { type: "object", required: ["x"] }, { x: "a" }, { x: 1 }, { x: { deep: true } }],
  ["required beyond the properties", object({ a: text }, ["a", "b"]), { a: "1", b: true }],
  ["required twice", object({ a: text }, ["a", "a"]), { a: "1" }],
  ["required that is no list", { type: "object", properties: { a: { type: "string", required: true } } }, { a: "1" }],
  ["a closed object", object({ a: text }, ["a"], { additionalProperties: false }), { a: "1" }],
  [
    "a $schema and an $id",
    one(text, { $schema: "http://json-schema.org/draft-07/schema#", $id: "https://example.invalid/x" }),
    { x: "1" },
  ],
  ["a title and a description at the root", one(text, { title: "Args", description: "What to do." }), { x: "1" }],
  ["a root that may be null", { ...one(text), type: ["object", "null"] }, { x: "1" }],
  ["nothing more than a free map", { type: "object", additionalProperties: text }, { any: "1" }, {}],
  ["a root limited in number", one(text, { minProperties: 1, maxProperties: 3 }), { x: "1" }],
  ["names limited by a pattern", { type: "object", propertyNames: { pattern: "^[a-z]+$" } }, { abc: 1 }],
  ["examples and defaults at the root", one(text, { examples: [{ x: "a" }], default: { x: "b" } }), { x: "1" }],

  // Unions at the root.
  [
    "anyOf of required at the root",
    object({ a: text, b: text }, [], { anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { a: "1" },
    { b: "1" },
  ],
  [
    "oneOf of required at the root",
    object({ a: text, b: text, c: text }, ["c"], { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { c: "0", a: "1" },
  ],
  ["a union of objects at the root", { anyOf: [one(text), object({ y: whole }, ["y"])] }, { x: "1" }, { y: 2 }],
  [
    "a discriminated union at the root",
    {
      type: "object",
      oneOf: [
        object({ kind: { const: "a" }, a: text }, ["kind", "a"]),
        object({ kind: { const: "b" }, b: whole }, ["kind", "b"]),
      ],
    },
    { kind: "a", a: "1" },
    { kind: "b", b: 2 },
  ],
  ["allOf at the root", { type: "object", allOf: [one(text), object({ y: whole }, ["y"])] }, { x: "1", y: 2 }],
  ["a reference at the root", { $ref: "#/$defs/Args", $defs: { Args: one(text) } }, { x: "1" }],
  ["not at the root", one(text, { not: { required: ["y"] } }), { x: "1" }],
  [
    "if and then at the root",
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    object({ a: text, b: text }, [], { if: { required: ["a"] }, then: { required: ["b"] } }),
    { a: "1", b: "2" },
    {},
  ],
  ["an enumeration at the root", { type: "object", enum: [{ x: 1 }], properties: { x: whole } }, { x: 1 }],
  ["a union with false at the root", { type: "object", anyOf: [false, one(text)] }, { x: "1" }],
  ["an empty union at the root", { ...one(text), anyOf: [] }, { x: "1" }],
  [
    "the same property in branches of different kinds",
    { type: "object", anyOf: [one(text), one(whole)] },
    { x: "1" },
    { x: 1 },
  ],

  // References.
  [
    "a reference into $defs",
    { ...one({ $ref: "#/$defs/T" }), $defs: { T: object({ a: text }, ["a"]) } },
    { x: { a: "1" } },
  ],
  [
    "a reference into definitions",
    { ...one({ $ref: "#/definitions/T" }), definitions: { T: { type: "integer" } } },
    { x: 1 },
  ],
  [
    "a reference through a union",
    { ...one({ anyOf: [text, { $ref: "#/$defs/T" }] }), $defs: { T: object({ a: text }, ["a"]) } },
    { x: { a: "1" } },
    { x: "s" },
  ],
  [
    "a description beside a reference",
    { ...one({ $ref: "#/$defs/T", description: "here" }), $defs: { T: text } },
    { x: "1" },
  ],
  ["a reference to a property", object({ a: text, b: { $ref: "#/properties/a" } }, ["b"]), { b: "1" }],
  ["an encoded reference", { ...one({ $ref: "#/$defs/a~1b%20c" }), $defs: { "a/b c": whole } }, { x: 1 }],
  [
    "a reference to an anchor",
    { ...one({ $ref: "#T" }), $defs: { T: { $anchor: "T", type: "boolean" } } },
    { x: true },
  ],
  [
    "a reference by $id",
    {
      ...one({ $ref: "https://example.invalid/t" }),
      $defs: { T: { $id: "https://example.invalid/t", type: "boolean" } },
    },
    { x: true },
  ],
  [
    "a chain of references",
    { ...one({ $ref: "#/$defs/A" }), $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/C" }, C: whole } },
    { x: 1 },
  ],
  [
    "a tree",
    { ...one({ $ref: "#/$defs/Node" }), ...TREE },
    { x: { value: "1" } },
    { x: { value: "1", children: [{ value: "2", children: [] }] } },
  ],
  [
    "a tree that is the root",
    object({ value: text, next: { $ref: "#" } }, ["value"]),
    { value: "1", next: { value: "2" } },
  ],
  [
    "two that hold each other",
    {
      ...one({ $ref: "#/$defs/A" }),
      $defs: { A: object({ b: { $ref: "#/$defs/B" } }), B: object({ a: { $ref: "#/$defs/A" } }) },
    },
    { x: { b: { a: {} } } },
  ],
  [
    "a list inside itself",
    { ...one({ $ref: "#/$defs/L" }), $defs: { L: { type: "array", items: { $ref: "#/$defs/L" } } } },
    { x: [] },
  ],
  ["a reference to nothing", object({ x: { $ref: "#/$defs/Missing" }, y: text }), { y: "1" }],
  ["a reference to the net", object({ x: { $ref: "https://example.invalid/schema.json" }, y: text }), { y: "1" }],
  ["a reference that is no text", object({ x: { $ref: 5 }, y: text }), { y: "1" }],
  [
    "a reference to itself",
    { ...object({ x: { $ref: "#/$defs/A" }, y: text }), $defs: { A: { $ref: "#/$defs/A" } } },
    { y: "1" },
  ],
  ["references that double forty times", DOUBLING, { x: "1" }],
  ["references ten wide and thirty deep", WIDE, { x: {} }],
  [
    "a reference in allOf",
    {
      ...one({ allOf: [{ $ref: "#/$defs/T" }], description: "d" }),
      $defs: { T: { type: "string", enum: ["a", "b"] } },
    },
    { x: "a" },
  ],

  // allOf.
  [
    "allOf of objects in a property",
    one({ allOf: [object({ a: text }, ["a"]), object({ b: whole }, ["b"])] }),
    { x: { a: "1", b: 2 } },
  ],
  ["allOf with bounds", one({ type: "integer", allOf: [{ minimum: 1 }, { maximum: 5 }] }), { x: 3 }],
  ["allOf inside allOf", one({ allOf: [{ allOf: [{ type: "string" }] }, { description: "d" }] }), { x: "1" }],
  ["allOf that contradicts itself", object({ x: { allOf: [text, whole] }, y: text }), { y: "1" }],
  ["allOf with a union inside", one({ allOf: [{ anyOf: [text, whole] }, { description: "d" }] }), { x: "1" }, { x: 1 }],
  ["allOf with true and false", object({ x: { allOf: [true, text] }, y: { allOf: [false] } }), { x: "1" }],

  // Unions in properties.
  ["anyOf of two scalars", one({ anyOf: [text, whole] }), { x: "1" }, { x: 1 }],
  [
    "oneOf of two objects",
    one({ oneOf: [object({ a: text }, ["a"]), object({ b: whole }, ["b"])] }),
    { x: { a: "1" } },
    { x: { b: 1 } },
  ],
  ["anyOf with null", one({ anyOf: [text, { type: "null" }], default: null, title: "X" }), { x: "1" }, {}],
  ["a list of types", one({ type: ["string", "integer"] }), { x: "1" }, { x: 1 }],
  ["a list of types with null", one({ type: ["string", "null"], description: "d" }), { x: "1" }, {}],
  ["nullable as OpenAPI says it", one({ type: "string", nullable: true }), { x: "1" }],
  [
    "a union beside properties",
    one({ ...object({ a: text, b: text }), anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { x: { a: "1" } },
  ],
  [
    "a union in a union",
    one({ anyOf: [{ anyOf: [text, whole] }, { oneOf: [{ type: "boolean" }] }] }),
    { x: true },
    { x: "1" },
  ],
  ["a union of one", one({ anyOf: [whole] }), { x: 1 }],
  [
    "a union of constants",
    one({
      oneOf: [
        { const: "a", title: "A" },
        { const: "b", title: "B" },
      ],
    }),
    { x: "a" },
  ],
  [
    "a union of thirty",
    one({ anyOf: numbered(30, (n) => object({ [`f${n}`]: text }, [`f${n}`])) }),
    { x: { f3: "1" } },
  ],
  ["a union with an empty branch", one({ anyOf: [text, {}] }), { x: "1" }, { x: 5 }],
  ["a union that is no list", one({ anyOf: { type: "string" } }), { x: "1" }],
  ["type and union that say the same", one({ type: "string", anyOf: [{ enum: ["a"] }, { minLength: 3 }] }), { x: "a" }],
  ["a list or one of them", one({ anyOf: [text, { type: "array", items: text }] }), { x: "1" }, { x: ["1", "2"] }],
  ["only null", object({ x: { type: "null" }, y: text }, ["x"]), { y: "1" }],
  ["not in a property", one({ type: "string", not: { const: "no" } }), { x: "yes" }],
  ["not of a pattern", one({ type: "string", not: { pattern: "^no" } }), { x: "yes" }],
  [
    "oneOf told apart by patterns",
    one({
      oneOf: [
        { type: "string", pattern: "^a" },
        { type: "string", pattern: "^b" },
      ],
    }),
    { x: "a1" },
  ],

  // Enumerations.
  ["an enumeration of texts", one({ enum: ["a", "b"] }), { x: "a" }],
  ["an enumeration of numbers", one({ type: "integer", enum: [0, 1, 2] }), { x: 1 }],
  ["an enumeration of numbers without a type", one({ enum: [1, 2.5] }), { x: 2.5 }],
  ["an enumeration with null", one({ type: ["string", "null"], enum: ["a", null] }), { x: "a" }, {}],
  ["a mixed enumeration", one({ enum: ["auto", 1, true, null] }), { x: "auto" }, { x: 1 }, { x: true }],
  ["a mixed enumeration with objects", one({ enum: ["a", { b: 1 }, [1]] }), { x: "a" }],
  ["an enumeration with duplicates", one({ type: "string", enum: ["a", "a", "b"] }), { x: "b" }],
  ["an enumeration with an empty text", one({ type: "string", enum: ["", "a"] }), { x: "a" }],
  ["an enumeration of an empty text", one({ type: "string", enum: [""] }), { x: "" }],
  ["an empty enumeration", object({ x: { type: "string", enum: [] }, y: text }), { y: "1" }],
  [
    "an enumeration of two thousand",
    one({ type: "string", enum: numbered(2_000, (n) => `value-${n}`) }),
    { x: "value-7" },
  ],
  [
    "many large enumerations",
    object(Object.fromEntries(numbered(20, (n) => [`e${n}`, { type: "string", enum: numbered(200, (m) => `v${m}`) }]))),
    { e0: "v1", e19: "v199" },
  ],
  [
    "an enumeration of long texts",
    one({ type: "string", enum: numbered(200, (n) => `${n}${"x".repeat(500)}`) }),
    { x: `3${"x".repeat(500)}` },
  ],
  ["an enumeration of booleans", one({ type: "boolean", enum: [true] }), { x: true }],
  ["an enumeration in the wrong type", object({ x: { type: "integer", enum: ["1", "2"] }, y: text }), { y: "1" }],
  ["an enumeration that is no list", one({ type: "string", enum: "a" }), { x: "a" }],
  ["a constant", one({ const: "a" }), { x: "a" }],
  ["a constant number", one({ const: 7 }), { x: 7 }],
  ["a constant object", one({ const: { a: 1 } }), { x: { a: 1 } }],
  ["an enumeration of null", object({ x: { enum: [null] }, y: text }, ["x"]), { y: "1" }],

  // Lists.
  ["a list without items", one({ type: "array" }), { x: [] }, { x: ["a", 1, { b: 2 }] }],
  ["a list of anything", one({ type: "array", items: {} }), { x: ["a"] }],
  ["a list with items true", one({ type: "array", items: true }), { x: ["a"] }],
  ["a list with items false", one({ type: "array", items: false }), { x: [] }],
  [
    "a tuple as 2020-12 writes it",
    one(
      { type: "array", prefixItems: [text, whole], items: false, minItems: 2 },
      { $schema: "https://json-schema.org/draft/2020-12/schema" },
    ),
    { x: ["a", 1] },
  ],
  [
    "a tuple as draft 7 writes it",
    one(
      { type: "array", items: [text, whole], additionalItems: false },
      { $schema: "http://json-schema.org/draft-07/schema#" },
    ),
    { x: ["a", 1] },
  ],
  ["a tuple of one kind", one({ type: "array", prefixItems: [whole, whole], minItems: 2, maxItems: 2 }), { x: [1, 2] }],
  ["a tuple with a rest", one({ type: "array", prefixItems: [text], items: whole }), { x: ["a", 1, 2] }],
  ["an empty tuple", one({ type: "array", prefixItems: [] }), { x: [] }],
  ["a list of lists", one({ type: "array", items: { type: "array", items: whole } }), { x: [[1], [2]] }],
  ["a set", one({ type: "array", items: text, uniqueItems: true, minItems: 1, maxItems: 100_000 }), { x: ["a"] }],
  [
    "a list that contains",
    one({ type: "array", contains: { type: "integer" }, minContains: 1, maxContains: 2 }),
    { x: [1] },
  ],
  ["items without a type", one({ items: text }), { x: ["a"] }],
  ["bounds that are no counts", one({ type: "array", items: text, minItems: "1", maxItems: -1 }), { x: ["a"] }],

  // Numbers and texts.
  ["exclusive bounds", one({ type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 }), { x: 5 }],
  [
    "exclusive bounds of draft 4",
    one(
      { type: "integer", minimum: 0, exclusiveMinimum: true },
      { $schema: "http://json-schema.org/draft-04/schema#" },
    ),
    { x: 5 },
  ],
  ["multiples", one({ type: "number", multipleOf: 0.01 }), { x: 1.25 }],
  [
    "a safe integer's bounds",
    one({ type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }),
    { x: 1 },
  ],
  ["a format nobody knows", one({ type: "string", format: "uri-of-a-kind" }), { x: "a" }],
  [
    "formats of each kind",
    object({
      a: { type: "string", format: "uri" },
      b: { type: "string", format: "date-time" },
      c: { type: "integer", format: "int64" },
      d: { type: "string", format: "binary" },
    }),
    { a: "https://example.invalid/", c: 3 },
  ],
  ["a pattern of another dialect", one({ type: "string", pattern: "(?i)^abc$" }), { x: "ABC" }],
  ["a possessive pattern", one({ type: "string", pattern: "^a++$" }), { x: "aa" }],
  ["a pattern that never ends", one({ type: "string", pattern: "^(a+)+$" }), { x: `${"a".repeat(60)}!` }],
  ["a pattern with classes", one({ type: "string", pattern: "^\\d{4}-\\w+$" }), { x: "2026-ab" }],
  ["a pattern that is no text", one({ type: "string", pattern: 5 }), { x: "1" }],
  ["lengths", one({ type: "string", minLength: 1, maxLength: 8_192 }), { x: "a" }],
  [
    "content keywords",
    one({ type: "string", contentEncoding: "base64", contentMediaType: "image/png" }),
    { x: "aGk=" },
  ],
  [
    "a default and examples",
    object({ x: { type: "integer", default: 5, examples: [1, 2] }, y: { type: "string", default: null } }),
    { x: 1 },
    {},
  ],
  [
    "unknown keywords",
    one({ type: "string", "x-order": 1, deprecated: true, readOnly: true, $comment: "c", example: "e" }),
    { x: "1" },
  ],

  // Types.
  [
    "types by other names",
    object({
      a: { type: "str" },
      b: { type: "int" },
      c: { type: "bool" },
      d: { type: "dict" },
      e: { type: "list" },
      f: { type: "float" },
    }),
    { a: "1", b: 1, c: true, d: {}, e: [], f: 0.5 },
  ],
  ["types in capitals", object({ a: { type: "STRING" }, b: { type: "Integer" } }), { a: "1", b: 2 }],
  ["a type nobody knows", one({ type: "any" }), { x: "1" }, { x: [1] }],
  ["a type that is no text", one({ type: { oneOf: ["string"] } }), { x: "1" }],
  ["an empty list of types", one({ type: [] }), { x: "1" }],
  ["no type but a description", one({ description: "anything" }), { x: "1" }, { x: 5 }, { x: false }, { x: { y: 1 } }],
  ["a boolean schema", object({ yes: true, no: false, x: text }), { yes: { a: 1 }, x: "1" }],
  ["a schema that is null", object({ x: null, y: text }), { x: "1", y: "2" }],
  ["a schema that is a text", object({ x: "string", y: text }), { x: "1", y: "2" }],
  ["properties that are a list", { type: "object", properties: [text] }, {}],
  ["integer or number", one({ type: ["integer", "number"] }), { x: 1.5 }],
  [
    "every type there is",
    one({ type: ["string", "number", "integer", "boolean", "object", "array", "null"] }),
    { x: [1] },
    { x: "1" },
  ],

  // Objects in properties.
  ["an object without properties inside", one({ type: "object" }), { x: {} }, { x: { any: 1 } }],
  ["a map of numbers", one({ type: "object", additionalProperties: { type: "number" } }), { x: { a: 1 } }],
  [
    "a map by pattern",
    one({ type: "object", patternProperties: { "^x-": text }, additionalProperties: false }),
    { x: { "x-a": "1" } },
  ],
  [
    "a map by a pattern of another dialect",
    one({ type: "object", patternProperties: { "(?i)^x-": text } }),
    { x: { "X-a": "1" } },
  ],
  [
    "dependencies",
    one({
      ...object({ a: text, b: text }),
      dependentRequired: { a: ["b"] },
      dependentSchemas: { b: { required: ["a"] } },
    }),
    { x: { a: "1", b: "2" } },
  ],
  ["unevaluated properties", one({ ...object({ a: text }), unevaluatedProperties: false }), { x: { a: "1" } }],
  [
    "required of what may be null, deeper",
    one(object({ a: { type: ["integer", "null"] } }, ["a"])),
    { x: {} },
    { x: { a: 1 } },
  ],

  // Names.
  [
    "names with signs",
    object({ $filter: text, "@type": text, "a b": text, "a/b": whole }, ["$filter"]),
    { _filter: "1", _type: "2", a_b_09bbd3f2: 3 },
  ],
  ["names in other scripts", object({ 城市: text, größe: whole }, ["城市"]), { ___ed84a166: "1", gr__e: 2 }],
  [
    "names that fold into one",
    object({ "a.b": text, "a b": text, a_b: text }, ["a b"]),
    { a_b_c8687a08: "1", "a.b": "2" },
  ],
  ["a name of a hundred characters", object({ ["n".repeat(100)]: text }), { ["n".repeat(55)]: "1" }],
  ["an empty name", object({ "": text, x: text }), { x: "1" }],
  [
    "names of JavaScript",
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"integer"}}}',
    ),
    { proto: "1", constructor: "2", toString: 3 },
  ],
  [
    "names that are keywords",
    object({ type: text, properties: object({ items: whole }), required: { type: "boolean" }, $ref: text }),
    { type: "1", properties: { items: 2 }, required: true, _ref: "3" },
  ],
  ["brackets as forms write them", object({ "ids[]": { type: "array", items: whole } }, ["ids[]"]), { ids__: [1] }],
  [
    "refused names deeper",
    one(object({ $in: { type: "array", items: object({ "@id": text }, ["@id"]) } }, ["$in"])),
    { x: { _in: [{ _id: "1" }] } },
  ],

  // Size.
  ["nested thirty deep", nest(30, one(text)), { in: { in: {} } }],
  [
    "lists nested thirty deep",
    one(numbered(30, (n) => n).reduce<Schema>((items) => ({ type: "array", items }), whole)),
    { x: [[[]]] },
  ],
  [
    "two thousand properties",
    object(Object.fromEntries(numbered(2_000, (n) => [`p${n}`, text])), ["p1999"]),
    { p1999: "1", p0: "2" },
  ],
  ["a description of a megabyte", one({ type: "string", description: "words ".repeat(170_000) }), { x: "1" }],
  [
    "many long descriptions",
    object(
      Object.fromEntries(numbered(200, (n) => [`p${n}`, { type: "string", description: `${n} ${"y".repeat(2_000)}` }])),
    ),
    { p0: "1" },
  ],
  [
    "hidden writing in texts",
    one({ type: "string", description: "a\u200bb\u202ec\u001b[31md", enum: ["a\u200bb", "c"] }),
    { x: "c" },
  ],

  // As generators write them.
  [
    "a model of Pydantic",
    {
      $defs: { Mode: { enum: ["fast", "slow"], title: "Mode", type: "string" } },
      properties: {
        query: { title: "Query", type: "string" },
        limit: { anyOf: [{ type: "integer" }, { type: "null" }], default: null, title: "Limit" },
        mode: { $ref: "#/$defs/Mode", default: "fast" },
        tags: { anyOf: [{ items: { type: "string" }, type: "array" }, { type: "null" }], title: "Tags" },
      },
      required: ["query", "tags"],
      title: "searchArguments",
      type: "object",
    },
    { query: "a", limit: 3, mode: "slow" },
    { query: "a", tags: ["b"] },
  ],
  [
    "a schema of Zod",
    {
      type: "object",
      properties: {
        path: { type: "string" },
        edits: {
          type: "array",
          items: {
            type: "object",
            properties: { oldText: { type: "string" }, newText: { type: "string" } },
            required: ["oldText", "newText"],
            additionalProperties: false,
          },
        },
        dryRun: { type: "boolean", default: false },
      },
      required: ["path", "edits"],
      additionalProperties: false,
      $schema: "http://json-schema.org/draft-07/schema#",
    },
    { path: "a", edits: [{ oldText: "a", newText: "b" }] },
  ],
  [
    "a filter as query languages have it",
    {
      ...object({ filter: { $ref: "#/$defs/Filter" } }, ["filter"]),
      $defs: {
        Filter: {
          anyOf: [
            object({ and: { type: "array", items: { $ref: "#/$defs/Filter" } } }, ["and"]),
            object({ or: { type: "array", items: { $ref: "#/$defs/Filter" } } }, ["or"]),
            object({ field: text, equals: { type: ["string", "number", "boolean"] } }, ["field", "equals"]),
          ],
        },
      },
    },
    { filter: { field: "a", equals: 1 } },
    { filter: { and: [{ field: "a", equals: "b" }] } },
  ],
  [
    "the request of an OpenAPI description",
    object(
      {
        body: { allOf: [{ $ref: "#/components/schemas/Base" }, object({ extra: { type: "string", format: "uuid" } })] },
      },
      ["body"],
      { components: { schemas: { Base: object({ id: { type: "integer", format: "int64" } }, ["id"]) } } },
    ),
    { body: { id: 1 } },
  ],
];

export const CORPUS: readonly Case[] = table.map(([name, schema, ...calls]) => ({ name, schema, calls }));
