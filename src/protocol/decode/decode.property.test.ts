import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Decoded, listAll } from "../list.ts";
import { readMirror } from "../mirror.ts";
import { decodeSkill } from "../skills.ts";
import type { JsonObject } from "../types.ts";
import { decodeCallResult } from "./call-result.ts";
import { decodeCompletion } from "./completion.ts";
import { decodeContent } from "./content.ts";
import { decodeInitializeResult } from "./initialize-result.ts";
import { decodePrompt, decodePromptResult } from "./prompt.ts";
import { decodeContents, decodeResource, decodeResourceTemplate } from "./resource.ts";
import { decodeServerInfo } from "./server-info.ts";
import { decodeTool } from "./tool.ts";

/** Whatever JSON can hold, and more often what trips programs: names of prototypes, numbers at their edges, wrong shapes. */
const json: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue() },
  fc.constantFrom<unknown>(null, "", " ", 0, -1, 1e308, true, [], {}, [[]], [null], "true", "object"),
  fc
    .constantFrom('{"__proto__":{"name":1}}', '{"constructor":1,"toString":2}', '{"length":9}')
    .map((text) => JSON.parse(text)),
);

const TEXT = { type: "text", text: "hello" };
const BLOCKS = [
  TEXT,
  { type: "image", data: "aGk=", mimeType: "image/png" },
  { type: "audio", data: "aGk=", mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "file:///a", mimeType: "text/plain", text: "a", blob: "YQ==" } },
  { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain", description: "d" },
];

/** Every decoder with a value that is all right. */
const DECODERS: readonly (readonly [name: string, decode: (value: unknown) => unknown, good: JsonObject])[] = [
  ["tool", decodeTool, toolNamed("t")],
  ["prompt", decodePrompt, { name: "p", title: "t", description: "d", arguments: [{ name: "a", required: true }] }],
  ["resource", decodeResource, { uri: "file:///a", name: "a", title: "t", description: "d", mimeType: "m/t", size: 1 }],
  ["resource template", decodeResourceTemplate, { uriTemplate: "file:///{a}", name: "a", mimeType: "m/t" }],
  ["resource contents", (value) => decodeContents(value, "file:///a"), { contents: [{ uri: "file:///a", text: "a" }] }],
  ["prompt result", decodePromptResult, { description: "d", messages: [{ role: "user", content: TEXT }] }],
  ["call result", decodeCallResult, { content: BLOCKS, structuredContent: { a: 1 }, isError: true }],
  ["completion", decodeCompletion, { completion: { values: ["a"], hasMore: true, total: 2 } }],
  ["initialize result", decodeInitializeResult, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} }],
  ["server info", decodeServerInfo, { name: "n", version: "1", title: "t" }],
  ["skill", decodeSkill, { uri: "skill://s/SKILL.md", frontmatter: { name: "s", description: "d" }, resources: [] }],
  [
    "mirror",
    (value) => readMirror(value as JsonObject),
    { type: "object", properties: { a: { "x-mcp-header": "A" } } },
  ],
  ...BLOCKS.map((block) => [`${block.type} block`, decodeContent, block] as const),
];

function toolNamed(name: string): JsonObject {
  return {
    name,
    title: "title",
    description: "description",
    inputSchema: { type: "object", properties: { a: { type: "string" } } },
    outputSchema: { type: "object" },
    annotations: { title: "hint", readOnlyHint: true, destructiveHint: false },
  };
}

describe.each(DECODERS)("decoding a %s", (_, decode, good) => {
  test("any JSON value in its place throws nothing", () => {
    fc.assert(fc.property(json, (value) => void decode(value)));
  });

  test("any JSON value in any of its fields, at any depth, throws nothing", () => {
    const paths = pathsOf(good);
    fc.assert(fc.property(fc.constantFrom(...paths), json, (path, value) => void decode(withValue(good, path, value))));
  });
});

/** Lists with the record of a good item, and the fields without which there is no item. */
const LISTS: readonly (readonly [key: string, decode: (value: unknown) => Decoded<unknown>, item: JsonObject])[] = [
  ["tools", decodeTool, toolNamed("t")],
  ["prompts", decodePrompt, { name: "p", title: "t" }],
  ["resources", decodeResource, { uri: "file:///a", name: "a" }],
  ["resourceTemplates", decodeResourceTemplate, { uriTemplate: "file:///{a}", name: "a" }],
];

