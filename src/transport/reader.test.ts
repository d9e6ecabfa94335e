import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeFrame, type Framing } from "./framing.ts";
import type { JsonRpcMessage } from "./message.ts";
import { createMessageReader } from "./reader.ts";

interface Seen {
  messages: JsonRpcMessage[];
  framings: Framing[];
  noise: string[];
  lost: [id: number | undefined, reason: string][];
}

function read(chunks: readonly (string | Uint8Array)[], maxBytes?: number): Seen {
  const seen: Seen = { messages: [], framings: [], noise: [], lost: [] };
  const reader = createMessageReader(
    {
      message: (message, framing) => {
        seen.messages.push(message);
        seen.framings.push(framing);
      },
      noise: (sample) => seen.noise.push(sample),
      lost: (id, reason) => seen.lost.push([id, reason.message]),
    },
    maxBytes,
  );
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  reader.end();
  return seen;
}

const hello = { jsonrpc: "2.0" as const, id: 1, result: { text: "日本 é\u2028" } };
const note: JsonRpcMessage = { jsonrpc: "2.0", method: "notifications/message", params: { n: 1 } };
const line = (message: unknown) => encodeFrame(JSON.stringify(message), "newline");
const frame = (message: unknown) => encodeFrame(JSON.stringify(message), "content-length");

describe("the message reader", () => {
  test("reads one message a line", () => {
    expect(read([line(hello), line(note)]).messages).toEqual([hello, note]);
  });

  test("reads frames with a length and lines, and says which it was", () => {
    const seen = read([`${frame(hello)}${frame(note)}${line(note)}`]);
    expect(seen.messages).toEqual([hello, note, note]);
    expect(seen.framings).toEqual(["content-length", "content-length", "newline"]);
  });

  test("a server that has written a message as a line writes lines: what looks like a header then is noise", () => {
    const seen = read([`${line(hello)}Content-Length: 50000\r\n\r\n${line(note)}`]);
    expect(seen.messages).toEqual([hello, note]);
    expect(seen.noise.map((noise) => noise.trim())).toEqual(["Content-Length: 50000"]);
  });

  test("[E005] takes lines that end with CRLF", () => {
    expect(read([line(hello).replace("\n", "\r\n")]).messages).toEqual([hello]);
  });

  test("takes a byte order mark before the first message", () => {
    expect(read([`\uFEFF${line(hello)}`]).messages).toEqual([hello]);
  });

  test("[E001] skips banners and JSON that is no message, and tells of them", () => {
    const seen = read(['Server v1 starting...\n[info] {"not":"rpc"}\n', line(hello)]);
    expect(seen.messages).toEqual([hello]);
    expect(seen.noise).toEqual(["Server v1 starting...", '[info] {"not":"rpc"}']);
  });

  test("[E002] treats scalars, empty lists and rules as noise", () => {
    const lines = ["2026-01-01 x", "-----", "123", '"s"', "null", "[]"];
    expect(read([`${lines.join("\n")}\n`])).toEqual({ messages: [], framings: [], noise: lines, lost: [] });
  });

  test("shows a short sample of long noise", () => {
    const noise = `${"word ".repeat(30)}${"x".repeat(5_000)}`;
    expect(read([`${noise}\n`]).noise).toEqual([`${"word ".repeat(30).trim()}…`]);
  });

  test("[E004] finds a message glued behind a prompt, and names the line where the message is broken", () => {
    expect(read([`prompt> ${line(hello)}`]).messages).toEqual([hello]);
    const broken = 'prompt> {"jsonrpc":"2.0","id":1,"result":{"x":';
    expect(read([`${broken}\n`])).toMatchObject({ noise: [], lost: [[1, `its answer is not valid JSON: ${broken}`]] });
  });

  test("fails the one call whose answer is no JSON, such as NaN from Python", () => {
    const answer = (id: string) => `{"jsonrpc": "2.0", "id": ${id}, "result": {"mean": NaN}}`;
    const last = '{"result": {"mean": Infinity, "id": 9}, "jsonrpc": "2.0", "id": 8}';
    const seen = read([[answer("7"), answer('"6"'), last].map((text) => `${text}\n`).join(""), line(hello)]);
    expect(seen.lost.map(([id]) => id)).toEqual([7, 6, 8]);
    expect(seen.messages).toEqual([hello]);
  });

  test("does not take a broken line for an answer that is none", () => {
    const lines = [
      '{"jsonrpc":"2.0","id":3,"method":"ping","params":{"result":NaN}}',
      '{"level":"info","id":3,"msg":oops}',
      '{"jsonrpc":"2.0","method":"x","params":{"id":3,"error":NaN}}',
      '{"result":{"id":3,"deep":NaN}}',
    ];
    expect(read([`${lines.join("\n")}\n`])).toMatchObject({ lost: [], noise: lines });
  });

  test("[E013] unpacks a batch", () => {
    expect(read([line([hello, note])]).messages).toEqual([hello, note]);
  });

  test("[E014] supplies a missing jsonrpc member", () => {
    expect(read([line({ id: 1, result: hello.result })]).messages).toEqual([hello]);
  });

  test("takes a last message whose newline never came", () => {
    expect(read([JSON.stringify(hello)]).messages).toEqual([hello]);
  });

  test.each([line, frame])("[E008] drops an answer over the cap, tells whose it was, and goes on %#", (write) => {
    const text = "x".repeat(5_000);
    const first = write({ jsonrpc: "2.0", id: 2, result: { content: [{ type: "text", text, id: 1 }] } });
    const last = write({ result: { content: [{ type: "text", text }] }, jsonrpc: "2.0", id: 3 });
    const nowhere = write({ jsonrpc: text, id: 2, result: text, more: text });
    const request = write({ jsonrpc: "2.0", id: 2, method: "sampling/createMessage", params: { result: text } });
    const seen = read([first, last, nowhere, request, line(hello)], 1_024);
    expect(seen.messages).toEqual([hello]);
    expect(seen.lost).toEqual([
      [
        2,
        expect.stringMatching(/^its answer is too large: MCP message body of \d+ bytes exceeds the 1024-byte limit$/),
      ],
      [3, expect.any(String)],
    ]);
    expect(seen.noise).toHaveLength(2);
  });

  test("a flood without a line end is noise of a known length", () => {
    expect(read(["x".repeat(3_000)], 1_024).noise).toEqual([
      `MCP message body of 3000 bytes exceeds the 1024-byte limit: …`,
    ]);
  });
});

