import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { ConfigLayer, ConfigProblem, FilePosition } from "./record.ts";

export type JsonNode = Node;

/** A parsed file whose nodes know where they stand. */
export interface JsonDocument {
  readonly file: string;
  readonly text: string;
  readonly root: JsonNode;
  /** Where each line begins. */
  readonly lineStarts: readonly number[];
  /** Whose word it is; the person's own when absent. */
  readonly layer?: ConfigLayer;
}

/** No configuration is this large: whatever it is, parsing it would only delay the start of the agent. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Reads JSON with comments and trailing commas; `undefined` when there is no file, or nothing in it but white space and
 * comments. A byte order mark is skipped and UTF-16 with one is understood, as some Windows editors write it. A file with
 * a syntax error gives one problem at its place and nothing else: half a file may lack the very line that switches a
 * server off.
 */
export function readJsonFile(file: string, problems: ConfigProblem[]): JsonDocument | undefined {
  return readFile(file, problems, parseJson);
}

export type Parse = (file: string, text: string, problems: ConfigProblem[]) => JsonDocument | undefined;

/** Reads a file in any of the formats; one that cannot be read gives a problem, and none at all is no problem. */
export function readFile(file: string, problems: ConfigProblem[], parse: Parse): JsonDocument | undefined {
  const bytes = readBytes(file, problems);
  return bytes && parseBytes(file, bytes, problems, parse);
}

/** The reading half of `readFile`, for whoever judges the very bytes that are parsed. */
export function readBytes(
  file: string,
  problems: ConfigProblem[],
  maxBytes: number = MAX_FILE_BYTES,
): Buffer | undefined {
  const start = { file, line: 1, column: 1 };
  try {
    // Asked before it is opened, since opening a device may already do something; and again of what was opened.
    if (!statSync(file).isFile()) return report(problems, start, NOT_REGULAR);
    const handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      if (!fstatSync(handle).isFile()) return report(problems, start, NOT_REGULAR);
      return readUpTo(handle, maxBytes) ?? report(problems, start, tooLarge(maxBytes));
    } finally {
      closeSync(handle);
    }
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return report(problems, start, `This file could not be read: ${READ_ERRORS[code] ?? code}.`);
  }
}

const NOT_REGULAR = "This is not a regular file, so it was not read.";
const tooLarge = (bytes: number) => `This file is larger than ${bytes / 1024 / 1024} MiB, so it was not read.`;
const CHUNK_BYTES = 64 * 1024;

/** All bytes, or `undefined` when there are more than `limit`, whatever size the file says: some say 0 and never end. */
function readUpTo(handle: number, limit: number): Buffer | undefined {
  if (fstatSync(handle).size > limit) return undefined;
  const chunks: Uint8Array[] = [];
  for (let total = 0; total <= limit; ) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const length = readSync(handle, chunk);
    if (length === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, length));
    total += length;
  }
  return undefined;
}

/** The parsing half of `readFile`. */
export function parseBytes(
  file: string,
  bytes: Uint8Array,
  problems: ConfigProblem[],
  parse: Parse = parseJson,
): JsonDocument | undefined {
  let text: string;
  try {
    text = decode(bytes);
  } catch (thrown) {
    const code = errorCode(thrown);
    const position = { file, line: 1, column: 1 };
    return report(problems, position, `This file could not be read: ${READ_ERRORS[code] ?? code}.`);
  }
  return parse(file, text, problems);
}

/** Parses a text that was read from `file`. */
export function parseJson(file: string, text: string, problems: ConfigProblem[]): JsonDocument | undefined {
  const errors: ParseError[] = [];
  let root: JsonNode | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch {
    return report(problems, { file, line: 1, column: 1 }, "This file is nested too deeply to be read.");
  }
  const lineStarts = lineStartsOf(text);
  // Only the first error: those after it are mostly its echo.
  const error = errors[0];
  if (error !== undefined) {
    const what = SYNTAX_ERRORS[printParseErrorCode(error.error)] ?? "it is not valid JSON here";
    const message = `This file is not used because of a mistake in its syntax: ${what}.`;
    return report(problems, positionAt(file, lineStarts, error.offset), message);
  }
  return root && { file, text, root, lineStarts };
}

/** Where a node begins. */
export function positionOf(document: JsonDocument, node: JsonNode): FilePosition {
  return positionAt(document.file, document.lineStarts, node.offset);
}

export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** The last line that begins at or before the offset, found by halving. */
function positionAt(file: string, lineStarts: readonly number[], offset: number): FilePosition {
  let line = 0;
  let after = lineStarts.length;
  while (after - line > 1) {
    const middle = (line + after) >>> 1;
    if ((lineStarts[middle] ?? 0) <= offset) line = middle;
    else after = middle;
  }
  return { file, line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
}

/**
 * The text of a file in UTF-8, or in UTF-16 with a byte order mark, which is left out. Throws a TypeError with code
 * ERR_ENCODING_INVALID_ENCODED_DATA for bytes that are not text.
 */
export function decode(bytes: Uint8Array): string {
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  return new TextDecoder(utf16, { fatal: true }).decode(bytes);
}

export function report(problems: ConfigProblem[], position: FilePosition, message: string): undefined {
  problems.push({ ...position, severity: "error", message });
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  EACCES: "permission denied (EACCES)",
  EPERM: "permission denied (EPERM)",
  ELOOP: "its symbolic links form a loop (ELOOP)",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not UTF-8 text",
};

const SYNTAX_ERRORS: Readonly<Record<string, string>> = {
  InvalidSymbol: "this word or character is not allowed here (strings and names need double quotes)",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "a name in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is missing here",
  CommaExpected: "a comma is missing before this",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "there is something after the end of the document",
  UnexpectedEndOfComment: "this comment is not closed",
  UnexpectedEndOfString: "this string is not closed",
  UnexpectedEndOfNumber: "this number is incomplete",
  InvalidUnicode: "this \\u escape needs four hexadecimal digits",
  InvalidEscapeCharacter: "a backslash in a string must be written twice (\\\\)",
  InvalidCharacter: "a control character in a string must be written as an escape",
};
