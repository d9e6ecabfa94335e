import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, ToolDefinition } from "../protocol/types.ts";
import { toolSignature } from "./signature.ts";

function toolOf(inputSchema: JsonObject, description = "", name = "t"): ToolDefinition {
  return { name, description, inputSchema, annotations: {}, raw: {} };
}

function of(properties: JsonObject, required: readonly string[] = [], more: JsonObject = {}): string {
  return toolSignature(toolOf({ type: "object", properties, required, ...more }));
}

function typeOf(schema: unknown, more: JsonObject = {}): string {
  return of({ x: schema }, ["x"], more).slice("t(x: ".length, -1);
}

describe("a tool in one line", () => {
  it("has the name, the parameters and the first sentence", () => {
    const tool = toolOf(
      { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      "Reads a\n text file. Fails for a folder.",
      "read_file",
    );
    expect(toolSignature(tool)).toBe("read_file(path: string) // Reads a text file.");
    expect(toolSignature(tool, { descriptionChars: 0 })).toBe("read_file(path: string)");
  });

  it("has required parameters first, otherwise in the server's order", () => {
    const any = { type: "string" };
    expect(of({ a: any, b: any, c: any, d: any }, ["d", "b"])).toBe("t(b: string, d: string, a?: string, c?: string)");
  });

  it("has a parameter that is required and not described", () => {
    expect(of({}, ["x"])).toBe("t(x: any)");
  });

  it("has no parameters where there are none", () => {
    expect(toolSignature(toolOf({ type: "object" }))).toBe("t()");
    expect(toolSignature(toolOf({}))).toBe("t()");
  });

  it("has simple defaults", () => {
    expect(of({ n: { type: "integer", default: 5 }, o: { type: "object", default: { a: 1 } } })).toBe(
      "t(n?: integer = 5, o?: object)",
    );
    expect(of({ s: { type: "string", default: "x".repeat(100) } })).toBe("t(s?: string)");
  });

  it("has what required parameters say of themselves, when asked to", () => {
    const tool = toolOf({
      properties: { a: { type: "string", description: "Where it\nis. Or not." }, b: { description: "What" } },
      required: ["a"],
    });
    expect(toolSignature(tool, { parameterDocChars: 20 })).toBe("t(a: string /* Where it is. */, b?: any)");
  });
});

describe("types", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "string", format: "date-time" }, "string<date-time>"],
    [{ type: ["string", "null"] }, "string|null"],
    [{ type: "number", nullable: true }, "number|null"],
    [{ enum: ["a", "b", 3, null] }, '"a"|"b"|3|null'],
    [{ const: "only" }, '"only"'],
    [{ type: "array", items: { type: "integer" } }, "integer[]"],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a"|"b")[]'],
    [{ type: "array" }, "any[]"],
    [{ prefixItems: [{ type: "number" }, { type: "string" }] }, "any"],
    [{ type: "array", prefixItems: [{ type: "number" }, { type: "string" }] }, "[number, string]"],
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "string|string[]"],
    [{ oneOf: [{ type: "string" }, { type: "string" }] }, "string"],
    [{ type: "object", properties: { a: { type: "string" }, b: {} }, required: ["b"] }, "{b: any, a?: string}"],
    [{ properties: { a: { type: "string" } } }, "{a?: string}"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ type: "object", additionalProperties: false }, "object"],
    [{ allOf: [{ properties: { a: { type: "string" } } }, { required: ["a"] }] }, "{a: string}"],
    [true, "any"],
    [false, "never"],
    ["nonsense", "any"],
    [{ type: "no such type" }, "any"],
  ])("%j is %s", (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it("shows the first of many values and counts the others", () => {
    const values = Array.from({ length: 30 }, (_, at) => `v${at}`);
    expect(typeOf({ enum: values })).toBe('"v0"|"v1"|"v2"|"v3"|"v4"|"v5"|"v6"|"v7"|…+22');
    expect(typeOf({ enum: ["x".repeat(100), "y"] })).toBe(`"${"x".repeat(39)}…"|"y"`);
  });

  it("shows objects two deep, and less where that would be long", () => {
    const inner = (depth: number): JsonObject =>
      depth === 0 ? { type: "string" } : { type: "object", properties: { a: inner(depth - 1) } };
    expect(typeOf(inner(4))).toBe("{a?: {a?: object}}");
    const wide = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`property_${at}`, inner(2)]));
    expect(typeOf({ type: "object", properties: wide }).length).toBeLessThanOrEqual(160);
  });

  it("follows references within the schema, also to themselves", () => {
    const $defs = {
      Point: { type: "object", properties: { x: { type: "number" }, next: { $ref: "#/$defs/Point" } } },
      Loop: { $ref: "#/$defs/Loop" },
    };
    expect(typeOf({ $ref: "#/$defs/Point" }, { $defs })).toBe("{x?: number, next?: object}");
    expect(typeOf({ $ref: "#/$defs/Loop" }, { $defs })).toBe("any");
    expect(typeOf({ $ref: "#/$defs/Gone" }, { $defs })).toBe("any");
    expect(typeOf({ $ref: "https://example.com/schema" })).toBe("any");
  });

  it("takes a root that is made of others", () => {
    const a = { properties: { a: { type: "string" } }, required: ["a"] };
    const b = { properties: { b: { type: "number" } } };
    expect(toolSignature(toolOf({ allOf: [a, { $ref: "#/$defs/b" }], $defs: { b } }))).toBe("t(a: string, b?: number)");
    expect(toolSignature(toolOf({ oneOf: [a, b] }))).toBe("t({a: string}|{b?: number})");
  });
});

