import type { ResultLimit } from "../config/record.ts";
import { REDACTED } from "./redact-patterns.ts";

export interface LimitedText {
  /** The text, or its beginning and a last line that says how much is missing. */
  readonly text: string;
  readonly truncated: boolean;
  /** UTF-8 bytes that are not shown. */
  readonly omittedBytes: number;
  /** Lines of which nothing is shown, or not all. */
  readonly omittedLines: number;
}

/** A text's beginning, before anything is said about the rest. */
export interface Cut {
  readonly body: string;
  readonly truncated: boolean;
  readonly totalBytes: number;
  readonly omittedBytes: number;
  readonly omittedLines: number;
}

/**
 * Cuts a text to `maxLines` lines and then to `maxBytes` UTF-8 bytes (S1-33, S3-59, S3-60): inside a line if need be,
 * since a result is often one long line, but never inside a character or a redaction mark. The limit is that of the
 * text shown; the line about the cut comes on top.
 */
export function limitText(text: string, limit: ResultLimit): LimitedText {
  const cut = cutText(text, limit);
  const { body, truncated, omittedBytes, omittedLines } = cut;
  return { text: truncated ? `${body}\n${cutNotice(cut)}` : body, truncated, omittedBytes, omittedLines };
}

/** The line that says how much was cut. */
export function cutNotice({ omittedBytes, totalBytes }: Cut): string {
  return `[output truncated: ${omittedBytes} of ${totalBytes} bytes not shown]`;
}

/** `limitText` without the notice. */
export function cutText(text: string, limit: ResultLimit): Cut {
  const totalBytes = Buffer.byteLength(text);
  const lines = firstLines(text, limit.maxLines);
  const body = wholeMarks(firstBytes(lines, limit.maxBytes), text);
  const truncated = body.length < text.length;
  return {
    body,
    truncated,
    totalBytes,
    omittedBytes: truncated ? totalBytes - Buffer.byteLength(body) : 0,
    omittedLines: truncated ? countLines(text, body.length) : 0,
  };
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

function firstBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at least one byte, so no more units than this can be wanted.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/** Half a mark would look like a piece of the text. */
function wholeMarks(body: string, text: string): string {
  if (body.length === text.length) return body;
  for (let size = Math.min(REDACTED.length - 1, body.length); size > 0; size--) {
    const start = body.length - size;
    if (text.startsWith(REDACTED, start)) return body.slice(0, start);
  }
  return body;
}

/** Lines from `from` on; the rest of a line that was begun before counts as one. */
function countLines(text: string, from: number): number {
  const start = text.charAt(from) === "\n" ? from + 1 : from;
  let count = 0;
  for (let at = start; at < text.length; count++) {
    const end = text.indexOf("\n", at);
    at = end === -1 ? text.length : end + 1;
  }
  return count;
}
