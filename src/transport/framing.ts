/**
 * How messages stand in a byte stream. Knows nothing of what they say, so it serves any protocol over pipes: those that
 * write a line each (MCP stdio, all revisions) and those that write `Content-Length` headers (LSP, DAP, some MCP
 * servers) [S1-57].
 */
import { constants } from "node:buffer";
import { TailBuffer } from "./tail-buffer.ts";

export type Framing = "newline" | "content-length";

/**
 * One message, ready to be written. `both` is a frame that either kind of reader takes: who reads frames finds a newline at
 * the end of the body, which is white space in JSON; who reads lines finds two lines of noise, which real servers skip.
 */
export function encodeFrame(text: string, framing: Framing | "both"): string {
  switch (framing) {
    case "newline":
      return `${text}\n`;
    case "content-length":
      return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    case "both":
      return encodeFrame(`${text}\n`, "content-length");
  }
}

/** What is kept of a message over the cap: enough to tell whose answer it was. */
const REMNANT_BYTES = 1024;

export interface DroppedFrame {
  /** One sentence. */
  readonly reason: string;
  /** The first and the last KiB. */
  readonly head: string;
  readonly tail: string;
}

export interface FrameEvents {
  /** One line that is not blank, or the body of one frame. */
  frame(text: string, framing: Framing): void;
  /** A frame over the cap; the next one is read as usual. */
  dropped(frame: DroppedFrame): void;
  /** Bytes that ought to be a frame and are none: one sentence. */
  fault(reason: string): void;
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = "\uFEFF";
/** A longer line is no header. */
const MAX_HEADER_CHARS = 256;
const HEADER = /^([A-Za-z-]+)[ \t]*:[ \t]*(.*?)[ \t\r]*$/;
/** An ArrayBuffer of ES2024, which every Node from 20 on has: it grows in place and gives its memory back at once. */
interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}
const ResizableBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => ResizableBuffer;

/** The buffer grows in these steps and, once it is larger than so many, is given back after each frame. */
const STEP_BYTES = 64 * 1024;
const KEPT_STEPS = 16;

/**
 * Cuts a byte stream into frames. Both framings are understood and told apart frame by frame: a line `Content-Length: N`
 * opens a frame of N bytes, other headers beside it are skipped, anything else is a line. Time is linear in the bytes:
 * however they are split, each is looked at once and copied once.
 */
export class FrameReader {
  /** Switched off once the peer is known to write lines: what looks like a header then is a log of one. */
  acceptsHeaders = true;
  readonly #events: FrameEvents;
  readonly #maxBytes: number;
  /** Names the protocol in what is said about a frame. */
  readonly #label: string;
  /** Bytes of the frame being read that came with earlier chunks. */
  #buffer: ResizableBuffer | undefined;
  /** How many bytes of that frame came, kept or not. */
  #size = 0;
  /** What is kept of it instead, once it is over the cap. */
  #remnant: { head: string; tail: TailBuffer } | undefined;
  /** Bytes of the frame body being read; undefined while reading lines. */
  #bodyBytes: number | undefined;
  /** The length announced by headers whose end (a blank line) has not come yet. */
  #announced: number | undefined;

