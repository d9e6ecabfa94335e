import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeCallResult } from "../protocol/decode/call-result.ts";
import type { CallToolResult, ContentBlock } from "../protocol/types.ts";
import { jpeg, png } from "./image.fixture.ts";
import { type PresentOptions, presentResult } from "./present.ts";
import { createSpillStore, type SpillStore } from "./spill.ts";

const MIB = 1024 * 1024;
const LIMIT = { maxBytes: 1000, maxLines: 100 };
const PNG = png(2, 2).toString("base64");

let parent = "";
let spill: SpillStore;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "present-test-"));
  spill = createSpillStore({ parent });
});
afterEach(() => rmSync(parent, { recursive: true }));

function present(content: readonly ContentBlock[], options: Partial<PresentOptions> = {}) {
  const result: CallToolResult = { content, isError: false, raw: { content } };
  return presentResult(result, { tool: "look", limit: LIMIT, spill, showImages: true, ...options });
}

function text(value: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text: value };
}

function image(data: string | Buffer, mimeType = "image/png"): ContentBlock {
  return { type: "image", data: typeof data === "string" ? data : data.toString("base64"), mimeType };
}

describe("presentResult", () => {
  it("keeps the order of texts and images and joins texts that touch", async () => {
    const { blocks } = await present([text("a"), text("b"), image(PNG), text("c")]);
    expect(blocks).toEqual([text("a\nb"), image(PNG), text("c")]);
    expect((await present([image(PNG)])).blocks).toEqual([image(PNG)]);
  });

  it("[E163] takes an image's type from its bytes", async () => {
    const { blocks } = await present([image(jpeg(4, 3), "image/png")]);
    expect(blocks).toEqual([image(jpeg(4, 3), "image/jpeg")]);
  });

  it("[E164] puts a text where there is no image", async () => {
    const { blocks, files } = await present([image(""), image("%%%"), image("data:image/png;base64,", "")]);
    expect(files).toEqual([]);
    expect(blocks).toEqual([
      text(
        "[image/png omitted: it is empty]\n[image/png omitted: its data is not base64]\n[image omitted: it is empty]",
      ),
    ]);
  });

  it("[E164] keeps what no provider takes as an image in a file", async () => {
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
    const { blocks, files } = await present([image(Buffer.from(svg), "image/svg+xml")]);
    const [file = ""] = files;
    const why = "it is not a PNG, JPEG, GIF or WebP image";
    expect(blocks).toEqual([text(`[image/svg+xml, 41 bytes, saved to ${file}; not shown: ${why}]`)]);
    expect(file).toMatch(/1-look\.svg$/);
    expect(readFileSync(file, "utf8")).toBe(svg);
  });

  it("[E166] gives bare base64, whatever prefix it came with", async () => {
    const prefix = "data:image/png;base64,";
    const { blocks } = await present([image(prefix + PNG, "image/png;base64"), image(prefix + prefix + PNG)]);
    expect(blocks).toEqual([image(PNG), image(PNG)]);
  });

  it("[E176] does not count an image as text", async () => {
    const large = png(600, 450);
    expect(large.length).toBeGreaterThan(800_000);
    const { blocks, truncated } = await present([text("seen"), image(large)]);
    expect(blocks).toEqual([text("seen"), image(large)]);
    expect(truncated).toBe(false);
  });

  it("[E176] has limits for images, one by one and together", async () => {
    const grown = (megabytes: number) => Buffer.concat([png(2, 2), Buffer.alloc(megabytes * MIB)]);
    const { blocks, files } = await present([image(grown(4)), ...Array.from({ length: 5 }, () => image(grown(3)))]);
    expect(blocks.map(({ type }) => type)).toEqual(["text", "image", "image", "image", "text"]);
    expect(files.map((file) => readFileSync(file).length)).toEqual(
      [4, 3, 3].map((megabytes) => grown(megabytes).length),
    );
    expect(blocks[0]).toEqual(text(`[image/png, 4 MB, saved to ${files[0]}; not shown: it is larger than 3.8 MB]`));
    const together = "not shown: the images together are larger than 12 MB";
    expect(blocks[4]).toEqual(
      text(
        files
          .slice(1)
          .map((file) => `[image/png, 3 MB, saved to ${file}; ${together}]`)
          .join("\n"),
      ),
    );
  });

  it("names images and keeps them where they are not to be shown", async () => {
    const { blocks, files } = await present([text("a"), image(PNG)], { showImages: false });
    const mark = "[image result omitted — binary data not rendered]";
    const size = Buffer.from(PNG, "base64").length;
    expect(blocks).toEqual([text(`a\n${mark}\n[image/png, ${size} bytes, saved to ${files[0]}]`)]);
  });

  it("[E167] [E169] keeps sounds and documents in files, named by their addresses and types", async () => {
    const pdf = Buffer.concat([Buffer.from("%PDF-1.7"), Buffer.alloc(MIB)]);
    const { blocks, files } = await present([
      { type: "audio", data: Buffer.from("RIFF").toString("base64"), mimeType: "audio/wav" },
      { type: "resource", uri: "file:///q/report.PDF", mimeType: "application/pdf", blob: pdf.toString("base64") },
      { type: "resource", uri: "", blob: "AAAA" },
    ]);
    expect(files.map((file) => file.replace(/^.*\//, ""))).toEqual(["1-look.wav", "2-report.pdf", "3-look.bin"]);
    expect(readFileSync(files[1] ?? "")).toEqual(pdf);
    expect(blocks).toEqual([
      text(
        `[audio/wav, 4 bytes, saved to ${files[0]}]\n` +
          `[resource file:///q/report.PDF (application/pdf), 1 MB, saved to ${files[1]}]\n` +
          `[resource, 3 bytes, saved to ${files[2]}]`,
      ),
    ]);
  });

  it("says why something was not kept", async () => {
    const full = createSpillStore({ parent, maxFiles: 0 });
    const { blocks, files } = await present(
      [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }, text("x".repeat(2000))],
      { spill: full },
    );
    expect(files).toEqual([]);
    const why = "this session has kept 0 files, its limit";
    const [shown] = blocks;
    expect(shown).toMatchObject({ text: expect.stringContaining(`[audio/wav, 3 bytes, not kept: ${why}]\nxxx`) });
    expect(shown).toMatchObject({ text: expect.stringContaining(`; the full output was not kept: ${why}]`) });
  });

  it("[S3-61] [S3-62] keeps the whole of a text that is cut, and names the file", async () => {
    const whole = `${"a".repeat(1500)}\x1b[31m\n${"z".repeat(1500)}`;
    const { blocks, truncated, files } = await present([text(whole)]);
    expect(truncated).toBe(true);
    const missing = 3001 - (1000 - "\n[…]\n".length - 2);
    expect(blocks).toEqual([
      text(
        `${"a".repeat(743)}\n[…]\n${"z".repeat(250)}\n` +
          `[output truncated: ${missing} of 3001 bytes not shown; full output: ${files[0]}]`,
      ),
    ]);
    expect(files[0]).toMatch(/1-look\.txt$/);
    expect(readFileSync(files[0] ?? "", "utf8")).toBe(`${"a".repeat(1500)}\n${"z".repeat(1500)}`);
  });

  it("[S3-62] keeps a JSON text that is cut so that it can be read by lines, to the letter", async () => {
    const items = Array.from({ length: 300 }, (_, id) => `{"id":${id},"n":12345678901234567890.10}`);
    const whole = `[${items.join(",")}]`;
    const { blocks, files } = await present([text(whole)]);
    expect(files[0]).toMatch(/1-look\.json$/);
    const kept = readFileSync(files[0] ?? "", "utf8");
    expect(kept.replace(/\s/g, "")).toBe(whole);
    expect(Math.max(...kept.split("\n").map((line) => line.length))).toBeLessThan(100);
    const [block] = blocks;
    const lines = block?.type === "text" ? block.text.split("\n") : [];
    expect(lines[1]).toMatch(/^\[… \d+ of 300 elements left out\]$/);
    expect(lines[0]).toMatch(/^\[\{"id":0,.*\}$/);
    expect(lines[2]).toBe("]");

    const pretty = JSON.stringify({ rows: items }, null, 2);
    expect(readFileSync((await present([text(pretty)])).files[0] ?? "", "utf8")).toBe(pretty);
  });

  it("limits all texts as one and keeps the images between and behind them", async () => {
    const content = [text("x".repeat(600)), image(PNG), text("y".repeat(600)), image(PNG), text("z".repeat(300))];
    const { blocks, files } = await present(content);
    expect(readFileSync(files[0] ?? "", "utf8")).toBe(
      ["x", "y", "z"].map((c, at) => c.repeat([600, 600, 300][at] ?? 0)).join("\n"),
    );
    expect(blocks).toEqual([
      text("x".repeat(600)),
      image(PNG),
      text(`${"y".repeat(142)}\n[…]`),
      image(PNG),
      text(`${"z".repeat(250)}\n[output truncated: 509 of 1502 bytes not shown; full output: ${files[0]}]`),
    ]);
  });

  it("drops a text that lies in the gap, but not the image behind it", async () => {
    const content = [text("a\n".repeat(90)), image(PNG), text("b"), image(PNG), text("c\n".repeat(60))];
    const { blocks } = await present(content, { limit: { maxBytes: 1000, maxLines: 40 } });
    expect(blocks).toEqual([
      text(`${"a\n".repeat(29)}[…]`),
      image(PNG),
      image(PNG),
      { type: "text", text: expect.stringMatching(/^(c\n){10}\[output truncated: 225 of 302 bytes/) },
    ]);
  });

  it("[E172] [E173] [E170] shows content and structured content, fitting or not, error or not", async () => {
    for (const isError of [true, false]) {
      const result = decodeCallResult({ content: [text("no")], structuredContent: { n: "x" }, isError });
      const { blocks } = await presentResult(result, { tool: "t", limit: LIMIT, spill, showImages: true });
      expect(blocks).toEqual([text('no\n{\n  "n": "x"\n}')]);
    }
    const result = decodeCallResult({ content: [], structuredContent: { n: 1 } });
    const { blocks } = await presentResult(result, { tool: "t", limit: LIMIT, spill, showImages: true });
    expect(blocks).toEqual([text('{\n  "n": 1\n}')]);
  });

  it("never throws and never exceeds a limit, whatever JSON a server sends", async () => {
    const values = fc.jsonValue({ maxDepth: 3 });
    const word = fc.constantFrom(
      "text",
      "image",
      "audio",
      "resource",
      "resource_link",
      "image/png",
      PNG,
      "data:,",
      "\u{e0041}",
    );
    const field = fc.oneof(values, word, fc.string({ unit: "binary", maxLength: 400 }));
    const block = fc.record(
      {
        type: fc.oneof(word, values),
        text: field,
        data: field,
        mimeType: field,
        uri: field,
        name: field,
        size: field,
        description: field,
        resource: fc.oneof(
          field,
          fc.record({ uri: field, text: field, blob: field, mimeType: field }, { requiredKeys: [] }),
        ),
      },
      { requiredKeys: ["type"] },
    );
    const result = fc.record(
      {
        content: fc.oneof(values, fc.array(fc.oneof(block, values))),
        structuredContent: values,
        isError: values,
        _meta: values,
      },
      { requiredKeys: [] },
    );
    const limits = fc.record({ maxBytes: fc.nat(600), maxLines: fc.nat(20) });
    const options = { tool: "t", spill: createSpillStore({ parent, maxFiles: 3 }) };
    await fc.assert(
      fc.asyncProperty(fc.oneof(result, values), limits, fc.boolean(), async (value, limit, showImages) => {
        const shown = await presentResult(decodeCallResult(value), { ...options, limit, showImages });
        const texts = shown.blocks.flatMap((each) => (each.type === "text" ? [each.text] : []));
        const lines = texts.join("\n").split("\n");
        const body = lines.slice(0, shown.truncated ? -1 : undefined).join("\n");
        expect(shown.blocks.length).toBeGreaterThan(0);
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limit.maxBytes);
        expect(body.replace(/\n$/, "").split("\n").length).toBeLessThanOrEqual(Math.max(1, limit.maxLines));
        expect(/^\[output truncated: .*\]$/.test(lines.at(-1) ?? "")).toBe(shown.truncated);
        expect(shown.blocks.every((each) => each.type === "text" || (showImages && each.data !== ""))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
