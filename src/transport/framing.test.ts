import { describe, expect, test } from "vitest";
import { type DroppedFrame, encodeFrame, FrameReader, type Framing } from "./framing.ts";

interface Seen {
  frames: [text: string, framing: Framing][];
  dropped: DroppedFrame[];
  faults: string[];
}

function read(chunks: readonly (string | Buffer)[], maxBytes = 1_000_000): Seen {
  const seen: Seen = { frames: [], dropped: [], faults: [] };
  const reader = new FrameReader(
    {
      frame: (text, framing) => seen.frames.push([text, framing]),
      dropped: (frame) => seen.dropped.push(frame),
      fault: (reason) => seen.faults.push(reason),
    },
    "DAP",
    maxBytes,
  );
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  reader.end();
  return seen;
}

/** The texts of all frames, where nothing else is expected. */
function texts(...chunks: (string | Buffer)[]): string[] {
  const { frames, ...rest } = read(chunks);
  expect(rest).toEqual({ dropped: [], faults: [] });
  return frames.map(([text]) => text);
}

describe("a frame that is written", () => {
  test("is a line, or has a length that counts bytes", () => {
    expect(encodeFrame("é", "newline")).toBe("é\n");
    expect(encodeFrame("é", "content-length")).toBe("Content-Length: 2\r\n\r\né");
  });

  test("can be both: a frame whose body ends with a newline, and two lines of noise before a line", () => {
    const both = encodeFrame('{"a":"é"}', "both");
    expect(both).toBe('Content-Length: 11\r\n\r\n{"a":"é"}\n');
    const [headers, body] = both.split("\r\n\r\n");
    expect(headers).toBe(`Content-Length: ${Buffer.byteLength(body ?? "")}`);
    expect(both.split("\n").filter((line) => line.startsWith("{"))).toEqual(['{"a":"é"}']);
  });
});

describe("the frame reader", () => {
  test("reads what was written in any framing, and says which it was", () => {
    const bytes =
      encodeFrame("one", "newline") + encodeFrame("two\nlines", "content-length") + encodeFrame("3", "both");
    expect(read([bytes]).frames).toEqual([
      ["one", "newline"],
      ["two\nlines", "content-length"],
      ["3\n", "content-length"],
    ]);
  });

  test("takes headers in any case and order, and skips those it does not know", () => {
    expect(texts("content-type: a/b; charset=utf-8\r\nCONTENT-LENGTH :  3 \r\nX-Odd: 1\r\n\r\nabc")).toEqual(["abc"]);
    expect(texts("Content-Length: 3\n\nabcContent-Length: 0\r\n\r\ndef\n")).toEqual(["abc", "def"]);
  });

  test("skips blank lines and a byte order mark, and takes a last line without its end", () => {
    expect(texts("\uFEFFone\n\r\n  \ntwo")).toEqual(["one", "two"]);
    expect(texts("Content-Length: 6\r\n\r\n\uFEFFabc")).toEqual(["abc"]);
  });

  test("[S1-57] names the protocol it serves in what it says", () => {
    expect(read(["Content-Length: x1\n"]).faults).toEqual(['invalid Content-Length header value: "x1"']);
    expect(read(["Content-Length: 99999999999999999999\n"]).faults).toHaveLength(1);
    expect(read(["Content-Length: 5\r\n"]).faults).toEqual(["DAP peer closed stdout while reading message headers"]);
    expect(read(["Content-Length: 5\r\n\r\nabc"]).faults).toEqual([
      "the output ended while reading DAP message body: 3 of 5 bytes came",
    ]);
    expect(read([`${"x".repeat(2_000)}\n`], 1_024).dropped[0]?.reason).toBe(
      "DAP message body of 2000 bytes exceeds the 1024-byte limit",
    );
  });

  test("a log line is a line, however much it looks like a header", () => {
    expect(texts("INFO: starting\nWarning: old\n")).toEqual(["INFO: starting", "Warning: old"]);
  });

  test("drops what is over the cap, keeps its ends, and reads on", () => {
    for (const [cap, steps] of [
      [2_000, [100_000, 900, 7]],
      [2_000_000, [10_000_000, 65_536]],
    ] as const) {
      const big = `{"a":1,${"x".repeat(cap)}${"y".repeat(cap)},"z":2}`;
      for (const framing of ["newline", "content-length"] as const) {
        const bytes = Buffer.from(encodeFrame(big, framing) + encodeFrame("next", framing));
        for (const step of steps) {
          const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
            bytes.subarray(index * step, (index + 1) * step),
          );
          const { frames, dropped, faults } = read(chunks, cap);
          expect({ frames, faults }).toEqual({ frames: [["next", framing]], faults: [] });
          expect(dropped).toHaveLength(1);
          expect(dropped[0]?.head).toBe(big.slice(0, 1_024));
          expect(dropped[0]?.tail).toBe(big.slice(-1_024));
        }
      }
    }
  });

  test("takes a frame that is exactly as large as the cap", () => {
    const full = "x".repeat(1_024);
    expect(read([encodeFrame(full, "newline"), encodeFrame(full, "content-length")], 1_024).frames).toHaveLength(2);
  });

  test("decodes a large frame as its bytes at once, broken characters included", () => {
    const pattern = Buffer.from("abc €uro \u{1F600} ");
    const broken = Buffer.from([0xf0, 0x9f, 0x98, 0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0xe2, 0x82, 0xc3, 0x28, 0xff]);
    const part = Buffer.concat([pattern, broken]);
    const bytes = Buffer.concat(Array.from({ length: 30_000 }, () => part));
    const whole = bytes.toString("utf8");
    for (const step of [bytes.length, 65_536, 65_521]) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += step) chunks.push(bytes.subarray(at, at + step));
      const [frame] = read(chunks, bytes.length).frames;
      expect(frame?.[0] === whole).toBe(true);
    }
  });

  test("[E010] looks at each byte once and copies it once, though it comes in many chunks", () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024, "x");
    bytes[bytes.length - 1] = 0x0a;
    let looked = 0;
    let copied = 0;
    const { indexOf } = Buffer.prototype;
    const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
    const { set } = typedArray;
    const reader = new FrameReader({ frame: () => {}, dropped: () => {}, fault: () => {} }, "MCP", bytes.length);
    try {
      Buffer.prototype.indexOf = function (this: Buffer, value: never, from?: number) {
        looked += this.length - (from ?? 0);
        return indexOf.call(this, value, from);
      };
      typedArray.set = function (this: Uint8Array, part: Buffer, at?: number) {
        copied += part.length;
        set.call(this, part, at);
      };
      for (let at = 0; at < bytes.length; at += 65_536) reader.push(bytes.subarray(at, at + 65_536));
    } finally {
      Buffer.prototype.indexOf = indexOf;
      typedArray.set = set;
    }
    expect(looked).toBe(bytes.length);
    expect(copied).toBe(bytes.length - 1);
  });
});
