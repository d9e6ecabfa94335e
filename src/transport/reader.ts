import type { JsonRpcMessage } from "./message.ts";
import { toMessages } from "./parse.ts";

/** A message larger than this is dropped; the connection lives on. 64 MiB holds any screenshot or log a tool returns. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = "\uFEFF";
const HEADER_LINE = /^([A-Za-z-]+)[ \t]*:[ \t]*(.*)$/;

export interface ReaderEvents {
  message(message: JsonRpcMessage): void;
  /** A line that is no JSON-RPC message: a banner, a log line, half a message. */
  noise(line: string): void;
  /** A message over the cap, dropped. */
  oversize(bytes: number): void;
}

/**
 * Cuts a byte stream into JSON-RPC messages. Both framings are understood and told apart message by message: a line
 * `Content-Length: N` opens a frame of N bytes, anything else is a line (MCP stdio, all revisions).
 * Time is linear in the bytes: chunks are kept in a list, each byte is looked at once, a message is joined once.
 */
export class MessageReader {
  readonly #events: ReaderEvents;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  /** Bytes of the frame body being read; undefined while reading lines. */
  #bodyLength: number | undefined;
  /** The length announced by headers whose end (a blank line) has not come yet. */
  #announced: number | undefined;
  /** What is being read is over the cap: its bytes are counted, not kept. */
  #dropping = false;

  constructor(events: ReaderEvents, maxBytes: number = MAX_MESSAGE_BYTES) {
    this.#events = events;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const end = this.#bodyLength === undefined ? rest.indexOf(NEWLINE) : this.#bodyLength - this.#held - 1;
      if (end < 0 || end >= rest.length) {
        this.#hold(rest);
        return;
      }
      this.#hold(rest.subarray(0, end + 1));
      rest = rest.subarray(end + 1);
      this.#complete();
    }
  }

  /** The stream ended: what is held is judged as a last line, since a server may die before it writes the newline. */
  end(): void {
    if (this.#held > 0) this.#complete();
  }

  #hold(part: Buffer): void {
    this.#held += part.length;
    if (this.#dropping || this.#held > this.#maxBytes + 1) {
      this.#dropping = true;
      this.#parts = [];
      return;
    }
    this.#parts.push(part);
  }

  #complete(): void {
    const size = this.#held;
    const dropped = this.#dropping;
    const bytes = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    const wasBody = this.#bodyLength !== undefined;
    this.#parts = [];
    this.#held = 0;
    this.#dropping = false;
    this.#bodyLength = undefined;
    if (dropped) this.#events.oversize(size);
    else if (wasBody) this.#deliver(bytes.toString("utf8"));
    else this.#line(bytes.toString("utf8"));
  }

  #line(raw: string): void {
    const unmarked = raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw;
    const line = unmarked.endsWith("\n") ? unmarked.slice(0, unmarked.endsWith("\r\n") ? -2 : -1) : unmarked;
    if (line.trim() === "") {
      this.#bodyLength = this.#announced;
      this.#announced = undefined;
      if (this.#bodyLength === 0) this.#bodyLength = undefined;
      return;
    }
    const header = line.length < 256 ? HEADER_LINE.exec(line) : null;
    if (header) {
      const isLength = header[1]?.toLowerCase() === "content-length";
      if (isLength && /^\d+$/.test(header[2] ?? "")) {
        this.#announced = Number(header[2]);
        return;
      }
      if (this.#announced !== undefined && !isLength) return;
    }
    this.#announced = undefined;
    this.#deliver(line);
  }

  #deliver(text: string): void {
    const messages = toMessages(text);
    if (messages === undefined) this.#events.noise(text);
    else for (const message of messages) this.#events.message(message);
  }
}
