import { getNodeValue } from "jsonc-parser";
import type { JsonObject } from "../protocol/types.ts";
import { FIELDS } from "./fields.ts";
import { isObject } from "./is-object.ts";
import { parseJson } from "./json-file.ts";
import type { ConfigProblem } from "./record.ts";

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
  return servers.map(({ name, fields }) => ({ name, ...normalise(fields) }));
}

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

const ADDRESS_FIELDS = ["url", "serverUrl", "httpUrl", "uri"] as const;

function isEntry(value: JsonObject): boolean {
  return ["command", "cmd", ...ADDRESS_FIELDS].some((field) => Object.hasOwn(value, field));
}

function isEntryLike(value: unknown): boolean {
  return isObject(value) && isEntry(value);
}

/** Milliseconds elsewhere; nobody waits for a call for more than a quarter of an hour without meaning to. */
const MIN_TIMEOUT_MS = 1000;

/** An entry in our words, from whatever words it has. What is of the wrong kind is left for the reader to report. */
function normalise(fields: JsonObject): Pick<SnippetServer, "entry" | "remarks"> {
  const remarks: string[] = [];
  const { name: _, ...rest } = fields;
  const own = new Map<string, unknown>(Object.entries(rest));
  const take = (field: string): unknown => {
    const value = own.get(field);
    own.delete(field);
    return value;
  };
  const entry: Record<string, unknown> = {};
  const set = (field: string, value: unknown) => {
    if (value !== undefined && value !== null && !Object.hasOwn(entry, field)) entry[field] = value;
  };

  const transport = [take("type"), take("transport"), take("transportType")].find((each) => each !== undefined);
  const command = take("command");
  if (isObject(command)) {
    // Zed, before it had the fields beside each other.
    set("command", command.path);
    set("args", command.args);
    set("env", command.env);
  } else if (Array.isArray(command)) {
    set("command", command[0]);
    if (command.length > 1) set("args", command.slice(1));
  } else set("command", command);
  set("command", take("cmd"));
  const args = take("args");
  if (!(Array.isArray(args) && args.length === 0)) set("args", args);
  for (const field of ["env", "environment", "envs"]) setMap("env", take(field));
  const address = ADDRESS_FIELDS.map((field) => [field, take(field)] as const).find(([, value]) => value !== undefined);
  set("url", address?.[1]);
  for (const field of ["headers", "http_headers"]) setMap("headers", take(field));
  setMap("headers", variables(take("env_http_headers"), ""));
  const bearer = take("bearer_token_env_var") ?? take("bearerTokenEnv");
  if (typeof bearer === "string") setMap("headers", { Authorization: `Bearer \${${bearer}}` });

  const type = typeof transport === "string" ? transport.toLowerCase().replace(/[-_]/g, "") : transport;
  // A `command` or a `url` says it already; only the older transport has to be named.
  const isPlain = ["stdio", "local", "http", "remote", "streamablehttp"].includes(String(type));
  if (transport !== undefined && !isPlain) set("type", type === "sse" ? "sse" : transport);

  if (take("enabled") === false || own.get("disabled") === true) set("disabled", true);
  own.delete("disabled");
  const timeout = take("timeout");
  if (typeof timeout === "number" && timeout >= MIN_TIMEOUT_MS) set("requestTimeoutMs", timeout);
  else set("timeout", timeout);

  for (const [field, value] of own) if (FIELDS.has(field)) set(field, value);
  const left = [...own.keys()].filter((field) => !FIELDS.has(field) && field !== "source");
  if (left.length > 0) remarks.push(`left out, since it means nothing here: ${left.join(", ")}`);
  return { entry: respell(entry, remarks) as JsonObject, remarks: [...new Set(remarks)] };

  /** A map is added to one that is there, so that `env` and `envs` may both be given. */
  function setMap(field: string, value: unknown): void {
    const before = entry[field];
    if (isObject(value) && (before === undefined || isObject(before))) {
      const merged = { ...value, ...before };
      if (Object.keys(merged).length > 0) entry[field] = merged;
    } else set(field, value);
  }
}

/** Codex' map of headers to the variables they come from. */
function variables(map: unknown, before: string): unknown {
  if (!isObject(map)) return map;
  return Object.fromEntries(
    Object.entries(map).map(([key, name]) => [key, typeof name === "string" ? `${before}\${${name}}` : (name ?? null)]),
  );
}

/** Variables as we write them, in every text of an entry. */
function respell(value: unknown, remarks: string[]): unknown {
  if (typeof value === "string") return respellText(value, remarks);
  if (Array.isArray(value)) return value.map((item) => respell(item, remarks));
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, respell(each, remarks)]));
}

function respellText(text: string, remarks: string[]): string {
  return text
    .replace(
      /\$\{env:([A-Za-z_]\w*)\}|(?<![$\w])\{env:([A-Za-z_]\w*)\}|\$env:([A-Za-z_]\w*)/g,
      (_, a, b, c) => `\${${a ?? b ?? c}}`,
    )
    .replaceAll("${userHome}", "${HOME}")
    .replace(/\$\{input:([^}]+)\}/g, (_, id: string) => {
      const name = id
        .toUpperCase()
        .replace(/[^A-Z0-9_]/g, "_")
        .replace(/^(?=\d)/, "_");
      remarks.push(`asks for a value: set the environment variable ${name}`);
      return `\${${name}}`;
    })
    .replace(/\$\{(?:workspaceFolder|workspaceRoot|fileDirname|pathSeparator)[^}]*\}/g, (written) => {
      remarks.push(`${written} is not known here; write a path in its place`);
      return written;
    });
}
