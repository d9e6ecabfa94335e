import { applyEdits, createScanner, type Edit } from "jsonc-parser";
import type { JsonDocument, JsonNode } from "./json-file.ts";

/**
 * Changes to the text of a JSON document that leave everything else as it stands: comments, order, indentation, line
 * ends, and whether there is a comma behind the last item. `modify` of jsonc-parser formats whole lines around a
 * change and drops comments beside a removed item.
 */

/** A member of an object with its key, or an item of an array without one. */
export interface Member {
  readonly key?: string;
  readonly value: unknown;
}

/** Tokens of jsonc-parser, whose enumeration has no existence at run time. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const WHITE_SPACE = 15;

/** Longest array that is written on one line. */
const MAX_INLINE = 100;

/** How the document is laid out. */
interface Style {
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
}

/** The text with the value of a node replaced. */
export function replaceValue({ text, root }: Pick<JsonDocument, "text" | "root">, node: JsonNode, value: unknown) {
  const written = writeValue(value, styleOf(text, root), indentAt(text, node.offset));
  return applyEdits(text, [{ offset: node.offset, length: node.length, content: written }]);
}

/** The text with a member behind the last one of an object or array. */
export function insertMember(
  { text, root }: Pick<JsonDocument, "text" | "root">,
  container: JsonNode,
  member: Member,
): string {
  const style = styleOf(text, root);
  const last = container.children?.at(-1);
  return applyEdits(
    text,
    last === undefined
      ? insertFirst(text, container, member, style)
      : insertAfter(text, container, last, member, style),
  );
}

/** A whole document with one member, for a file that has none; what it holds, comments, stays above. */
export function newDocument(text: string, member: Member): string {
  const style: Style = { eol: text.includes("\r\n") ? "\r\n" : "\n", unit: "  " };
  const before = text.trim() === "" ? "" : `${text.trimEnd()}${style.eol}`;
  const { key = "", value } = member;
  return `${before}${writeValue({ [key]: value }, style, "")}${style.eol}`;
}

/** The text without one member. A comment behind it on its last line goes with it; those above it stay. */
export function removeMember(text: string, container: JsonNode, member: JsonNode): string {
  const children = container.children ?? [];
  const index = children.indexOf(member);
  const after = scanAfter(text, member);
  const edits: Edit[] = [];
  // Without this the item before would be the last one, with a comma behind it that programs other than this refuse.
  const before = children[index - 1];
  if (before !== undefined && index === children.length - 1 && after.comma === undefined) {
    const { comma } = scanAfter(text, before);
    if (comma !== undefined) edits.push({ offset: comma, length: 1, content: "" });
  }
  const lineStart = text.lastIndexOf("\n", member.offset - 1) + 1;
  const isFirstOnLine = text.slice(lineStart, member.offset).trim() === "";
  if (isFirstOnLine && after.lineBreak !== undefined) {
    edits.push({ offset: lineStart, length: after.lineBreak - lineStart, content: "" });
  } else {
    let end = after.comma === undefined ? member.offset + member.length : after.comma + 1;
    let start = member.offset;
    // One of the two blanks around it goes along.
    if (after.comma !== undefined) while (text[end] === " ") end++;
    else if (!isFirstOnLine) while (text[start - 1] === " ") start--;
    edits.push({ offset: start, length: end - start, content: "" });
  }
  return applyEdits(text, edits);
}

function insertFirst(text: string, container: JsonNode, member: Member, style: Style): Edit[] {
  const outer = indentAt(text, container.offset);
  const inner = outer + style.unit;
  const close = container.offset + container.length - 1;
  const before = text.slice(container.offset + 1, close).trimEnd();
  const start = container.offset + 1 + before.length;
  const written = `${style.eol}${inner}${writeMember(member, style, inner)}${style.eol}${outer}`;
  return [{ offset: start, length: close - start, content: written }];
}