describe("any split of the bytes", () => {
  const id = fc.oneof(fc.nat(), fc.string());
  const json = fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown);
  const params = fc.dictionary(fc.string(), json, { maxKeys: 4 });
  const message = fc.oneof(
    fc.record({ jsonrpc: fc.constant("2.0"), id, result: json }),
    fc.record({ jsonrpc: fc.constant("2.0"), id, method: fc.string(), params }),
    fc.record({ jsonrpc: fc.constant("2.0"), method: fc.string(), params }),
    fc.record({ jsonrpc: fc.constant("2.0"), id, error: fc.record({ code: fc.integer(), message: fc.string() }) }),
  ) as fc.Arbitrary<JsonRpcMessage>;
  const framing = fc.constantFrom<(Framing | "both")[]>("newline", "content-length", "both");
  /** Lines that are no message and no header. */
  const banner = fc.string({ unit: "binary" }).map((text) => `* ${text.replaceAll(/[\n{[]/g, " ")}\n`);
  const cuts = fc.array(fc.nat(), { maxLength: 20 });

  function split(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
    const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
    return [0, ...places].map((from, index) => bytes.subarray(from, places[index]));
  }

  test("[E011] gives the messages that were written, in either framing, with noise between them", () => {
    fc.assert(
      fc.property(framing, fc.array(fc.tuple(message, fc.option(banner))), cuts, (how, items, at) => {
        const texts = items.map(([each, noise]) => encodeFrame(JSON.stringify(each), how) + (noise ?? ""));
        const seen = read(split(Buffer.from(texts.join("")), at));
        expect(seen.messages).toEqual(items.map(([each]) => JSON.parse(JSON.stringify(each))));
        expect(seen.lost).toEqual([]);
      }),
    );
  });

  test("[E011] changes nothing of what is read, whatever the bytes and however small the cap", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      fc.tuple(message, framing).map(([each, how]) => Buffer.from(encodeFrame(JSON.stringify(each), how))),
      fc
        .tuple(fc.uint8Array({ minLength: 1 }), fc.nat(300))
        .map(([some, times]) => Buffer.concat(Array.from({ length: times }, () => some))),
      fc
        .constantFrom("\n", "\r\n\r\n", "\uFEFF", "> ", "Content-Length: 5\r\n\r\n", "Content-Type: x\n")
        .map(Buffer.from),
    );
    fc.assert(
      fc.property(
        fc.array(bytes, { maxLength: 8 }),
        cuts,
        fc.constantFrom(1_024, 2_000, 100_000),
        (parts, at, maxBytes) => {
          const all = Buffer.concat(parts);
          expect(read(split(all, at), maxBytes)).toEqual(read([all], maxBytes));
        },
      ),
    );
  });
});
