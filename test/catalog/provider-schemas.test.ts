import { existsSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { argumentCheck } from "../../src/catalog/argument-check.ts";
import { nearestCall } from "../../src/catalog/expected-parameters.ts";
import { providerSchema } from "../../src/catalog/provider-schema.ts";
import { repairArguments } from "../../src/catalog/repair.ts";
import { MCP_TOOL } from "../../src/tools/mcp-description.ts";
import { MCP_CALL_TOOL, mcpLoadTool } from "../../src/tools/split-description.ts";
import { CORPUS } from "./corpus.ts";
import { breaches, PROVIDERS, type Schema } from "./providers.ts";
import { randomSchema } from "./random-schema.ts";

/** Another validator than the product's. `undefined`: even that one cannot take the schema. */
function validity(schema: Schema): ((value: unknown) => boolean | undefined) | undefined {
  // `ownProperties`: without it, what an object inherits (`__proto__`, `constructor`) counts as given.
  const options = {
    strict: false,
    validateFormats: false,
    unicodeRegExp: false,
    ownProperties: true,
    logger: false,
  } as const;
  const { $schema: draft, ...plain } = schema;
  try {
    const ajv = /draft-0[467]/.test(String(draft)) ? new Ajv(options) : new Ajv2020(options);
    const validate = ajv.compile(plain);
    return (value) => {
      try {
        return validate(value) === true;
      } catch {
        return undefined;
      }
    };
  } catch {
    return undefined;
  }
}

/** Of each property. */
const RUNS = 120;

/** What an ordinary validator does not come back from. */
const ENDLESS = new Set(["a pattern that never ends", "references that double forty times"]);

describe.each(PROVIDERS)("$name takes every schema of the corpus", (provider) => {
  test.each(CORPUS)("$name", ({ schema }) => {
    expect(breaches(provider, providerSchema(schema).schema as Schema)).toEqual([]);
  });
});

test.each([MCP_TOOL, mcpLoadTool(["files"]), MCP_CALL_TOOL])(
  "our own $name is a tool that every provider takes",
  (own) => {
    const parameters = own.parameters as Schema;
    expect(PROVIDERS.flatMap((provider) => breaches(provider, parameters))).toEqual([]);
    expect(providerSchema(parameters)).toEqual({ schema: parameters, notes: [] });
  },
);

test("the validators of the providers refuse what each provider is known to refuse", () => {
  const refused = (schema: Schema) =>
    PROVIDERS.filter((provider) => breaches(provider, schema).length > 0).map(({ name }) => name);
  const x = (part: unknown) => ({ type: "object", properties: { x: part } });
  const all = PROVIDERS.map(({ name }) => name);
  expect(refused(x({ type: "string" }))).toEqual([]);
  expect(refused({ type: "string" })).toEqual(all);
  expect(refused({ type: "object" })).toEqual(all);
  expect(refused(x({ type: "array" }))).toEqual(all);
  expect(refused(x({}))).toEqual(all);
  expect(refused(x(true))).toEqual(all);
  expect(refused({ ...x({ type: "string" }), anyOf: [{ required: ["x"] }] })).toEqual(all);
  expect(refused({ ...x({ $ref: "#/$defs/T", type: "string" }), $defs: { T: {} } })).toContain("Anthropic");
  expect(refused({ type: "object", properties: { $filter: { type: "string" } } })).toEqual(["Anthropic", "Bedrock"]);
  expect(refused(x({ type: "integer", enum: [0, 1] }))).toEqual(["Gemini"]);
  expect(refused(x({ type: "string", enum: ["", "a"] }))).toEqual(["Gemini"]);
  expect(refused(x({ type: ["string", "null"] }))).toEqual(["Gemini", "OpenAI-compatible local servers"]);
  expect(refused(x({ description: "d", anyOf: [{ type: "string" }] }))).toEqual(["Gemini"]);
  expect(refused(x({ type: "string", format: "uri" }))).toEqual(["OpenAI strict", "Gemini", all.at(-1)]);
  expect(refused(x({ type: "string", pattern: "(?i)a" }))).toEqual(all);
  expect(refused(x({ type: "string", pattern: "^\\d+$" }))).toEqual([all.at(-1)]);
  expect(refused(x({ type: "string", default: "a" }))).toEqual(["OpenAI strict", all.at(-1)]);
});

test.each(CORPUS)("a call by the shown schema is valid for the server: $name", async ({ name, schema, calls }) => {
  const shown = validity(providerSchema(schema).schema as Schema);
  const takes = ENDLESS.has(name) ? undefined : validity(schema);
  for (const call of calls) {
    expect([call, shown?.(call)]).not.toEqual([call, false]);
    const check = await argumentCheck(schema);
    const { args } = check === undefined ? { args: call } : repairArguments(call, check);
    expect(check?.problems(args) ?? []).toEqual([]);
    expect([args, takes?.(args) ?? true]).toEqual([args, true]);
  }
});

test.each(CORPUS)("what is shown is its own result, and small: $name", ({ schema }) => {
  const { schema: once } = providerSchema(schema);
  expect(providerSchema(once).schema).toEqual(once);
  expect(JSON.stringify(once).length).toBeLessThan(200_000);
});

test("nothing of the original is changed, frozen or not", () => {
  const freeze = (value: unknown): unknown => {
    if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };
  for (const { schema } of CORPUS) {
    const before = JSON.stringify(schema);
    const frozen = freeze(JSON.parse(before)) as Schema;
    providerSchema(frozen);
    expect(JSON.stringify(frozen)).toBe(before);
  }
});

test("any schema at all becomes one that every provider takes, and that is its own result", () => {
  fc.assert(
    fc.property(randomSchema(), (schema) => {
      const { schema: once } = providerSchema(schema);
      expect(PROVIDERS.flatMap((provider) => breaches(provider, once as Schema))).toEqual([]);
      expect(providerSchema(once).schema).toEqual(once);
      expect(JSON.stringify(once).length).toBeLessThan(200_000);
    }),
    { numRuns: RUNS },
  );
});

test("any arguments against any schema are repaired without an exception, and what is right stays as it is", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomSchema(),
      fc.dictionary(fc.constantFrom("a", "b", "c", "args", "_d"), fc.jsonValue()),
      async (schema, args) => {
        const check = await argumentCheck(schema);
        if (check === undefined) return;
        const mended = repairArguments(args as Schema, check).args;
        if (check.accepts(args) && !JSON.stringify(schema).includes('"$d"')) expect(mended).toEqual(args);
        expect(repairArguments(mended, check).args).toEqual(mended);
        // What another validator takes is never refused here.
        if (check.problems(args).length > 0) expect(validity(schema)?.(args)).not.toBe(true);
      },
    ),
    { numRuns: RUNS },
  );
});