function insertAfter(text: string, container: JsonNode, last: JsonNode, member: Member, style: Style): Edit[] {
  const { comma, lineEnd } = scanAfter(text, last);
  const end = last.offset + last.length;
  const lineStart = text.lastIndexOf("\n", last.offset - 1) + 1;
  const isOnOwnLine = lineStart > container.offset && text.slice(lineStart, last.offset).trim() === "";
  if (!isOnOwnLine) {
    const written = writeMember(member, undefined, "");
    return [
      comma === undefined
        ? { offset: end, length: 0, content: `, ${written}` }
        : { offset: comma + 1, length: 0, content: ` ${written},` },
    ];
  }
  const indent = text.slice(lineStart, last.offset);
  const written = `${style.eol}${indent}${writeMember(member, style, indent)}`;
  return [
    ...(comma === undefined ? [{ offset: end, length: 0, content: "," }] : []),
    { offset: lineEnd, length: 0, content: comma === undefined ? written : `${written},` },
  ];
}

/** What stands behind an item: its comma, and how the line goes on. */
interface After {
  /** Offset of the comma behind the item. */
  readonly comma: number | undefined;
  /** Where the item's last line ends, its comma and comment included; without the line break. */
  readonly lineEnd: number;
  /** Where the next line begins; absent when something else follows on the same line. */
  readonly lineBreak: number | undefined;
}

function scanAfter(text: string, node: JsonNode): After {
  const scanner = createScanner(text, false);
  scanner.setPosition(node.offset + node.length);
  let token: number = scanner.scan();
  while (isTrivia(token)) token = scanner.scan();
  const comma = token === COMMA ? scanner.getTokenOffset() : undefined;
  let lineEnd = comma === undefined ? node.offset + node.length : comma + 1;
  scanner.setPosition(lineEnd);
  for (;;) {
    token = scanner.scan();
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    if (token === LINE_BREAK) return { comma, lineEnd, lineBreak: end };
    // A comment over several lines is not the item's.
    if (!isTrivia(token) || text.slice(start, end).includes("\n")) return { comma, lineEnd, lineBreak: undefined };
    if (token !== WHITE_SPACE) lineEnd = end;
  }
}

function isTrivia(token: number): boolean {
  return [WHITE_SPACE, LINE_BREAK, LINE_COMMENT, BLOCK_COMMENT].includes(token);
}

/** The step of indentation is that of the document's first member, if it stands on a line of its own. */
function styleOf(text: string, root: JsonNode): Style {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const first = root.children?.[0];
  const lineStart = first === undefined ? 0 : text.lastIndexOf("\n", first.offset - 1) + 1;
  const indent = first === undefined ? "" : text.slice(lineStart, first.offset);
  const base = indentAt(text, root.offset);
  const isOwnLine = lineStart > root.offset && indent.trim() === "" && indent.startsWith(base);
  return { eol, unit: (isOwnLine && indent.slice(base.length)) || "  " };
}

/** The white space at the start of the line an offset is on. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
}

function writeMember({ key, value }: Member, style: Style | undefined, indent: string): string {
  const written = writeValue(value, style, indent);
  return key === undefined ? written : `${JSON.stringify(key)}: ${written}`;
}

/** A value as people write it: an object's members on lines of their own, a short array of scalars on one. */
function writeValue(value: unknown, style: Style | undefined, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const members: Member[] = isArray
    ? value.map((item) => ({ value: item }))
    : Object.entries(value).map(([key, each]) => ({ key, value: each }));
  const [open, close] = isArray ? "[]" : "{}";
  if (members.length === 0) return `${open}${close}`;
  const space = isArray ? "" : " ";
  const inline = () =>
    `${open}${space}${members.map((each) => writeMember(each, undefined, "")).join(", ")}${space}${close}`;
  if (style === undefined) return inline();
  if (isArray && value.every((item) => typeof item !== "object") && inline().length <= MAX_INLINE) return inline();
  const inner = indent + style.unit;
  const lines = members.map((each) => `${style.eol}${inner}${writeMember(each, style, inner)}`);
  return `${open}${lines.join(",")}${style.eol}${indent}${close}`;
}
