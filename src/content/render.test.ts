import { describe, expect, it } from "vitest";
import type { CallToolResult, ContentBlock } from "../protocol/types.ts";
import { limitText } from "./limit.ts";
import { renderBlocks, renderText } from "./render.ts";

const LIMIT = { maxBytes: 1000, maxLines: 100 };
const PNG = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1").toString("base64");
const JPEG = Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF\0", "latin1").toString("base64");

function result(content: ContentBlock[], rest: Partial<CallToolResult> = {}): CallToolResult {
  const { structuredContent } = rest;
  const raw = structuredContent === undefined ? { content } : { content, structuredContent };
  return { content, isError: false, raw, ...rest };
}

function text(value: string): ContentBlock {
  return { type: "text", text: value };
}

describe("renderText", () => {
  it("ends every text with one line feed", () => {
    expect(renderText(result([text("one"), text("two\n"), text(""), text("three")]))).toBe("one\ntwo\nthree\n");
  });

  it("[S1-33] is bounded at 32 KiB and a line about the rest, also when it is a single line", () => {
    for (const line of ["word ".repeat(20_000), "x".repeat(100_000), "é\n".repeat(40_000)]) {
      const limited = limitText(renderText(result([text(line)])), { maxBytes: 32 * 1024, maxLines: 100_000 });
      const [, body = "", missing, total] =
        /^(.*)\n\[output truncated: (\d+) of (\d+) bytes not shown\]$/s.exec(limited.text) ?? [];
      expect(Buffer.byteLength(body)).toBeGreaterThan(32 * 1024 - 4);
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(32 * 1024);
      expect(Buffer.byteLength(body) + Number(missing)).toBe(Number(total));
    }
  });

  it("names binary content and leaves it out", () => {
    const content: ContentBlock[] = [
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", uri: "file:///a.bin", mimeType: "application/x", blob: "AAAA" },
      { type: "resource", uri: "file:///b" },
      { type: "unknown", kind: "video" },
    ];
    expect(renderText(result(content)).split("\n")).toEqual([
      "[image result omitted — binary data not rendered]",
      "[audio result omitted — binary data not rendered]",
      "[resource file:///a.bin (application/x) omitted]",
      "[resource file:///b omitted]",
      "[unexpected content block video]",
      "",
    ]);
  });

  it("shows the text of a resource below its address, and a link with all that is known of it", () => {
    const content: ContentBlock[] = [
      { type: "resource", uri: "file:///a.txt", mimeType: "text/plain", text: "line one\nline two" },
      { type: "resource_link", uri: "file:///b", name: "B", mimeType: "text/x", description: "the\nother" },
      { type: "resource_link", uri: "file:///c" },
    ];
    expect(renderText(result(content))).toBe(
      "[resource file:///a.txt (text/plain)]\nline one\nline two\n" +
        "[resource link B: file:///b (text/x) — the other]\n[resource link file:///c]\n",
    );
  });

  it("shows structured content when it is all there is", () => {
    expect(renderText(result([], { structuredContent: { a: [1] } }))).toBe('{\n  "a": [\n    1\n  ]\n}\n');
  });

  it("shows the raw result when there is nothing else", () => {
    expect(renderText(result([], { raw: { content: [], _meta: { k: 1 } } }))).toBe(
      `${JSON.stringify({ content: [], _meta: { k: 1 } }, null, 2)}\n`,
    );
    expect(renderText(result([text("")]))).toContain('"type": "text"');
  });

  it("does not repeat structured content that the text already says", () => {
    const structuredContent = { b: 1, a: { c: [1, "x"] } };
    const same = '{"a": {"c": [1, "x"]},\n "b": 1.0}';
    expect(renderText(result([text("Done."), text(same)], { structuredContent }))).toBe(`Done.\n${same}\n`);
    for (const [texts, value] of [
      [["hello"], "hello"],
      [["5"], 5],
      [
        ["a", '{"b":1}'],
        ["a", { b: 1 }],
      ],
    ] as const) {
      const wrapped = result(texts.map(text), { structuredContent: { result: value } });
      expect(renderText(wrapped)).toBe(texts.map((line) => `${line}\n`).join(""));
    }
  });

  it("does not repeat a text that is the only field of the structured content", () => {
    const both = result([text("line 1\nline 2\n")], { structuredContent: { content: "line 1\nline 2\n" } });
    expect(renderText(both)).toBe("line 1\nline 2\n");
    const other = result([text("line 1")], { structuredContent: { content: "line 1", more: true } });
    expect(renderText(other)).toContain('"more": true');
  });

  it("shows structured content that the text does not say", () => {
    const shown = renderText(result([text("Found 1 item.")], { structuredContent: { items: ["x"] }, isError: true }));
    expect(shown).toBe('Found 1 item.\n{\n  "items": [\n    "x"\n  ]\n}\n');
    expect(renderText(result([text("6")], { structuredContent: { result: 5 } }))).toContain('"result": 5');
    expect(renderText(result([text("{broken")], { structuredContent: { result: 5 } }))).toContain('"result": 5');
  });

  it("sanitises texts, names, addresses and kinds", () => {
    const content: ContentBlock[] = [
      text("\x1b[31mred\u202e"),
      { type: "resource", uri: "file:///\x1b]0;x\x07a\nb", text: "\x07t" },
      { type: "resource_link", uri: "u\u200b", name: "n\x1b[2J", description: "d\u{e0041}" },
      { type: "unknown", kind: "k\r\n\x9b1m" },
    ];
    const shown = renderText(result(content, { structuredContent: { "k\u202e": "v\u{e0041}\u001b" } }));
    expect(shown).toBe(
      "red\n[resource file:///a b]\nt\n[resource link n: u — d]\n[unexpected content block k]\n" +
        '{\n  "k": "v\\u001b"\n}\n',
    );
  });

  it("survives structured content that cannot be written", () => {
    const structuredContent = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(renderText(result([], { structuredContent }))).toBe("[content too deeply nested to be shown]\n");
    expect(renderText(result([text("1")], { structuredContent }))).toContain("nested");
  });
});

