import type { Readable } from "node:stream";
import { createParser } from "eventsource-parser";
import { lostConnection, tooLarge } from "./http-failure.ts";

const LF = 0x0a;
const CR = 0x0d;

/** From where on a broken stream is taken up again; kept up to date while it is read. */
export interface StreamPosition {
  lastEventId?: string | undefined;
  /** How long the server asked to wait before that, milliseconds. */
  retryMs?: number | undefined;
}

export interface ServerEvent {
  /** `message` when the server named none. */
  readonly name: string;
  readonly data: string;
}

/**
 * Reads a `text/event-stream` body to its end. Resolves there; rejects with a TransportError when it breaks off or an event
 * is larger than `limitBytes`, and with whatever `onEvent` throws, which ends the reading. Priming events, which have an id
 * and no data, only move the position [E068]. An event whose closing blank line never came is given too: servers that end
 * the stream right behind it are common, and data cut short is no message [E071].
 */
export function readEvents(
  body: Readable,
  limitBytes: number,
  position: StreamPosition,
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let atEnd = false;
    const parser = createParser({
      maxBufferSize: limitBytes,
      onEvent: ({ id, event: name = "message", data }) => {
        if (data.length > limitBytes) throw tooLarge(limitBytes);
        if (id !== undefined && !atEnd) position.lastEventId = id === "" ? undefined : id;
        if (data.trim() !== "") onEvent({ name, data });
      },
      onRetry: (ms) => {
        position.retryMs = ms;
      },
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") throw tooLarge(limitBytes);
      },
    });

    /** The unfinished line, in the pieces it came in: whole lines are decoded, so no character is ever split [E011]. */
    let line: Buffer[] = [];
    let lineBytes = 0;
    let first = true;
    const feed = (bytes: Buffer) => {
      const text = bytes.toString("utf8");
      parser.feed(first && text.startsWith("\uFEFF") ? text.slice(1) : text);
      first = false;
    };
    const take = (chunk: Buffer) => {
      const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1;
      if (end > 0) {
        feed(line.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...line, chunk.subarray(0, end)]));
        line = [];
        lineBytes = 0;
      }
      if (end < chunk.length) line.push(chunk.subarray(end));
      lineBytes += chunk.length - end;
      if (lineBytes > limitBytes) throw tooLarge(limitBytes);
    };
    const finish = () => {
      atEnd = true;
      feed(Buffer.concat([...line, Buffer.from("\n\n")]));
    };

    let done = false;
    const attempt = (step: () => void) => {
      if (done) return;
      try {
        step();
      } catch (error) {
        done = true;
        body.destroy();
        reject(error);
      }
    };
    body.on("data", (chunk: Buffer) => attempt(() => take(chunk)));
    body.on("end", () =>
      attempt(() => {
        finish();
        resolve();
      }),
    );
    body.on("error", (error) =>
      attempt(() => {
        finish();
        reject(lostConnection(error));
      }),
    );
  });
}
