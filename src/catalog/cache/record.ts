import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";

/** What is kept of a server from one session to the next: its own words, without configured secrets. */
export interface KeptCatalogue {
  readonly server: {
    readonly name: string;
    readonly version: string;
    readonly title?: string;
    readonly description?: string;
    readonly instructions?: string;
  };
  /** As entries of `tools/list`, with the members of `TOOL_MEMBERS`. */
  readonly tools: readonly JsonObject[];
  /** False when the server has more than this. */
  readonly complete: boolean;
  /** Which protocol it speaks, and when it was asked for that, milliseconds since 1970. */
  readonly era: { readonly is: "legacy" | "modern"; readonly askedAt: number };
  /** When it was listed, milliseconds since 1970. */
  readonly listedAt: number;
}

/** What of a tool is kept; icons and what else there may be is of no use without the server. */
export const TOOL_MEMBERS = [
  ...["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"],
] as const;

const VERSION = 1;

/** UTF-8 bytes of one file: thousands of tools. What a server has beyond that is not kept. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** A file that holds more would not be read by the ranker anyway. */
const MAX_TOOLS = 10_000;
/** UTF-16 units of one text of the server. */
const MAX_TEXT = 20_000;
/** Room for all that is no tool, escaped. */
const HEAD_BYTES = MAX_FILE_BYTES / 4;

const SERVER_TEXTS = ["title", "description", "instructions"] as const;

/** The text of a file, at most `MAX_FILE_BYTES` of it. Throws for what cannot be written as JSON. */
export function encodeCatalogue(catalogue: KeptCatalogue): string {
  const tools: string[] = [];
  let bytes = HEAD_BYTES;
  for (const tool of catalogue.tools.slice(0, MAX_TOOLS)) {
    const text = JSON.stringify(tool);
    bytes += Buffer.byteLength(text) + 2;
    if (bytes > MAX_FILE_BYTES) break;
    tools.push(text);
  }
  const { server, era, listedAt } = catalogue;
  const complete = catalogue.complete && tools.length === catalogue.tools.length;
  const words = Object.entries(server).map(([name, text]) => [name, text.slice(0, MAX_TEXT)]);
  const head = { version: VERSION, server: Object.fromEntries(words), complete, era, listedAt };
  return `${JSON.stringify(head).slice(0, -1)},"tools":[\n${tools.join(",\n")}\n]}\n`;
}

/** What a file holds; undefined for one that was written by another version, is damaged, or is none of ours. Never throws. */
export function decodeCatalogue(text: string): KeptCatalogue | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== VERSION) return undefined;
  const { server, tools, complete, era, listedAt } = value;
  if (!isObject(server) || typeof server.name !== "string" || typeof server.version !== "string") return undefined;
  if (!Array.isArray(tools) || typeof complete !== "boolean" || !isTime(listedAt)) return undefined;
  if (!isObject(era) || (era.is !== "legacy" && era.is !== "modern") || !isTime(era.askedAt)) return undefined;
  const texts = SERVER_TEXTS.filter((name) => typeof server[name] === "string").map((name) => [name, server[name]]);
  const whole = tools.slice(0, MAX_TOOLS).filter((tool): tool is JsonObject => isObject(tool));
  return {
    server: { name: server.name, version: server.version, ...Object.fromEntries(texts) },
    tools: whole,
    complete: complete && whole.length === tools.length,
    era: { is: era.is, askedAt: era.askedAt },
    listedAt,
  };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
