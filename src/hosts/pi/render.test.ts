import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PiDrawnResult, PiTheme } from "./api.ts";
import { drawUnknown, toolRenderers } from "./render.ts";

const plain: PiTheme = { fg: (_color, text) => text, bold: (text) => text };
const coloured: PiTheme = { fg: (color, text) => `<${color}>${text}</>`, bold: (text) => `*${text}*` };

interface Drawing {
  readonly tool?: string;
  readonly target?: { server: string; tool: string };
  readonly args?: unknown;
  readonly result?: PiDrawnResult;
  readonly isPartial?: boolean;
  readonly expanded?: boolean;
  readonly width?: number;
  readonly theme?: PiTheme;
}

/** As both hosts do it: the call, then the result if there is one, then both are drawn. */
function draw({ tool = "mcp", target, args, result, isPartial = false, expanded = false, ...rest }: Drawing): string[] {
  const { width = 80, theme = plain } = rest;
  const renderers = toolRenderers(tool, target);
  const context = { state: {}, expanded };
  const above = renderers.renderCall(args, theme, context);
  const below = result && renderers.renderResult(result, { expanded, isPartial }, theme, context);
  return [...above.render(width), ...(below?.render(width) ?? [])];
}

const text = (words: string, details: object = {}): PiDrawnResult => ({
  content: [{ type: "text", text: words }],
  details,
});

describe("a call is one line", () => {
  test.each([
    [
      "mcp",
      { action: "call", server: "github", tool: "list_issues", args: { state: "open", limit: 5 } },
      'github.list_issues state: "open", limit: 5',
    ],
    [
      "mcp",
      { action: "call", server: "github", tool: "list_issues", args: '{"state":"open"}' },
      'github.list_issues state: "open"',
    ],
    ["mcp", { action: "call", server: "a", tool: "b", args: "{not json" }, 'a.b "{not json"'],
    ["mcp", { action: "list_tools", server: "github" }, "mcp list_tools github"],
    ["mcp", { action: "search", query: "make an issue" }, 'mcp search "make an issue"'],
    ["mcp", {}, "mcp"],
    ["mcp", undefined, "mcp"],
    ["mcp", [1, 2], "mcp"],
    ["mcp_call", { selector: "github.list_issues", args: {} }, "github.list_issues"],
    ["mcp_call", { server: "github", tool: "x", args: { a: [1] } }, "github.x a: [1]"],
    ["mcp_load", { server: "github" }, "mcp_load github"],
    ["mcp_load", { query: "issues" }, 'mcp_load "issues"'],
    ["mcp_auth", { action: "complete", server: "github", code: "SECRET" }, "mcp_auth complete github"],
    ["mcp__gone__tool", { a: 1 }, "mcp__gone__tool a: 1"],
  ])("%s %j", (tool, args, line) => {
    expect(draw({ tool, args })).toEqual([line]);
    expect(draw({ tool, args, expanded: true }).join("\n")).not.toContain("SECRET");
  });

  test("of a server's own tool it has the names as the server has them", () => {
    expect(draw({ tool: "mcp__git_hub__x", target: { server: "git hub", tool: "x" }, args: { a: 1 } })).toEqual([
      "git hub.x a: 1",
    ]);
  });
});

describe("a result", () => {
  const args = { action: "call", server: "s", tool: "t", args: { a: 1 } };
  const details = { action: "call", server: "s", tool: "t", isError: false };

  test("adds its duration and its size to the line of the call", () => {
    expect(draw({ args, result: text("x".repeat(2048), { ...details, durationMs: 1234 }) })).toEqual([
      "s.t a: 1 · 1.2 s · 2 KB",
    ]);
    const images = [
      { type: "image", data: "" },
      { type: "image", data: "" },
    ];
    expect(draw({ args, result: { content: images, details: { ...details, durationMs: 5 } } })).toEqual([
      "s.t a: 1 · 5 ms · 2 images",
    ]);
    expect(draw({ args, result: text("ab", { ...details, truncated: true }) })).toEqual(["s.t a: 1 · 2 bytes, cut"]);
  });

  test("that is a failure says why below it, past the line that only announces it", () => {
    const result = text("MCP server `s` tool `t` reported an error:\nno such issue\nmore", {
      ...details,
      isError: true,
      durationMs: 20,
    });
    expect(draw({ args, result })).toEqual(["s.t a: 1 · failed after 20 ms", "no such issue"]);
    expect(draw({ args, result: text("server is gone", { isError: true }) })).toEqual([
      "s.t a: 1 · failed",
      "server is gone",
    ]);
  });

  test("is there in full when it is unfolded, with the arguments", () => {
    expect(draw({ args, expanded: true, result: text("one\ntwo three", { ...details, durationMs: 1 }) })).toEqual([
      "s.t · 1 ms · 13 bytes",
      "{",
      '  "a": 1',
      "}",
      "one",
      "two three",
    ]);
    const long = draw({ args, expanded: true, result: text("x\n".repeat(5_000), details) });
    expect(long).toHaveLength(1 + 3 + 1_000 + 1);
    expect(long.at(-1)).toBe("… 4000 more lines");
  });

  test("of mcp_load is no call of a tool, and one of an older session may be anything", () => {
    const loaded = { server: "s", tool: "t", isError: false };
    expect(draw({ tool: "mcp_load", args: { server: "s", tool: "t" }, result: text("1234", loaded) })).toEqual([
      "mcp_load s t · 4 bytes",
    ]);
    for (const result of [
      {},
      { content: [] },
      { details: null },
      { details: [] },
      { details: { durationMs: "x", server: 5 } },
    ]) {
      expect(draw({ args, result })).toEqual(["s.t a: 1 · 0 bytes"]);
    }
  });
});