describe.each(LISTS)("a list of %s", (key, decode, item) => {
  const good = decode(item).item;
  const list = (items: readonly unknown[]) =>
    listAll(async () => ({ [key]: items }), key, decode, { maxItems: 512, maxPages: 32 });

  test("any JSON value among its items costs at most itself", async () => {
    await fc.assert(
      fc.asyncProperty(json, async (odd) => {
        const { items, notices } = await list([item, odd, item]);
        expect([items[0], items.at(-1)]).toEqual([good, good]);
        expect(items.length + notices.length).toBeGreaterThanOrEqual(3);
      }),
    );
  });

  test("any JSON value in any field of one item costs at most that item", async () => {
    const fields = fc.constantFrom(...pathsOf(item));
    await fc.assert(
      fc.asyncProperty(fields, json, async (path, odd) => {
        const { items } = await list([item, withValue(item, path, odd), item]);
        expect([items[0], items.at(-1)]).toEqual([good, good]);
        expect(items.length).toBeGreaterThanOrEqual(2);
      }),
    );
  });
});

test("any JSON value in a field of a tool leaves the tool's other fields as they were, or leaves the tool out with a notice", () => {
  const good = toolNamed("t");
  const whole = decodeTool(good).item;
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(good)), json, (field, odd) => {
      const { item, notice } = decodeTool({ ...good, [field]: odd });
      if (item === undefined) {
        expect(notice).toBeTypeOf("string");
        return;
      }
      const { raw: _, [field as "title"]: __, ...others } = item;
      expect(whole).toMatchObject(others);
      expect(item.name).not.toBe("");
      expect(item.inputSchema.type).toBe("object");
    }),
  );
});

test("any JSON value among the blocks of a result costs at most that block", () => {
  const whole = BLOCKS.map(decodeContent);
  fc.assert(
    fc.property(json, fc.nat(BLOCKS.length), (odd, at) => {
      const content = BLOCKS.toSpliced(at, 0, odd as (typeof BLOCKS)[number]);
      const decoded = decodeCallResult({ content, structuredContent: { a: 1 }, isError: true });
      expect(decoded.content.toSpliced(at, 1)).toEqual(whole);
      expect(decoded).toMatchObject({ structuredContent: { a: 1 }, isError: true });
    }),
  );
});

test("any JSON value in the fields of a result leaves its blocks or its structured content alone", () => {
  const result = { content: BLOCKS, structuredContent: { a: 1 }, isError: true };
  const whole = decodeCallResult(result);
  fc.assert(
    fc.property(fc.constantFrom("content", "structuredContent", "isError", "_meta"), json, (field, odd) => {
      const decoded = decodeCallResult({ ...result, [field]: odd });
      if (field !== "content") expect(decoded.content).toEqual(whole.content);
      if (field !== "structuredContent") expect(decoded.structuredContent).toEqual({ a: 1 });
      if (field !== "isError") expect(decoded.isError).toBe(true);
      expect(decoded.raw).toEqual({ ...result, [field]: odd });
    }),
  );
});

test("any JSON value among the messages of a prompt costs at most that message", () => {
  const message = { role: "user", content: TEXT };
  const [whole] = decodePromptResult({ messages: [message] }).messages;
  fc.assert(
    fc.property(json, (odd) => {
      const { messages } = decodePromptResult({ messages: [message, odd, message] });
      expect([messages[0], messages.at(-1)]).toEqual([whole, whole]);
    }),
  );
});

test("any JSON value among the parts of a resource costs at most that part", () => {
  const part = { uri: "file:///a", text: "a" };
  fc.assert(
    fc.property(json, (odd) => {
      const parts = decodeContents({ contents: [part, odd, part] }, "file:///b");
      expect([parts[0], parts.at(-1)]).toEqual([part, part]);
    }),
  );
});

test("a schema nested ten thousand levels deep is no mirror and throws nothing", () => {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < 10_000; level++) schema = { type: "object", properties: { a: schema } };
  expect(readMirror(schema)).toBeTypeOf("string");
  expect(decodeTool({ name: "deep", inputSchema: schema }).item?.inputSchema).toBe(schema);
});

/** The ways to every value inside, the whole excepted. */
function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsOf(inner).map((path) => [key, ...path])]);
}

/** A copy with one value replaced. */
function withValue(value: unknown, [key = "", ...rest]: readonly string[], replacement: unknown): unknown {
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const inner = (value as JsonObject)[key];
  return Object.assign(copy, { [key]: rest.length === 0 ? replacement : withValue(inner, rest, replacement) });
}
