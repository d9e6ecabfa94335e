import type { ResultLimit } from "../config/record.ts";
import type { CallToolResult } from "../protocol/types.ts";
import { decodeBase64, formatBytes } from "./bytes.ts";
import { imageFault, imageType } from "./image.ts";
import { indentJson, isJsonText } from "./json-text.ts";
import { type Cut, cutText } from "./limit.ts";
import { type BinaryPart, binaryName, type ModelBlock, omissionMark, partsOf } from "./render.ts";
import type { Spilled, SpillFile, SpillStore } from "./spill.ts";

export interface PresentOptions {
  /** The tool's name, for the names of files. */
  readonly tool: string;
  /** For all text together, without the line about what is missing. Images have limits of their own. */
  readonly limit: ResultLimit;
  readonly spill: SpillStore;
  /** Images as images; otherwise they are named in the text and kept in files. */
  readonly showImages: boolean;
}

export interface Presentation {
  /** In the order of the server; texts with no image between them are one block. */
  readonly blocks: readonly ModelBlock[];
  readonly truncated: boolean;
  /** Absolute paths of the files that were written. */
  readonly files: readonly string[];
}

/** A file's line beyond this is cut, or not shown at all, by most tools that read by lines. */
const LONG_LINE_CHARS = 2_000;

type Piece = string | Extract<ModelBlock, { type: "image" }>;

/** Providers refuse an image of more than 5 MB in base64. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

/** All images of one result: requests have limits, too, and a conversation is sent again with each turn. */
const MAX_IMAGES_BYTES = 12 * 1024 * 1024;

/**
 * A result as a model gets it. What cannot be given to it goes to files that the text names: sounds, documents, images
 * that a provider would refuse, and the whole text where only a part of it fits the limit. Never rejects.
 */
export async function presentResult(result: CallToolResult, options: PresentOptions): Promise<Presentation> {
  const files: string[] = [];
  const save = async (file: SpillFile): Promise<Spilled> => {
    const spilled = await options.spill.save(file);
    if ("path" in spilled) files.push(spilled.path);
    return spilled;
  };

  let imageBytes = 0;
  const present = async (part: BinaryPart): Promise<Piece> => {
    const bytes = decodeBase64(part.data);
    if (bytes === undefined || bytes.length === 0) {
      return `[${binaryName(part)} omitted: ${bytes ? "it is empty" : "its data is not base64"}]`;
    }
    const known = part.type === "image" ? { ...part, mimeType: imageType(bytes) ?? part.mimeType } : part;
    let remark = "";
    if (known.type === "image" && options.showImages) {
      const fault = imageFault(bytes) ?? faultOfSize(bytes.length, imageBytes);
      if (fault === undefined) {
        imageBytes += bytes.length;
        return { type: "image", data: bytes.toString("base64"), mimeType: known.mimeType };
      }
      remark = `; not shown: ${fault}`;
    }
    const source = known.type === "resource" && known.uri !== "" ? known.uri : options.tool;
    const spilled = await save({ source, mimeType: known.mimeType, content: bytes });
    const place = "path" in spilled ? `saved to ${spilled.path}` : `not kept: ${spilled.reason}`;
    return `[${binaryName(known)}, ${formatBytes(bytes.length)}, ${place}${remark}]`;
  };

  const pieces: Piece[] = [];
  for (const part of partsOf(result)) {
    if (part.type === "image" && !options.showImages) pieces.push(omissionMark(part));
    pieces.push(part.type === "text" ? part.text : await present(part));
  }
  const blocks = toBlocks(pieces);
  const text = joinLines(blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])));
  const cut = cutText(text, options.limit);
  if (cut === undefined) return { blocks, truncated: false, files };
  const spilled = await save({ source: options.tool, ...wholeOf(text) });
  return { blocks: toBlocks([...cutBlocks(blocks, text, cut), cutNotice(cut, spilled)]), truncated: true, files };
}

/** The whole of a text that was cut, so that it can be read by lines: JSON is often one line, and gets more of them. */
function wholeOf(text: string): { mimeType: string; content: string } {
  if (!isJsonText(text)) return { mimeType: "text/plain", content: text };
  const isReadable = text.split("\n").every((line) => line.length <= LONG_LINE_CHARS);
  return { mimeType: "application/json", content: isReadable ? text : indentJson(text) };
}

function faultOfSize(bytes: number, before: number): string | undefined {
  if (bytes > MAX_IMAGE_BYTES) return `it is larger than ${formatBytes(MAX_IMAGE_BYTES)}`;
  if (before + bytes > MAX_IMAGES_BYTES) return `the images together are larger than ${formatBytes(MAX_IMAGES_BYTES)}`;
  return undefined;
}

/** Texts that touch become one. */
function toBlocks(pieces: readonly Piece[]): ModelBlock[] {
  const blocks: ModelBlock[] = [];
  let texts: string[] = [];
  for (const piece of [...pieces, undefined]) {
    if (typeof piece === "string") {
      texts.push(piece);
      continue;
    }
    if (texts.length > 0) blocks.push({ type: "text", text: joinLines(texts) });
    texts = [];
    if (piece !== undefined) blocks.push(piece);
  }
  return blocks;
}

function joinLines(texts: readonly string[]): string {
  return texts.map((text, at) => (at === texts.length - 1 || text.endsWith("\n") ? text : `${text}\n`)).join("");
}

function cutNotice({ omittedBytes, totalBytes }: Cut, spilled: Spilled): string {
  const place = "path" in spilled ? `full output: ${spilled.path}` : `the full output was not kept: ${spilled.reason}`;
  return `[output truncated: ${omittedBytes} of ${totalBytes} bytes not shown; ${place}]`;
}

/** What is left of blocks whose joined text is cut; every image is. */
function cutBlocks(blocks: readonly ModelBlock[], text: string, { headEnd, tailStart, gap }: Cut): Piece[] {
  const left: Piece[] = [];
  let isGapDue = tailStart < text.length;
  let start = 0;
  for (const block of blocks) {
    if (block.type === "image") {
      left.push(block);
      continue;
    }
    const end = start + block.text.length;
    const head = text.slice(start, Math.min(end, headEnd));
    if (head !== "") left.push(head);
    if (isGapDue && headEnd <= end) {
      left.push(gap);
      isGapDue = false;
    }
    const tail = text.slice(Math.max(start, tailStart), end);
    if (tail !== "") left.push(tail);
    start = block.text.endsWith("\n") ? end : end + 1;
  }
  return left;
}
