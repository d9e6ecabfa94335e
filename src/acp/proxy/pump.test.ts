import { PassThrough, Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { pump } from "./pump.ts";

const EVENTS = ["drain", "close", "error"] as const;
const lines = (count: number) => Readable.from([Buffer.from("line\n".repeat(count))]);

test("a writer that is always behind is waited for, and nothing stays on it", async () => {
  let most = 0;
  const written: string[] = [];
  const to = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      most = Math.max(most, to.writableLength);
      written.push(String(chunk));
      setImmediate(done);
    },
  });
  const before = EVENTS.map((event) => to.listenerCount(event));
  await pump(lines(20), to, (line) => to.write(line));
  expect(written).toHaveLength(20);
  expect(most).toBe("line".length);
  expect(EVENTS.map((event) => to.listenerCount(event))).toEqual(before);
});

test.each([undefined, new Error("EPIPE")])("a writer that ends while it is behind (%s) holds nobody", async (error) => {
  const to = new PassThrough({ highWaterMark: 1 });
  to.on("error", () => {});
  let taken = 0;
  await pump(lines(3), to, (line) => {
    taken++;
    if (!to.destroyed) to.write(line);
    setImmediate(() => to.destroy(error));
  });
  expect(taken).toBe(3);
});
