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
  /** What it says it has beside tools. Absent where that was not noted. */
  readonly offers?: readonly Offer[];
  /** Each as it was last listed, if it ever was. */
  readonly lists?: KeptLists;
  /** Which protocol it speaks, and when it was asked for that, milliseconds since 1970. */
  readonly era: { readonly is: "legacy" | "modern"; readonly askedAt: number };
  /** When its tools were listed, milliseconds since 1970; 0: never. */
  readonly listedAt: number;
}

/** Capabilities of a server that somebody may want to know of before it is started. */
export const OFFERS = ["resources", "prompts", "completions"] as const;
export type Offer = (typeof OFFERS)[number];

export interface KeptList {
  /** As the server lists them, with the members of `LIST_MEMBERS`. */
  readonly items: readonly JsonObject[];
  /** False when the server has more than this. */
  readonly complete: boolean;
}

export type OfferList = keyof typeof LIST_MEMBERS;
export type KeptLists = { readonly [List in OfferList]?: KeptList };

/** What can be told without reading the whole of a file. */
export type KeptHead = Pick<KeptCatalogue, "offers"> & { readonly prompts?: KeptList };

const RESOURCE_MEMBERS = ["name", "title", "description", "mimeType", "size", "annotations"] as const;

/** What of each kind is kept. */
export const LIST_MEMBERS = {
  prompts: ["name", "title", "description", "arguments"],
  resources: ["uri", ...RESOURCE_MEMBERS],
  resourceTemplates: ["uriTemplate", ...RESOURCE_MEMBERS],
} as const;

/** What of a tool is kept; icons and what else there may be is of no use without the server. */
export const TOOL_MEMBERS = [
  ...["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"],
] as const;

const VERSION = 1;

/** UTF-8 bytes of one file: thousands of tools. What a server has beyond that is not kept. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** A file that holds more would not be read by the ranker anyway. */
const MAX_TOOLS = 10_000;
/** Of each other list: more than anybody chooses from. */
const MAX_ITEMS = 2_000;
/** UTF-16 units of one text of the server. */
const MAX_TEXT = 20_000;
/** Room for all that stands before the tools, escaped. */
const HEAD_BYTES = MAX_FILE_BYTES / 4;
/** Prompts stand there, and are read at each start of an agent. */
const PROMPT_BYTES = HEAD_BYTES / 4;

const SERVER_TEXTS = ["title", "description", "instructions"] as const;

/** Ends the first line of a file: what stands before it can be read alone. */
const HEAD_END = ',"tools":[';

/** The text of a file, at most `MAX_FILE_BYTES` of it. Throws for what cannot be written as JSON. */
export function encodeCatalogue(catalogue: KeptCatalogue): string {
  const { server, era, listedAt, offers, lists = {} } = catalogue;
  const tools = fitting(catalogue.tools, MAX_TOOLS, MAX_FILE_BYTES - HEAD_BYTES);
  const words = Object.entries(server).map(([name, text]) => [name, text.slice(0, MAX_TEXT)]);
  const head = {
    version: VERSION,
    server: Object.fromEntries(words),
    complete: catalogue.complete && tools.isWhole,
    era,
    listedAt,
    ...(offers && { offers }),
  };
  const prompts = lists.prompts ? listText("prompts", lists.prompts, PROMPT_BYTES) : "";
  let room = MAX_FILE_BYTES - HEAD_BYTES - tools.bytes;
  let rest = "";
  for (const name of ["resourceTemplates", "resources"] as const) {
    const list = lists[name];
    if (list === undefined || room < LIST_BYTES) continue;
    const text = listText(name, list, room - LIST_BYTES);
    room -= Buffer.byteLength(text);
    rest += text;
  }
  return `${JSON.stringify(head).slice(0, -1)}${prompts}${HEAD_END}\n${tools.texts.join(",\n")}\n]${rest}}\n`;
}

/** What a list takes beside its items. */
const LIST_BYTES = 100;

function listText(name: OfferList, { items, complete }: KeptList, maxBytes: number): string {
  const { texts, isWhole } = fitting(items, MAX_ITEMS, maxBytes);
  return `,"${name}":{"complete":${complete && isWhole},"items":[${texts.join(",")}]}`;
}

/** The first items that find room, as JSON, with two bytes between them. */
function fitting(items: readonly JsonObject[], maxItems: number, maxBytes: number) {
  const texts: string[] = [];
  let bytes = 0;
  for (const item of items.slice(0, maxItems)) {
    const text = JSON.stringify(item);
    const size = Buffer.byteLength(text) + 2;
    if (bytes + size > maxBytes) break;
    bytes += size;
    texts.push(text);
  }
  return { texts, bytes, isWhole: texts.length === items.length };
}

/** What a file holds; undefined for one that was written by another version, is damaged, or is none of ours. Never throws. */
export function decodeCatalogue(text: string): KeptCatalogue | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const { server, tools, complete, era, listedAt } = value;
  if (!isObject(server) || typeof server.name !== "string" || typeof server.version !== "string") return undefined;
  if (!Array.isArray(tools) || typeof complete !== "boolean" || !isTime(listedAt)) return undefined;
  if (!isObject(era) || (era.is !== "legacy" && era.is !== "modern") || !isTime(era.askedAt)) return undefined;
  const texts = SERVER_TEXTS.filter((name) => typeof server[name] === "string").map((name) => [name, server[name]]);
  const whole = tools.slice(0, MAX_TOOLS).filter((tool): tool is JsonObject => isObject(tool));
  const offers = offersOf(value);
  const lists = Object.keys(LIST_MEMBERS).flatMap((name) => {
    const list = listOf(value[name]);
    return list === undefined ? [] : [[name, list]];
  });
  return {
    server: { name: server.name, version: server.version, ...Object.fromEntries(texts) },
    tools: whole,
    complete: complete && whole.length === tools.length,
    era: { is: era.is, askedAt: era.askedAt },
    listedAt,
    ...(offers && { offers }),
    ...(lists.length > 0 && { lists: Object.fromEntries(lists) }),
  };
}

/** The same of the first line alone, or of a text that begins with it. */
export function decodeHead(text: string): KeptHead | undefined {
  const end = text.indexOf(`${HEAD_END}\n`);
  const value = end === -1 ? undefined : parsed(`${text.slice(0, end)}}`);
  if (value === undefined) return undefined;
  const offers = offersOf(value);
  const prompts = listOf(value.prompts);
  return { ...(offers && { offers }), ...(prompts && { prompts }) };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value.version === VERSION ? value : undefined;
  } catch {
    return undefined;
  }
}

function offersOf({ offers }: JsonObject): Offer[] | undefined {
  return Array.isArray(offers) ? OFFERS.filter((offer) => offers.includes(offer)) : undefined;
}

function listOf(value: unknown): KeptList | undefined {
  if (!isObject(value) || !Array.isArray(value.items)) return undefined;
  const items = value.items.slice(0, MAX_ITEMS).filter((item): item is JsonObject => isObject(item));
  return { items, complete: value.complete === true && items.length === value.items.length };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
