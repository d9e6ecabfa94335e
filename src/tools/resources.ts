import { visibleJson } from "../content/json.ts";
import { presentResult } from "../content/present.ts";
import { sanitizeText } from "../content/sanitize.ts";
import { messageOf } from "../error.ts";
import type { ContentBlock, JsonObject, ResourceContents } from "../protocol/types.ts";
import type { KnownOffers } from "../server/catalogue.ts";
import type { McpSession } from "../session/session.ts";
import { failureAnswer } from "./answer.ts";
import { ArgumentsError, wordOf } from "./arguments.ts";
import { offersResources } from "./offers-resources.ts";
import { scriptResult } from "./script-result.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";

/** What one page of a listing may take of a context, in characters: about 5,000 tokens. */
const PAGE_CHARS = 18_000;
/** Of a server's words about one resource. */
const WORDS_CHARS = 300;

/** What is listed of a resource or a template. */
interface Entry {
  readonly uri: string;
  readonly row: JsonObject;
}

type ListKind = "resources" | "resourceTemplates";

/** Runs `list_mcp_resources`. Never rejects: a failure is an answer with `isError`. */
export function runListResources(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  return runList(session, call, "resources");
}

/** Runs `list_mcp_resource_templates`, likewise. */
export function runListResourceTemplates(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  return runList(session, call, "resourceTemplates");
}

async function runList(session: McpSession, call: ToolCall, kind: ListKind): Promise<ToolAnswer> {
  const { server, cursor } = wordsOf(call.args);
  try {
    if (cursor !== "" && server === "") throw new ArgumentsError("`cursor` goes with the `server` it came from");
    const page =
      server === "" ? await listAll(session, kind, call) : await listOne(session, server, cursor, kind, call);
    const text = visibleJson(page);
    return {
      content: [{ type: "text", text }],
      isError: false,
      details: { server, isError: false },
      structured: scriptResult(page),
    };
  } catch (thrown) {
    return failureAnswer(thrown, { server });
  }
}

/** One page of one server, which is asked for it whether or not it is known to have any. */
async function listOne(session: McpSession, server: string, cursor: string, kind: ListKind, call: ToolCall) {
  const from = cursor === "" ? 0 : Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0) throw new ArgumentsError("`cursor` is not one of `nextCursor`");
  // A cursor counts in the list that it came from.
  const known = cursor === "" ? undefined : session.knownOffers(server);
  const entries = await entriesOf(session, server, kind, call, known);
  const { rows, next } = pageOf(entries, from, PAGE_CHARS);
  return { server, [kind]: rows, ...(next !== undefined && { nextCursor: String(next) }) };
}

/** The first page of every server that is known to have resources. What had no room is named, and how to go on. */
async function listAll(session: McpSession, kind: ListKind, call: ToolCall) {
  const names = session.servers.map(({ name }) => name);
  const asked = names.filter((name) => offersResources(session, name));
  const unknown = names.filter((name) => session.knownOffers(name) === undefined);
  const lists = await Promise.allSettled(asked.map((name) => entriesOf(session, name, kind, call)));
  const found: JsonObject[] = [];
  const more: JsonObject[] = [];
  const errors: JsonObject[] = [];
  for (const [at, list] of lists.entries()) {
    const server = asked[at] ?? "";
    if (list.status === "rejected") errors.push({ server, error: sanitizeText(messageOf(list.reason)) });
    else {
      const { rows, next } = pageOf(list.value, 0, PAGE_CHARS / asked.length);
      found.push(...rows.map((row) => ({ server, ...row })));
      if (next !== undefined) more.push({ server, nextCursor: String(next) });
    }
  }
  return {
    [kind]: found,
    ...(more.length > 0 && { more }),
    ...(errors.length > 0 && { errors }),
    ...(unknown.length > 0 && { notAsked: unknown }),
  };
}

