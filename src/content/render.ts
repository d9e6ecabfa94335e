import type { CallToolResult, ContentBlock, JsonObject } from "../protocol/types.ts";
import { formatBytes } from "./bytes.ts";
import { prettyJson } from "./json.ts";
import { sanitizeLine, sanitizeText } from "./sanitize.ts";
import { saysTheSame } from "./structured.ts";

/** A block a model takes in. */
export type ModelBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** Something in base64. */
export type BinaryPart =
  | Extract<ContentBlock, { type: "image" | "audio" }>
  | { readonly type: "resource"; readonly uri: string; readonly mimeType: string | undefined; readonly data: string };

export type Part = { readonly type: "text"; readonly text: string } | BinaryPart;

/** Names, addresses and types inside a placeholder; a result's own text has its own limit. */
const MAX_LABEL_CHARS = 500;

const EMPTY = "[the result is empty]";

/**
 * The parts of a result in their order, texts sanitised; never empty: a result with nothing to show is shown as JSON, and one
 * with nothing at all says so.
 * Structured content is a part unless the texts say the same; it is never held against the tool's schema, since an
 * answer that does not fit is still an answer.
 */
export function partsOf(result: CallToolResult): Part[] {
  const parts: Part[] = [];
  const addText = (text: string, heading = ""): void => {
    const clean = sanitizeText(text);
    if (heading + clean !== "") parts.push({ type: "text", text: heading + clean });
  };

  const texts: string[] = [];
  for (const block of result.content) {
    switch (block.type) {
      case "text":
        if (block.text !== "") texts.push(block.text);
        addText(block.text);
        break;
      case "image":
      case "audio":
        parts.push(block);
        break;
      case "resource": {
        const { type, uri, mimeType, text, blob } = block;
        if (text !== undefined) addText(text, `[${resourceName(uri, mimeType)}]\n`);
        else parts.push({ type, uri, mimeType, data: blob ?? "" });
        break;
      }
      case "resource_link":
        parts.push({ type: "text", text: linkLine(block) });
        break;
      case "unknown":
        parts.push({ type: "text", text: `[unexpected content block ${label(block.kind)}]` });
    }
  }
  const { structuredContent } = result;
  if (structuredContent !== undefined && structuredContent !== null && !saysTheSame(texts, structuredContent)) {
    addText(prettyJson(structuredContent));
  }
  if (parts.length === 0) addText(isEmpty(result.raw) ? EMPTY : prettyJson(result.raw));
  return parts;
}

/** Members of a result that are about it, and hold nothing of it. */
const ABOUT: ReadonlySet<string> = new Set(["content", "structuredContent", "isError", "resultType"]);

/** Only for a result whose content has shown nothing. */
function isEmpty(raw: JsonObject): boolean {
  return Object.keys(raw).every((name) => ABOUT.has(name)) && Array.isArray(raw.content ?? []);
}

/** What stands where binary content is not given to the reader. */
export function omissionMark(part: BinaryPart): string {
  return part.type === "resource"
    ? `[${binaryName(part)} omitted]`
    : `[${part.type} result omitted — binary data not rendered]`;
}

/** What a piece of binary content is called: its address, or its type. */
export function binaryName(part: BinaryPart): string {
  return part.type === "resource" ? resourceName(part.uri, part.mimeType) : label(part.mimeType) || part.type;
}

function resourceName(uri: string, mimeType: string | undefined): string {
  return `resource${uri === "" ? "" : ` ${label(uri)}`}${inBrackets(mimeType)}`;
}

type Link = Extract<ContentBlock, { type: "resource_link" }>;

function linkLine({ uri, name, mimeType, size, description }: Link): string {
  const facts = [label(mimeType ?? ""), size === undefined ? "" : formatBytes(size)].filter((fact) => fact !== "");
  return [
    "[resource link ",
    name === undefined ? "" : `${label(name)}: `,
    label(uri),
    facts.length === 0 ? "" : ` (${facts.join(", ")})`,
    description === undefined ? "" : ` — ${label(description)}`,
    "]",
  ].join("");
}

function label(text: string): string {
  return sanitizeLine(text, MAX_LABEL_CHARS);
}

function inBrackets(mimeType: string | undefined): string {
  return mimeType === undefined || mimeType === "" ? "" : ` (${label(mimeType)})`;
}
