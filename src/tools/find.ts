import { toolSignature } from "../catalog/signature.ts";
import { listSome } from "../config/list-some.ts";
import type { ResultLimit } from "../config/record.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { visibleJson } from "../content/json.ts";
import { cutText } from "../content/limit.ts";
import { sanitizeLine, sanitizeProse } from "../content/sanitize.ts";
import type { JsonObject, ToolAnnotations, ToolDefinition } from "../protocol/types.ts";
import type { SearchAnswer } from "../session/search.ts";
import type { McpSession } from "../session/session.ts";
import { ArgumentsError, wordOf } from "./arguments.ts";

/** Candidates of a search: of the right tool's places nearly all are among the first five. */
const FOUND = 5;
const MAX_FOUND = 20;
const QUERY_CHARS = 100;
/** Of a signature with its server; `toolSignature` keeps below it by itself. */
const LINE_CHARS = 700;
const MAX_NAMES = 20;
const NAMES_CHARS = 2_000;

/** In the words of the door: what to do with what was found, and with servers whose tools are not known. */
interface Hints {
  readonly next: string;
  readonly list: string;
}

/** A search as a model asks for it: `query`, and if it likes `server` and `limit`. Starts nothing. */
export function searchTools(session: McpSession, args: Readonly<Record<string, unknown>>, hints: Hints): string {
  const [query, server] = [wordOf(args.query), wordOf(args.server)];
  if (query === "") throw new ArgumentsError("mcp search requires a `query`: what the tool should do");
  const limit = readLimit(args.limit);
  return describeSearch(query, session.search(query, { limit, ...(server !== "" && { server }) }), hints);
}

/** Models write numbers as text now and then; what is none counts as absent. */
function readLimit(value: unknown): number {
  const limit = typeof value === "string" ? Number(value) : value;
  return typeof limit === "number" && limit >= 1 ? Math.min(Math.floor(limit), MAX_FOUND) : FOUND;
}

/** What a search has found, a line each: the server, and the tool as it is called. */
export function describeSearch(query: string, { found, total, unlisted }: SearchAnswer, hints: Hints): string {
  const asked = JSON.stringify(sanitizeLine(query, QUERY_CHARS));
  const isMatch = found.some(({ score }) => score > 0);
  const lines = found.map(({ server, tool }) => sanitizeLine(`- ${server}: ${toolSignature(tool)}`, LINE_CHARS));
  const head =
    total === 0
      ? `No tools are known to search for ${asked}.`
      : isMatch
        ? `Tools for ${asked} (${found.length} of ${total}), best first, as \`server: tool(arguments)\`:`
        : `Nothing matches ${asked}. These exist (${found.length} of ${total}):`;
  const rest =
    unlisted.length === 0
      ? []
      : [
          `[Not searched, since their tools are not known yet: ${sanitizeLine(listSome(unlisted, MAX_NAMES), NAMES_CHARS)}; ${hints.list}]`,
        ];
  return [head, ...lines, ...(found.length > 0 ? [hints.next] : []), ...rest].join("\n");
}

/** All a server says of a tool, within a limit: what it is for, and the schema of its arguments and of its result. */
export function describeWhole(server: string, tool: ToolDefinition, limit: ResultLimit): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const parts = [
    `MCP server \`${server}\` tool \`${sanitizeLine(name, 200)}\`${title ? ` (${sanitizeLine(title, 200)})` : ""}:`,
    ...(description ? [sanitizeProse(description).trim()] : []),
    ...hintsOf(annotations),
    `Arguments: ${schemaText(inputSchema)}`,
    ...(outputSchema ? [`Structured result: ${schemaText(outputSchema)}`] : []),
  ];
  const text = parts.join("\n");
  const cut = cutText(text, limit);
  return cut === undefined
    ? text
    : `${text.slice(0, cut.headEnd)}\n${cut.gap}\n${text.slice(cut.tailStart)}\n[${cut.omittedBytes} of ${cut.totalBytes} bytes left out]`;
}

/** The server's word, which nobody has checked. */
function hintsOf(annotations: ToolAnnotations): string[] {
  const hints = [
    ...(annotations.readOnlyHint ? ["changes nothing"] : []),
    ...(annotations.destructiveHint ? ["may destroy something"] : []),
    ...(annotations.idempotentHint ? ["may be repeated"] : []),
  ];
  return hints.length === 0 ? [] : [`The server says: ${hints.join(", ")}.`];
}

function schemaText(schema: JsonObject): string {
  return visibleJson(cleanSchema(schema));
}
