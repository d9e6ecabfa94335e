import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEvents, type ServerEvent, type StreamPosition } from "./sse.ts";

interface Reading {
  events: ServerEvent[];
  position: StreamPosition;
  error: unknown;
}

async function read(chunks: readonly (string | Uint8Array)[], limitBytes = 1024): Promise<Reading> {
  const reading: Reading = { events: [], position: {}, error: undefined };
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  reading.error = await readEvents(body, limitBytes, reading.position, (event) => reading.events.push(event)).catch(
    (error: unknown) => error,
  );
  return reading;
}

async function dataOf(...chunks: string[]): Promise<string[]> {
  const { events, error } = await read(chunks);
  expect(error).toBeUndefined();
  return events.map(({ data }) => data);
}

describe("events", () => {
  it("have data and a name", async () => {
    const { events } = await read(["event: endpoint\ndata: /x\n\n", ": comment\ndata:y\nunknown: z\n\n"]);
    expect(events).toEqual([
      { name: "endpoint", data: "/x" },
      { name: "message", data: "y" },
    ]);
  });

  it("[E070] keep the line breaks between several data lines", async () => {
    expect(await dataOf('data: {\ndata:   "a": 1\ndata: }\n\n')).toEqual(['{\n  "a": 1\n}']);
  });

  it("[E068] that only prime the stream move the position and are not given", async () => {
    const { events, position } = await read(["id: 1\ndata: \n\n", "retry: 250\nid: 2\ndata:\n\n"]);
    expect(events).toEqual([]);
    expect(position).toEqual({ lastEventId: "2", retryMs: 250 });
  });

  it("keep the last id there was, until an empty one takes it back", async () => {
    expect((await read(["id: a\ndata: 1\n\ndata: 2\n\n"])).position.lastEventId).toBe("a");
    expect((await read(["id: a\ndata: 1\n\nid:\ndata: 2\n\n"])).position.lastEventId).toBeUndefined();
  });

  it("[E071] are given though their closing blank line never came", async () => {
    for (const end of ["", "\n", "\r\n", "\r"]) expect(await dataOf(`data: 1\n\ndata: 2${end}`)).toEqual(["1", "2"]);
  });

  it("give no position when they were cut short", async () => {
    const { events, position } = await read(["id: 1\ndata: a\n\n", "data: b\nid: 12"]);
    expect(events.map(({ data }) => data)).toEqual(["a", "b"]);
    expect(position.lastEventId).toBe("1");
  });

  it("are the same however the bytes are split, whatever ends their lines, behind a byte order mark too", async () => {
    const field = fc.constantFrom("data", "id", "event", "retry", "", "other");
    const value = fc.oneof(fc.string({ unit: "grapheme", maxLength: 8 }), fc.constantFrom("日本", "\uFEFF", "7", "é"));
    const line = fc.tuple(field, value).map(([name, text]) => `${name}: ${text.replace(/[\r\n]/g, "")}`);
    const stream = fc
      .array(fc.tuple(fc.oneof(line, fc.constant("")), fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 })
      .map((lines) => lines.map(([text, end]) => text + end).join(""));
    await fc.assert(
      fc.asyncProperty(stream, fc.boolean(), fc.array(fc.nat(40), { maxLength: 12 }), async (text, mark, sizes) => {
        const bytes = Buffer.from(`${mark ? "\uFEFF" : ""}${text}`);
        const chunks: Buffer[] = [];
        let rest = bytes;
        for (const size of sizes) {
          chunks.push(rest.subarray(0, size));
          rest = rest.subarray(size);
        }
        const split = await read([...chunks, rest].filter((chunk) => chunk.length > 0));
        expect(split).toEqual(await read(bytes.length > 0 ? [bytes] : []));
      }),
      { numRuns: 300 },
    );
  });

  it("are given one by one: a character that is split waits for its rest", async () => {
    const day = Buffer.from("data: 日\n\n");
    expect((await read([day.subarray(0, 7), day.subarray(7)])).events).toEqual([{ name: "message", data: "日" }]);
  });
});

describe("a stream", () => {
  it("fails at an event over the limit, also at one that never ends", async () => {
    const tooLarge = {
      failure: "malformed",
      delivery: "unknown",
      message: expect.stringContaining("larger than 1024"),
    };
    expect((await read([`data: ${"x".repeat(1100)}\n\n`])).error).toMatchObject(tooLarge);
    expect((await read(Array.from({ length: 40 }, () => `data: ${"x".repeat(100)}\n`))).error).toMatchObject(tooLarge);
    let taken = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.from("x".repeat(100 + 0 * taken++));
      })(),
    );
    await expect(readEvents(endless, 1024, {}, () => {})).rejects.toMatchObject(tooLarge);
    expect(endless.destroyed).toBe(true);
    expect(taken).toBeLessThan(100);
  });

  it("that breaks off gives what had come, then fails", async () => {
    const body = new Readable({ read() {} });
    const events: string[] = [];
    const reading = readEvents(body, 1024, {}, ({ data }) => events.push(data));
    body.push("data: 1\n\ndata: 2");
    body.once("data", () => body.destroy(Object.assign(new Error("at 10.0.0.1"), { code: "ECONNRESET" })));
    await expect(reading).rejects.toMatchObject({
      failure: "ended",
      delivery: "unknown",
      message: "the connection was lost (ECONNRESET)",
    });
    expect(events).toEqual(["1", "2"]);
  });

  it("ends when whoever takes its events has enough of it", async () => {
    const body = new Readable({ read() {} });
    const enough = new Error("enough");
    const taken: string[] = [];
    const reading = readEvents(body, 1024, {}, ({ data }) => {
      taken.push(data);
      throw enough;
    });
    body.push("data: 1\n\ndata: 2\n\n");
    await expect(reading).rejects.toBe(enough);
    expect(body.destroyed).toBe(true);
    expect(taken).toEqual(["1"]);
  });
});