describe("renderBlocks", () => {
  it("keeps the order of texts and images and joins texts that touch", () => {
    const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
    expect(renderBlocks(result([text("a"), text("b"), image, text("c")]), LIMIT)).toEqual([
      { type: "text", text: "a\nb" },
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "text", text: "c" },
    ]);
    expect(renderBlocks(result([image]), LIMIT)).toEqual([image]);
  });

  it("takes an image's type from its bytes", () => {
    expect(renderBlocks(result([{ type: "image", data: JPEG, mimeType: "image/png" }]), LIMIT)).toEqual([
      { type: "image", data: JPEG, mimeType: "image/jpeg" },
    ]);
  });

  it("puts a text where an image cannot be used", () => {
    const content: ContentBlock[] = [
      { type: "image", data: "", mimeType: "image/png" },
      { type: "image", data: "%%%", mimeType: "image/png" },
    ];
    expect(renderBlocks(result(content), LIMIT)).toEqual([
      { type: "text", text: "[image omitted — it is empty]\n[image omitted — its data is not base64]" },
    ]);
  });

  it("limits all texts as one and keeps the images behind the cut", () => {
    const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
    const content = [text("x".repeat(600)), image, text("y".repeat(600)), image, text("z")];
    expect(renderBlocks(result(content), LIMIT)).toEqual([
      { type: "text", text: "x".repeat(600) },
      image,
      { type: "text", text: `${"y".repeat(399)}\n[output truncated: 203 of 1203 bytes not shown]` },
      image,
    ]);
  });

  it("says that texts are missing also when the cut falls between them", () => {
    const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
    expect(renderBlocks(result([text("a\nb"), image, text("c")]), { maxBytes: 100, maxLines: 2 })).toEqual([
      { type: "text", text: "a\nb" },
      image,
      { type: "text", text: "[output truncated: 2 of 5 bytes not shown]" },
    ]);
  });
});
