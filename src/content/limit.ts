import type { ResultLimit } from "../config/record.ts";
import type { JsonObject } from "../protocol/types.ts";
import { mainListOf } from "./json-text.ts";
import { REDACTED } from "./redact-patterns.ts";

/** Stands where something was left out. */
const GAP = "[…]";

/** The end of a text often says how it all went; below these sizes a share of it would say nothing. */
const TAIL_SHARE = 1 / 4;
const MIN_TAIL_BYTES = 64;

/** A tool's own wish for room is granted up to here: about 50,000 tokens, a quarter of a common context. */
const MAX_WISH_BYTES = 200 * 1024;

/** How much of a text is shown: what lies before `headEnd` and from `tailStart` on, UTF-16 units. */
export interface Cut {
  readonly headEnd: number;
  /** The length of the text if nothing of its end is shown; then no gap is shown either. */
  readonly tailStart: number;
  /** Stands between them, on a line of its own. */
  readonly gap: string;
  /** UTF-8 bytes. */
  readonly totalBytes: number;
  readonly omittedBytes: number;
}

/**
 * Chooses what is shown of a text that is longer than `maxLines` lines or `maxBytes` UTF-8 bytes (S1-33, S3-59, S3-60),
 * `undefined` if all of it is: three quarters from its beginning and one from its end, the line of the gap between them
 * counted. A result is often one long line, so it is cut inside a line if need be, but never inside a character or a
 * redaction mark. Of a JSON text that is mostly a list the first elements are shown, each of them whole.
 */
export function cutText(text: string, limit: ResultLimit): Cut | undefined {
  const totalBytes = Buffer.byteLength(text);
  if (totalBytes <= limit.maxBytes && firstLines(text, limit.maxLines) === text) return undefined;
  const { head, tail, gap } = partsOfList(text, limit) ?? partsOfText(text, limit);
  return {
    headEnd: head.length,
    tailStart: text.length - tail.length,
    gap,
    totalBytes,
    omittedBytes: totalBytes - Buffer.byteLength(head) - Buffer.byteLength(tail),
  };
}

/** What is shown of a text's beginning and end, and between them if there is an end. */
interface Parts {
  readonly head: string;
  readonly tail: string;
  readonly gap: string;
}

function partsOfText(text: string, limit: ResultLimit): Parts {
  const tail = tailOf(text, {
    maxBytes: Math.floor(limit.maxBytes * TAIL_SHARE),
    maxLines: Math.floor(limit.maxLines * TAIL_SHARE),
  });
  const rest = tail === "" ? limit : without(limit, GAP, tail);
  return { head: wholeMarks(firstBytes(firstLines(text, rest.maxLines), rest.maxBytes), text), tail, gap: GAP };
}

/**
 * As many elements as fit of a list, and what stands behind it, if that is short. `undefined` where there is no list, or where
 * its elements are not what is too long.
 */
function partsOfList(text: string, limit: ResultLimit): Parts | undefined {
  const { ends, close } = mainListOf(text) ?? { ends: [], close: 0 };
  const last = ends.at(-1);
  if (last === undefined) return undefined;
  let tailStart = close;
  while (tailStart > last && /[ \t]/.test(text[tailStart - 1] as string)) tailStart--;
  const tail = text.slice(tailStart);
  const tailRoom = { maxBytes: limit.maxBytes * TAIL_SHARE, maxLines: limit.maxLines * TAIL_SHARE };
  if (Buffer.byteLength(tail) > tailRoom.maxBytes || countLines(tail) > tailRoom.maxLines) return undefined;
  const gapAfter = (shown: number) => `[… ${ends.length - shown} of ${ends.length} elements left out]`;
  const rest = without(limit, gapAfter(0), tail);
  const room = firstBytes(firstLines(text, rest.maxLines), rest.maxBytes).length;
  const shown = ends.findLastIndex((end) => end <= room) + 1;
  if (shown === 0 || shown === ends.length) return undefined;
  return { head: text.slice(0, ends[shown - 1]), tail, gap: gapAfter(shown) };
}

/** What a gap and an end leave of a limit. The gap has a line, and a line feed before it. */
function without({ maxBytes, maxLines }: ResultLimit, gap: string, tail: string): ResultLimit {
  return {
    maxBytes: maxBytes - Buffer.byteLength(`\n${gap}\n`) - Buffer.byteLength(tail),
    maxLines: maxLines - 1 - countLines(tail),
  };
}

/**
 * The limit for a tool that says in `_meta` how long its results get, as Claude Code reads it. A server is not trusted
 * with more than a part of the context, and its wish makes no limit smaller.
 */
export function widenLimit(limit: ResultLimit, meta: unknown): ResultLimit {
  const wish = (meta as JsonObject | null | undefined)?.["anthropic/maxResultSizeChars"];
  const maxBytes = typeof wish === "number" ? Math.floor(Math.min(wish, MAX_WISH_BYTES)) : 0;
  if (!(maxBytes > limit.maxBytes)) return limit;
  return { maxBytes, maxLines: limit.maxLines * Math.ceil(maxBytes / limit.maxBytes) };
}

/** The first lines of a list that together, with their line feeds, are within the limit. */
export function firstRows(rows: readonly string[], { maxBytes, maxLines }: ResultLimit): readonly string[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(row) + 1;
    return bytes > maxBytes || index >= maxLines;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** The end of a text, from the start of a line where that costs less than half of it. */
function tailOf(text: string, limit: ResultLimit): string {
  if (limit.maxBytes < MIN_TAIL_BYTES || limit.maxLines < 1) return "";
  const lines = lastLines(text, limit.maxLines);
  const bytes = lastBytes(lines, limit.maxBytes);
  if (bytes === lines) return bytes;
  const lineStart = bytes.indexOf("\n") + 1;
  if (lineStart > 0 && lineStart < bytes.length / 2) return bytes.slice(lineStart);
  return wholeMarksAtStart(bytes, text);
}

/** A line feed at the end ends the last line; it does not begin another. */
function firstLines(text: string, maxLines: number): string {
  if (maxLines <= 0) return "";
  let end = -1;
  for (let count = 0; count < maxLines; count++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text;
  }
  return end === text.length - 1 ? text : text.slice(0, end);
}

function lastLines(text: string, maxLines: number): string {
  let start = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let count = 0; count < maxLines; count++) {
    if (start === 0) return text;
    start = text.lastIndexOf("\n", start - 1);
    if (start === -1) return text;
  }
  return text.slice(start + 1);
}

function countLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

// A UTF-16 unit takes at least one byte, so no more units than bytes can be wanted.

function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, Math.max(0, maxBytes) + 1));
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString("utf8", 0, end);
}

function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(-(maxBytes + 1)));
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.toString("utf8", start);
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Half a mark would look like a piece of the text. */
function wholeMarks(head: string, text: string): string {
  for (let size = Math.min(REDACTED.length - 1, head.length); size > 0; size--) {
    const start = head.length - size;
    if (text.startsWith(REDACTED, start)) return head.slice(0, start);
  }
  return head;
}

function wholeMarksAtStart(tail: string, text: string): string {
  const start = text.length - tail.length;
  for (let missing = 1; missing < REDACTED.length; missing++) {
    if (text.startsWith(REDACTED, start - missing)) return tail.slice(REDACTED.length - missing);
  }
  return tail;
}