const REAL = process.env.PI_MCP_TOOL_SCHEMAS ?? "";

// A file of real tools (`[{name, inputSchema}, …]`) is large and not ours to pass on; without one the corpus stands alone.
describe.runIf(existsSync(REAL))(
  "tools of real servers (skipped unless PI_MCP_TOOL_SCHEMAS names a file of them)",
  () => {
    const tools = existsSync(REAL)
      ? (JSON.parse(readFileSync(REAL, "utf8")) as { name: string; inputSchema: Schema }[])
      : [];

    test.each(PROVIDERS)("$name takes them all", (provider) => {
      const refused = tools.flatMap(({ name, inputSchema }) =>
        breaches(provider, providerSchema(inputSchema).schema as Schema).map((breach) => `${name}: ${breach}`),
      );
      expect(refused).toEqual([]);
    });

    test("a call that the original takes fits what is shown, and goes through untouched", async () => {
      for (const { name, inputSchema } of tools) {
        const check = await argumentCheck(inputSchema);
        const near = check && nearestCall({}, check);
        expect([name, near === undefined]).toEqual([name, false]);
        const call = JSON.parse(near ?? "{}") as Schema;
        expect([name, validity(providerSchema(inputSchema).schema as Schema)?.(call)]).toEqual([name, true]);
        if (check) expect(repairArguments(call, check).args).toEqual(call);
      }
    });
  },
);
