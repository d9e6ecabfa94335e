import { describe, expect, test } from "vitest";
import type { JsonRpcMessage } from "./message.ts";
import { MessageReader } from "./reader.ts";

interface Seen {
  messages: JsonRpcMessage[];
  noise: string[];
  oversize: number[];
}

function read(chunks: readonly (string | Buffer)[], maxBytes?: number): Seen {
  const seen: Seen = { messages: [], noise: [], oversize: [] };
  const events = {
    message: (message: JsonRpcMessage) => seen.messages.push(message),
    noise: (line: string) => seen.noise.push(line),
    oversize: (bytes: number) => seen.oversize.push(bytes),
  };
  const reader = new MessageReader(events, maxBytes);
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  reader.end();
  return seen;
}

const hello = { jsonrpc: "2.0" as const, id: 1, result: { text: "日本 é\u2028" } };
const note: JsonRpcMessage = { jsonrpc: "2.0", method: "notifications/message", params: { n: 1 } };
const line = (message: unknown) => `${JSON.stringify(message)}\n`;
const frame = (message: unknown) => {
  const body = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

describe("the message reader", () => {
  test("reads one message a line", () => {
    expect(read([line(hello), line(note)]).messages).toEqual([hello, note]);
  });

  test("[E011] gives the same messages for any split of the bytes", () => {
    const bytes = Buffer.from(`noise\n${line(hello)}${frame(note)}\n${frame(hello)}${line(note)}`);
    const whole = read([bytes]);
    expect(whole.messages).toEqual([hello, note, hello, note]);
    for (let at = 1; at < bytes.length; at++) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  test("reads Content-Length frames whose length counts bytes, with other headers around it", () => {
    const body = JSON.stringify(hello);
    const headers = `Content-Type: application/json\r\ncontent-length:${Buffer.byteLength(body)}\r\nX-Other: 1\r\n\r\n`;
    expect(read([`${headers}${body}${line(note)}`]).messages).toEqual([hello, note]);
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
    expect(read([`${lines.join("\n")}\n`])).toEqual({ messages: [], noise: lines, oversize: [] });
  });

  test("[E004] finds a message glued behind a prompt", () => {
    expect(read([`prompt> ${line(hello)}`]).messages).toEqual([hello]);
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

  test("[E008] drops a message over the cap alone and goes on with the next", () => {
    const big = line({ jsonrpc: "2.0", id: 2, result: "x".repeat(5_000) });
    const seen = read([big.slice(0, 900), big.slice(900), line(hello)], 1_000);
    expect(seen.messages).toEqual([hello]);
    expect(seen.oversize).toEqual([Buffer.byteLength(big)]);
  });

  test("drops a frame over the cap by its announced length", () => {
    const seen = read([frame({ jsonrpc: "2.0", id: 2, result: "x".repeat(5_000) }), line(hello)], 1_000);
    expect(seen.messages).toEqual([hello]);
    expect(seen.oversize).toHaveLength(1);
  });
});
