import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { linesOf } from "../lines.ts";

/** Line by line; the reader waits while the writer has more than it can take. */
export async function pump(from: Readable, to: Writable, take: (line: Buffer) => void): Promise<void> {
  for await (const line of linesOf(from)) {
    take(line);
    if (to.writableNeedDrain) await drained(to);
  }
}

/** Until there is room again, or never will be. Of what it listened to nothing stays behind, however often it waits. */
async function drained(to: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const ends = ["drain", "close"].map((event) => once(to, event, { signal }).catch(() => {}));
  try {
    await Promise.race(ends);
  } finally {
    over.abort();
  }
}
