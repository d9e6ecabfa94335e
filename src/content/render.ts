import type { ResultLimit } from "../config/record.ts";
import type { CallToolResult, ContentBlock } from "../protocol/types.ts";
import { checkImage } from "./image.ts";
import { cutNotice, cutText } from "./limit.ts";
import { sanitizeLine, sanitizeText } from "./sanitize.ts";
import { prettyJson, saysTheSame } from "./structured.ts";

/** A block a model takes in. */
export type ModelBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** Names, addresses and types inside a placeholder; a result's own text has its own limit. */
const MAX_LABEL_CHARS = 500;

type ImageBlock = Extract<ContentBlock, { type: "image" }>;
type Part = { readonly text: string } | { readonly image: ImageBlock };

/**
 * A result as one sanitised text, every block ended by a line feed: what the `mcp` tool shows below its heading. Binary
 * content is named and left out. A result with nothing to show is shown as JSON. The caller limits it.
 */
export function renderText(result: CallToolResult): string {
  const texts = partsOf(result).map((part) =>
    "text" in part ? part.text : "[image result omitted — binary data not rendered]",
  );
  return texts.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("");
}

/**
 * A result as blocks for a model that takes images, in the order of the server; texts with no image between them are
 * one block. All text is sanitised and limited as a whole: what goes beyond is cut where it is, with a line that says so.
 * Images have no part in that limit.
 */
export function renderBlocks(result: CallToolResult, limit: ResultLimit): ModelBlock[] {
  const blocks: ModelBlock[] = [];
  for (const part of partsOf(result)) {
    const image = "image" in part ? checkImage(part.image.data) : undefined;
    if (image?.ok) {
      blocks.push({ type: "image", data: image.data, mimeType: image.mimeType });
      continue;
    }
    const text = "text" in part ? part.text : `[image omitted — ${image?.reason}]`;
    const last = blocks.at(-1);
    if (last?.type === "text") blocks[blocks.length - 1] = { type: "text", text: joinLines(last.text, text) };
    else blocks.push({ type: "text", text });
  }
  return limitBlocks(blocks, limit);
}

/** The renderable parts of a result in their order, texts sanitised; never empty. */
function partsOf(result: CallToolResult): Part[] {
  const parts: Part[] = [];
  const texts: string[] = [];
  for (const block of result.content) {
    if (block.type === "image") parts.push({ image: block });
    else if (block.type === "text") {
      const text = sanitizeText(block.text);
      if (text === "") continue;
      texts.push(block.text);
      parts.push({ text });
    } else parts.push({ text: placeholderOf(block) });
  }
  const { structuredContent } = result;
  if (structuredContent !== undefined && structuredContent !== null && !saysTheSame(texts, structuredContent)) {
    parts.push({ text: sanitizeText(prettyJson(structuredContent)) });
  }
  return parts.length > 0 ? parts : [{ text: sanitizeText(prettyJson(result.raw)) }];
}

function placeholderOf(block: Exclude<ContentBlock, { type: "text" | "image" }>): string {
  switch (block.type) {
    case "audio":
      return "[audio result omitted — binary data not rendered]";
    case "resource": {
      const name = `resource ${label(block.uri)}${inBrackets(block.mimeType)}`;
      return block.text === undefined ? `[${name} omitted]` : `[${name}]\n${sanitizeText(block.text)}`;
    }
    case "resource_link": {
      const name = block.name === undefined ? "" : `${label(block.name)}: `;
      const description = block.description === undefined ? "" : ` — ${label(block.description)}`;
      return `[resource link ${name}${label(block.uri)}${inBrackets(block.mimeType)}${description}]`;
    }
    case "unknown":
      return `[unexpected content block ${label(block.kind)}]`;
  }
}

function label(text: string): string {
  return sanitizeLine(text, MAX_LABEL_CHARS);
}

function inBrackets(mimeType: string | undefined): string {
  return mimeType === undefined || mimeType === "" ? "" : ` (${label(mimeType)})`;
}

function joinLines(first: string, second: string): string {
  return first.endsWith("\n") ? first + second : `${first}\n${second}`;
}

/** Cuts the texts as if they were one, and keeps every image. */
function limitBlocks(blocks: readonly ModelBlock[], limit: ResultLimit): ModelBlock[] {
  const whole = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const cut = cutText(whole, limit);
  if (!cut.truncated) return [...blocks];
  const limited: ModelBlock[] = [];
  let left = cut.body.length;
  let noticed = false;
  for (const block of blocks) {
    if (block.type === "image") limited.push(block);
    else if (block.text.length <= left) {
      limited.push(block);
      // The line feed that joined the texts counts, too.
      left -= block.text.length + 1;
    } else if (!noticed) {
      const body = left > 0 ? `${block.text.slice(0, left)}\n` : "";
      limited.push({ type: "text", text: body + cutNotice(cut) });
      noticed = true;
      left = -1;
    }
  }
  return limited;
}