describe("whatever a server writes", () => {
  it("keeps to one line: line ends and control characters are spaces or written out", () => {
    const strange = "a\n\r\u0000\u001b[2J\u0085\u2028b";
    const line = toolSignature(
      toolOf(
        { properties: { [strange]: { enum: [strange], default: strange } }, required: [strange] },
        strange,
        strange,
      ),
      { parameterDocChars: 50 },
    );
    expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(line.startsWith('"a\\n\\r\\u0000\\u001b[2J b"(')).toBe(true);
  });

  it("counts the parameters there is no room for, the optional ones first", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`parameter_${at}`, { type: "string" }]));
    const line = toolSignature(toolOf({ properties: many, required: ["parameter_99"] }, "Does many things at once."), {
      maxChars: 120,
    });
    expect(line).toBe(
      "t(parameter_99: string, parameter_0?: string, parameter_1?: string, parameter_2?: string, …+96) // Does many things at…",
    );
  });

  it("never cuts a letter in half", () => {
    for (let chars = 1; chars < 12; chars++) {
      const line = toolSignature(toolOf({}, "😀".repeat(20)), { descriptionChars: chars });
      expect(Buffer.from(line).toString()).toBe(line);
    }
  });

  const scalar = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.double(), fc.boolean(), fc.constant(null));
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.record(
        {
          type: fc.oneof(
            fc.constantFrom("string", "object", "array", "integer", "null", "what"),
            fc.array(fc.constantFrom("string", "object", "null")),
            scalar,
          ),
          description: scalar,
          default: scalar,
          format: scalar,
          nullable: scalar,
          const: scalar,
          enum: fc.oneof(fc.array(scalar, { maxLength: 20 }), scalar),
          $ref: fc.oneof(fc.constantFrom("#", "#/properties/a", "#/items", "#/anyOf/0", "#/$defs/x", "x"), scalar),
          properties: fc.oneof(
            fc.dictionary(fc.oneof(fc.constantFrom("a", "b", "__proto__", "toString"), fc.string()), tie("schema")),
            scalar,
          ),
          required: fc.oneof(fc.array(fc.oneof(fc.constantFrom("a", "b"), scalar)), scalar),
          items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 3 })),
          prefixItems: fc.oneof(fc.array(tie("schema"), { maxLength: 3 }), scalar),
          anyOf: fc.oneof(fc.array(tie("schema"), { maxLength: 6 }), scalar),
          allOf: fc.oneof(fc.array(tie("schema"), { maxLength: 3 }), scalar),
          additionalProperties: tie("schema"),
        },
        { requiredKeys: [] },
      ),
    ),
  }));

  it("gives one line of bounded length for any schema, name and description", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(
      fc.property(schema, text, text, fc.integer({ min: -5, max: 700 }), (any, name, description, maxChars) => {
        const inputSchema = typeof any === "object" && any !== null ? (any as JsonObject) : {};
        const line = toolSignature(toolOf(inputSchema, description, name), { maxChars, parameterDocChars: 30 });
        expect(line.length).toBeLessThanOrEqual(Math.max(maxChars, 80));
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
      { numRuns: 300 },
    );
  });

  it("reads each part of a schema a bounded number of times, however the parts refer to one another", () => {
    const readsOf = (size: number): number => {
      let reads = 0;
      const watched = <T extends object>(value: T): T =>
        new Proxy(value, {
          get: (target, key, self) => {
            reads++;
            return Reflect.get(target, key, self);
          },
        });
      const wide = watched(
        Object.fromEntries(Array.from({ length: size }, (_, at) => [`p${at}`, { $ref: "#/$defs/d" }])),
      );
      const schemas = Array.from({ length: size }, () => ({ $ref: "#/$defs/d" }));
      const $defs = { d: { type: "object", properties: wide, anyOf: undefined } };
      toolSignature(toolOf({ type: "object", properties: wide, $defs, allOf: schemas }));
      return reads;
    };
    expect(readsOf(20_000)).toBeLessThan(readsOf(10_000) * 2.2);
    expect(readsOf(20_000)).toBeLessThan(20_000 * 10);
  });
});