  /** `maxBytes` is the cap of one frame, at least a KiB. */
  constructor(events: FrameEvents, label: string, maxBytes: number) {
    this.#events = events;
    this.#label = label;
    this.#maxBytes = Math.min(Math.max(maxBytes, REMNANT_BYTES), constants.MAX_STRING_LENGTH);
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const isLine = this.#bodyBytes === undefined;
      const end = this.#bodyBytes === undefined ? chunk.indexOf(NEWLINE, at) : at + this.#bodyBytes - this.#size;
      if (end < 0 || end > chunk.length) {
        this.#hold(chunk.subarray(at));
        return;
      }
      this.#complete(chunk.subarray(at, end));
      at = isLine ? end + 1 : end;
    }
  }

  /** The stream ended: what is held is judged as a last line, since a server may die before it writes the newline. */
  end(): void {
    if (this.#bodyBytes !== undefined) {
      this.#events.fault(
        `the output ended while reading ${this.#label} message body: ${this.#size} of ${this.#bodyBytes} bytes came`,
      );
      return;
    }
    if (this.#size > 0) this.#complete(Buffer.alloc(0));
    if (this.#announced !== undefined) {
      this.#events.fault(`${this.#label} peer closed stdout while reading message headers`);
    }
  }

  #hold(part: Buffer): void {
    // A length over the cap is known before the body, which then is not read into memory at all.
    const cap = (this.#bodyBytes ?? 0) > this.#maxBytes ? REMNANT_BYTES : this.#maxBytes;
    const size = this.#size + part.length;
    if (!this.#remnant && size > cap) this.#remnant = this.#beginRemnant(part);
    else if (this.#remnant) this.#remnant.tail.push(part);
    else {
      this.#buffer ??= new ResizableBuffer(0, { maxByteLength: this.#maxBytes + STEP_BYTES });
      if (size > this.#buffer.byteLength) this.#buffer.resize(Math.ceil(size / STEP_BYTES) * STEP_BYTES);
      new Uint8Array(this.#buffer).set(part, this.#size);
    }
    this.#size = size;
  }

  #held(): Buffer {
    return this.#buffer ? Buffer.from(this.#buffer, 0, this.#size) : Buffer.alloc(0);
  }

  /** Lets the held bytes go, small ones only for the next frame to overwrite. */
  #release(): void {
    if ((this.#buffer?.byteLength ?? 0) > KEPT_STEPS * STEP_BYTES) this.#buffer?.resize(0);
  }

  #beginRemnant(part: Buffer): { head: string; tail: TailBuffer } {
    const held = this.#held();
    const head = Buffer.concat([held.subarray(0, REMNANT_BYTES), part.subarray(0, REMNANT_BYTES)]);
    const tail = new TailBuffer(REMNANT_BYTES);
    tail.push(held);
    tail.push(part);
    this.#release();
    return { head: head.toString("utf8", 0, REMNANT_BYTES), tail };
  }

  /** The frame ends with these bytes, behind those that are held. */
  #complete(last: Buffer): void {
    const isBody = this.#bodyBytes !== undefined;
    const isHeld = this.#size > 0 || last.length > this.#maxBytes;
    if (isHeld) this.#hold(last);
    const size = this.#size;
    const remnant = this.#remnant;
    const text = remnant ? "" : (isHeld ? this.#held() : last).toString("utf8");
    this.#size = 0;
    this.#remnant = undefined;
    this.#bodyBytes = undefined;
    this.#release();
    if (remnant) {
      const reason = `${this.#label} message body of ${size} bytes exceeds the ${this.#maxBytes}-byte limit`;
      this.#announced = undefined;
      this.#events.dropped({ reason, head: remnant.head, tail: remnant.tail.toString() });
      return;
    }
    const unmarked = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    if (isBody) this.#events.frame(unmarked, "content-length");
    else this.#line(unmarked);
  }

  #line(line: string): void {
    if (!/\S/.test(line)) {
      this.#bodyBytes = this.#announced || undefined;
      this.#announced = undefined;
      return;
    }
    const header = this.acceptsHeaders && line.length < MAX_HEADER_CHARS ? HEADER.exec(line) : null;
    if (header && this.#header((header[1] ?? "").toLowerCase(), header[2] ?? "")) return;
    this.#announced = undefined;
    this.#events.frame(line, "newline");
  }

  /** Whether a line that looks like a header is one: by its name, or because a length was announced before it. */
  #header(name: string, value: string): boolean {
    if (name === "content-length") {
      const length = /^\d+$/.test(value) ? Number(value) : Number.NaN;
      if (Number.isSafeInteger(length)) this.#announced = length;
      else this.#events.fault(`invalid Content-Length header value: ${JSON.stringify(value)}`);
      return true;
    }
    return this.#announced !== undefined || name.startsWith("content-");
  }
}