async function entriesOf(
  session: McpSession,
  server: string,
  kind: ListKind,
  { signal }: ToolCall,
  known: KnownOffers | undefined = undefined,
): Promise<Entry[]> {
  const options = signal ? { signal } : {};
  if (kind === "resources") {
    const listed = known?.resources ?? (await session.listResources(server, options));
    return listed.map(({ uri, ...rest }) => ({ uri, row: { uri, ...words(rest) } })).filter(isForModels);
  }
  const listed = known?.resourceTemplates ?? (await session.listResourceTemplates(server, options));
  const entries = listed.map(({ uriTemplate, ...rest }) => ({
    uri: uriTemplate,
    row: { uriTemplate, ...words(rest) },
  }));
  return entries.filter(isForModels);
}

interface Words {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** Without what says the same twice. */
function words({ name, title, description, mimeType, size }: Words): JsonObject {
  return {
    name: short(name),
    ...(title !== undefined && title !== name && { title: short(title) }),
    ...(description !== undefined && description !== "" && { description: short(description) }),
    ...(mimeType !== undefined && { mimeType: short(mimeType) }),
    ...(size !== undefined && { size }),
  };
}

function short(text: string): string {
  const clean = sanitizeText(text);
  return clean.length <= WORDS_CHARS ? clean : `${clean.slice(0, WORDS_CHARS)}…`;
}

/** Screens for hosts that draw them (MCP Apps) are of no use to a model. */
function isForModels({ uri, row }: Entry): boolean {
  return !(uri.startsWith("ui://") || /;\s*profile\s*=\s*"?mcp-app"?/i.test(String(row.mimeType ?? "")));
}

/** The rows from one on that have room, at least one of them; `next` is the first that has none. */
function pageOf(entries: readonly Entry[], from: number, maxChars: number): { rows: JsonObject[]; next?: number } {
  const rows: JsonObject[] = [];
  let chars = 0;
  for (const [at, { row }] of entries.entries()) {
    if (at < from) continue;
    chars += JSON.stringify(row).length + 1;
    if (chars > maxChars && rows.length > 0) return { rows, next: at };
    rows.push(row);
  }
  return { rows };
}

/** Runs `read_mcp_resource`. Never rejects: a failure is an answer with `isError`. */
export async function runReadResource(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  const { server, uri } = wordsOf(call.args);
  const details = { server, uri };
  try {
    if (server === "" || uri === "") throw new ArgumentsError("read_mcp_resource needs `server` and `uri`");
    const { id, signal, onProgress } = call;
    const contents = await session.readResource(server, uri, {
      ...(id !== undefined && { callId: id }),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    });
    const { resultLimit } = session.config(server).policy;
    const result = { content: blocksOf(contents, uri), isError: false, raw: { contents } };
    const options = { tool: "resource", limit: resultLimit, spill: session.spill, showImages: true };
    const { blocks, truncated, files } = await presentResult(result, options);
    return {
      content: blocks,
      isError: false,
      details: { ...details, isError: false, truncated, files },
      structured: scriptResult({ server, uri, contents }),
    };
  } catch (thrown) {
    return failureAnswer(thrown, details);
  }
}

/** The parts of a resource as blocks: text alone is not named again, images are images. */
export function blocksOf(contents: readonly ResourceContents[], uri: string): ContentBlock[] {
  if (contents.length === 0) return [{ type: "text", text: `[resource ${uri} is empty]` }];
  const [only] = contents;
  if (contents.length === 1 && only?.text !== undefined && only.uri === uri) {
    return [{ type: "text", text: only.text === "" ? `[resource ${uri} is empty]` : only.text }];
  }
  return contents.map((part) => {
    const { mimeType = "", blob } = part;
    if (blob !== undefined && mimeType.startsWith("image/")) return { type: "image", data: blob, mimeType };
    return { type: "resource", ...part };
  });
}

function wordsOf(args: unknown): Record<"server" | "cursor" | "uri", string> {
  const { server, cursor, uri } = (typeof args === "object" && args !== null ? args : {}) as JsonObject;
  return { server: wordOf(server), cursor: wordOf(cursor), uri: wordOf(uri) };
}