test("progress is a bar where the end is known, else a number, with what the server says", () => {
  const at = (progress: unknown, width = 80) =>
    draw({ args: {}, isPartial: true, width, result: text("", { progress }) }).slice(1);
  expect(at({ progress: 5, total: 10, message: "half way" })).toEqual(["██████████░░░░░░░░░░ 50% half way"]);
  expect(at({ progress: 99, total: 10 })).toEqual(["████████████████████ 100%"]);
  expect(at({ progress: -3, total: 10 })).toEqual(["░░░░░░░░░░░░░░░░░░░░ 0%"]);
  expect(at({ progress: 7, message: "files" })).toEqual(["7 files"]);
  expect(at({ progress: 7, total: 0 })).toEqual(["7"]);
  expect(at({ progress: 5, total: 10, message: "half way" }, 10)).toEqual(["50% half …"]);
  expect(at(undefined)).toEqual([]);
  expect(at({ progress: "x" })).toEqual([]);
});

test("the call keeps its room for how it ended, and the arguments give way", () => {
  const args = { action: "call", server: "server", tool: "tool", args: { query: "y".repeat(200) } };
  const result = text("", { action: "call", server: "server", tool: "tool", durationMs: 12 });
  expect(draw({ args, result, width: 40 })).toEqual(['server.tool query: "y… · 12 ms · 0 bytes']);
  expect(draw({ args, result, width: 8 })).toEqual(["server.…"]);
});

test("colours are pi's own", () => {
  const result = text("no", { isError: true, durationMs: 1 });
  expect(draw({ args: { action: "list_servers" }, result, theme: coloured })).toEqual([
    "<toolTitle>*mcp*</><accent> list_servers</><error> · failed after 1 ms</>",
    "<error>no</>",
  ]);
});

test("rows of tools that pi does not know are drawn where they are a server's", () => {
  const known = {};
  expect(drawUnknown("mcp__a__b", () => known)).toBe(known);
  expect(drawUnknown("read", () => undefined)).toBeUndefined();
  expect(drawUnknown("mcp__a__b", () => undefined)).toHaveProperty("renderResult");
});

test("nothing is ever wider than the terminal, and nothing of it is obeyed", async () => {
  const hosts = await Promise.all(
    ["@earendil-works", "@mariozechner"].map(async (scope) => {
      const file = pathToFileURL(
        new URL(`../../../node_modules/${scope}/pi-tui/dist/utils.js`, import.meta.url).pathname,
      );
      return ((await import(file.href)) as { visibleWidth(text: string): number }).visibleWidth;
    }),
  );
  const words = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("\u001b]52;c;eA==\u0007", "\u001b[2J", "中文".repeat(30), "👨‍👩‍👧".repeat(20), "\r\n\t", "\u202e"),
  );
  const drawing = fc.record({
    tool: fc.constantFrom("mcp", "mcp_call", "mcp__x__y"),
    args: fc.record({
      action: fc.constantFrom("call", "search"),
      server: words,
      tool: words,
      query: words,
      args: fc.oneof(fc.jsonValue(), words),
    }),
    result: fc.record({
      content: fc.array(fc.record({ type: fc.constant("text"), text: words })),
      details: fc.record({
        action: fc.constant("call"),
        server: words,
        tool: words,
        isError: fc.boolean(),
        progress: fc.record({ progress: fc.double(), total: fc.double(), message: words }),
      }),
    }),
    isPartial: fc.boolean(),
    expanded: fc.boolean(),
    width: fc.integer({ min: 4, max: 300 }),
  });
  fc.assert(
    fc.property(drawing, (each) => {
      for (const line of draw(each)) {
        expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
        for (const count of hosts) expect(count(line)).toBeLessThanOrEqual(each.width);
      }
    }),
    { numRuns: 300 },
  );
});
