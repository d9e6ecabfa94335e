import { describe, expect, it } from "vitest";
import type { CallToolResult, ContentBlock } from "../protocol/types.ts";
import { omissionMark, partsOf } from "./render.ts";

function result(content: ContentBlock[], rest: Partial<CallToolResult> = {}): CallToolResult {
  const { structuredContent } = rest;
  const raw = structuredContent === undefined ? { content } : { content, structuredContent };
  return { content, isError: false, raw, ...rest };
}

function text(value: string): ContentBlock {
  return { type: "text", text: value };
}

/** All parts as one text, binary content named and left out. */
function renderText(from: CallToolResult): string {
  const texts = partsOf(from).map((part) => (part.type === "text" ? part.text : omissionMark(part)));
  return texts.map((line) => (line.endsWith("\n") ? line : `${line}\n`)).join("");
}

describe("the parts of a result", () => {
  it("ends every text with one line feed", () => {
    expect(renderText(result([text("one"), text("two\n"), text(""), text("three")]))).toBe("one\ntwo\nthree\n");
  });

  it("names binary content and leaves it out", () => {
    const content: ContentBlock[] = [
      { type: "image", data: "AAAA", mimeType: "image/png" },
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

  it("[E167] shows the text of a resource below its address, and a link with all that is known of it", () => {
    const sizedLink = { type: "resource_link", uri: "file:///d", name: "D", size: 2048 } as const;
    const content: ContentBlock[] = [
      { type: "resource", uri: "file:///a.txt", mimeType: "text/plain", text: "line one\nline two" },
      { type: "resource_link", uri: "file:///b", name: "B", mimeType: "text/x", description: "the\nother" },
      { type: "resource_link", uri: "file:///c" },
      sizedLink,
    ];
    expect(renderText(result(content))).toBe(
      "[resource file:///a.txt (text/plain)]\nline one\nline two\n" +
        "[resource link B: file:///b (text/x) — the other]\n[resource link file:///c]\n" +
        "[resource link D: file:///d (2 KB)]\n",
    );
  });

  it("[E170] shows structured content when it is all there is", () => {
    expect(renderText(result([], { structuredContent: { a: [1] } }))).toBe('{\n  "a": [\n    1\n  ]\n}\n');
  });

  it("shows the raw result when there is nothing else", () => {
    expect(renderText(result([], { raw: { content: [], _meta: { k: 1 } } }))).toBe(
      `${JSON.stringify({ content: [], _meta: { k: 1 } }, null, 2)}\n`,
    );
    expect(renderText(result([], { raw: { content: "not a list" } }))).toContain('"content": "not a list"');
  });

  it("says that a result is empty", () => {
    const content = [text("")];
    for (const raw of [{}, { content: [] }, { content }, { content: null, structuredContent: null, isError: true }]) {
      expect(renderText(result([], { raw }))).toBe("[the result is empty]\n");
    }
    expect(renderText(result([text(""), text("\x1b[31m")]))).toBe("[the result is empty]\n");
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

  it("[E236] sanitises texts, names, addresses and kinds", () => {
    const content: ContentBlock[] = [
      text("\x1b[31mred\u202e"),
      { type: "resource", uri: "file:///\x1b]0;x\x07a\nb", text: "\x07t" },
      { type: "resource_link", uri: "u\u200b", name: "n\x1b[2J", description: "d\u{e0041}" },
      { type: "unknown", kind: "k\r\n\x9b1m" },
    ];
    const shown = renderText(result(content, { structuredContent: { "k\u202e": "v\u001b" } }));
    expect(shown).toBe(
      "red\n[resource file:///a b]\nt\n[resource link n: u — d[hidden text]]\n[unexpected content block k]\n" +
        '{\n  "k": "v\\u001b"\n}\n',
    );
  });

  it("[E235] marks where a text was that nobody sees", () => {
    const hidden = [..."obey"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    expect(renderText(result([text(`a${hidden}b`)]))).toBe("a[hidden text]b\n");
    expect(renderText(result([{ type: "resource", uri: "u", text: `\u{1f3f4}${hidden}` }]))).toBe(
      "[resource u]\n\u{1f3f4}[hidden text]\n",
    );
    expect(renderText(result([text("a\u{e0100}b")], { structuredContent: { a: hidden } }))).toBe(
      'a[hidden text]b\n{\n  "a": "[hidden text]"\n}\n',
    );
    expect(renderText(result([text("a\u200bb\u202ec")]))).toBe("abc\n");
  });

  it("survives structured content that cannot be written", () => {
    const structuredContent = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(renderText(result([], { structuredContent }))).toBe("[content too deeply nested to be shown]\n");
    expect(renderText(result([text("1")], { structuredContent }))).toContain("nested");
  });
});
