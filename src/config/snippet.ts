import { getNodeValue } from "jsonc-parser";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { ADDRESS_FIELDS, readForeignEntry } from "./foreign-entry.ts";
import { parseJson } from "./json-file.ts";
import type { ConfigProblem } from "./record.ts";
import type { Dialect } from "./spelling.ts";

/** One server of a pasted snippet, as an entry of an mcp.json. */
export interface SnippetServer {
  /** Absent for a bare entry. */
  readonly name: string | undefined;
  readonly entry: JsonObject;
  /** What a person has to know: fields that were left out, variables that must be set. */
  readonly remarks: readonly string[];
}

/** Nothing was recognised. `message` says what is wrong, without a value of the snippet. */
export class SnippetError extends Error {
  override readonly name = "SnippetError";
}

/** Keys under which programs keep their servers, and keys around those. */
const SERVER_KEYS = ["mcpServers", "mcp_servers", "servers", "context_servers", "mcp", "extensions"];

/**
 * The servers in a snippet as documentation has it: the settings of Claude, Cursor, Windsurf, Cline, Gemini, LM Studio and
 * others (`mcpServers`), VS Code (`servers`), Zed (`context_servers`), Codex in JSON (`mcp_servers`), OpenCode (`mcp`),
 * Goose (`extensions`); a map of names; one bare entry; any of these without the outer braces. Comments and trailing
 * commas are fine. Nothing is expanded: what names a variable elsewhere names it in our spelling. Throws SnippetError.
 */
export function readSnippet(text: string): SnippetServer[] {
  const root = parse(text);
  const servers = findServers(root);
  if (servers.length === 0) {
    throw new SnippetError(
      'the snippet has no server in it: an object with "mcpServers", or with a "command" or a "url"',
    );
  }
  return servers.map(({ name, fields }) => {
    const { entry, notes } = readForeignEntry(fields, ANY_PROGRAM);
    return { name, entry, remarks: notes.map(({ text: remark }) => remark) };
  });
}

/** A snippet does not say whose it is: what may be a variable is one. */
const ANY_PROGRAM: Dialect = {
  forms: ["env", "shell", "inner"],
  isStrict: false,
  editor: { platform: process.platform },
  inputs: new Map(),
  hasFiles: true,
};

function parse(text: string): JsonObject {
  const trimmed = text.trim().replace(/,$/, "");
  const problems: ConfigProblem[] = [];
  const whole = parseJson("the snippet", trimmed, problems);
  // Documentation often shows only `"name": { … }`.
  const document = whole?.root.type === "object" ? whole : (parseJson("the snippet", `{${trimmed}\n}`, []) ?? whole);
  const [problem] = problems;
  if (document === undefined && problem !== undefined) {
    const { line, column, message } = problem;
    throw new SnippetError(
      `the snippet is not JSON (line ${line}, column ${column}): ${message.replace(/^.*?: |\.$/g, "")}`,
    );
  }
  const value: unknown = document && getNodeValue(document.root);
  if (!isObject(value)) throw new SnippetError("the snippet must be a JSON object");
  return value;
}

interface Found {
  readonly name: string | undefined;
  readonly fields: JsonObject;
}

function findServers(value: JsonObject): Found[] {
  if (isEntry(value)) return [{ name: typeof value.name === "string" ? value.name : undefined, fields: value }];
  const key = SERVER_KEYS.find((each) => Object.hasOwn(value, each) && !isEntryLike(value[each]));
  const list = key === undefined ? value : value[key];
  if (Array.isArray(list)) {
    return list.filter(isObject).map((fields) => ({
      name: typeof fields.name === "string" ? fields.name : undefined,
      fields,
    }));
  }
  if (!isObject(list)) return [];
  if (key !== undefined && SERVER_KEYS.some((each) => Object.hasOwn(list, each) && !isEntryLike(list[each]))) {
    // VS Code's settings have `mcp.servers`.
    return findServers(list);
  }
  return Object.entries(list).flatMap(([name, fields]) =>
    isObject(fields) && (key !== undefined || isEntry(fields)) ? [{ name, fields }] : [],
  );
}

function isEntry(value: JsonObject): boolean {
  return ["command", "cmd", ...ADDRESS_FIELDS].some((field) => Object.hasOwn(value, field));
}

function isEntryLike(value: unknown): boolean {
  return isObject(value) && isEntry(value);
}
