import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";
import { type Dialect, type Note, spell } from "./spelling.ts";
import { isVariableName } from "./variables.ts";

/** In what a program counts `timeout`; `either`: a number that is too large for seconds is milliseconds. */
export type TimeoutUnit = "ms" | "s" | "either";

export interface ForeignEntry {
  /** As an mcp.json has it. */
  readonly entry: JsonObject;
  readonly notes: readonly Note[];
}

/** Fields of an address, the one that counts first. */
export const ADDRESS_FIELDS = ["httpUrl", "url", "serverUrl", "baseUrl", "uri"] as const;

/** Nobody waits for a call for more than a quarter of an hour without meaning to. */
const MIN_TIMEOUT_MS = 1000;

/** As much as `timeout` takes in an mcp.json. */
const MAX_TIMEOUT_S = 3600;

/** Fields that are there under other names, beside those that every reader knows. */
const RENAMED: Readonly<Record<string, string>> = {
  enabled_tools: "includeTools",
  allowed_tools: "allowedTools",
  disabled_tools: "excludeTools",
  disabledTools: "excludeTools",
  blockedTools: "excludeTools",
  blocked_tools: "excludeTools",
};

/** Of no meaning to anybody but the program that wrote them, or true here anyway (Codex: variables to pass on). */
const SILENT: ReadonlySet<string> = new Set(["source", "bundled", "display_name", "alwaysLoad", "env_vars", "gallery"]);

/** An entry in our words, from whatever words it has. What is of the wrong kind is left for the reader to report. */
export function readForeignEntry(fields: JsonObject, dialect: Dialect, unit: TimeoutUnit = "either"): ForeignEntry {
  const notes: Note[] = [];
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
  set("cwd", take("cwd"));
  const address = ADDRESS_FIELDS.map((field) => take(field)).find((value) => value !== undefined && value !== null);
  set("url", address);
  for (const field of ["headers", "http_headers"]) setMap("headers", take(field));
  set("bearerToken", take("bearerToken") ?? take("bearer_token"));
  const spelling = spellingFor(entry.cwd, dialect);
  for (const field of TARGET_FIELDS) {
    if (Object.hasOwn(entry, field)) entry[field] = respell(entry[field], spelling, notes, VALUE_FIELDS.has(field));
  }
  // The folder that is open is where a server runs anyway.
  if (entry.cwd === ".") delete entry.cwd;

  // From here on in our spelling.
  setMap("headers", variables(take("env_http_headers")));
  const bearer = take("bearer_token_env_var") ?? take("bearerTokenEnv");
  if (typeof bearer === "string") setMap("headers", { Authorization: `Bearer \${${bearer}}` });
  setMap("env", fromKeys(take("env_keys"), notes));

  const type = typeof transport === "string" ? transport.toLowerCase().replace(/[-_]/g, "") : transport;
  // A `command` or a `url` says it already; only the older transport has to be named.
  const isPlain = ["stdio", "local", "http", "remote", "streamablehttp"].includes(String(type));
  if (transport !== undefined && !isPlain) set("type", type === "sse" ? "sse" : transport);

  if (take("enabled") === false || own.get("disabled") === true) set("disabled", true);
  own.delete("disabled");
  const timeout = take("timeout");
  if (typeof timeout !== "number") set("timeout", timeout);
  else if (unit === "ms" || (unit === "either" && timeout >= MIN_TIMEOUT_MS)) set("requestTimeoutMs", timeout);
  else set(timeout > MAX_TIMEOUT_S ? "tool_timeout_sec" : "timeout", timeout);
  const startup = take("startup_timeout_ms");
  if (typeof startup === "number") own.set("startup_timeout_sec", own.get("startup_timeout_sec") ?? startup / 1000);
  const available = take("available_tools");
  if (Array.isArray(available) && available.length > 0) set("includeTools", available);
  for (const [field, usual] of Object.entries(RENAMED)) set(usual, take(field));
  if (take("sandboxEnabled") === true) {
    notes.push({ text: "runs in a sandbox there, and there is none here", blocks: true });
    own.delete("sandbox");
  }

  for (const [field, value] of own) if (isOurs(field)) set(field, value);
  noteLeft([...own.keys()].filter((field) => !isOurs(field) && !SILENT.has(field)));
  return { entry: entry as JsonObject, notes: unique(notes) };

  /** A map is added to one that is there, so that `env` and `envs` may both be given. */
  function setMap(field: string, value: unknown): void {
    const before = entry[field];
    if (isObject(value) && (before === undefined || isObject(before))) {
      const merged = { ...value, ...before };
      if (Object.keys(merged).length > 0) entry[field] = merged;
    } else set(field, value);
  }

  /** First, so that what is missing is read before what is to be done. */
  function noteLeft(left: readonly string[]): void {
    const told: Note[] = [];
    const others: string[] = [];
    for (const field of left) {
      const known = KNOWN_FIELDS.get(field);
      if (known?.use === "foreign" && known.instead !== undefined) {
        told.push({ text: `"${field}" is left out; ${known.instead}`, blocks: false });
      } else others.push(field);
    }
    if (others.length > 0) {
      told.unshift({ text: `left out, since it means nothing here: ${others.join(", ")}`, blocks: false });
    }
    notes.unshift(...told);
  }
}

/** Where variables are filled in when a server starts. */
const TARGET_FIELDS = ["command", "args", "env", "cwd", "url", "headers", "bearerToken"];

/** Where a `!` at the start means a command. */
const VALUE_FIELDS: ReadonlySet<string> = new Set(["env", "headers", "bearerToken"]);

/** Where a server has a folder of its own, what is relative to the open one cannot be written relative to it. */
function spellingFor(cwd: unknown, dialect: Dialect): Dialect {
  if (dialect.editor === undefined || typeof cwd !== "string" || /^\$\{workspace(?:Folder|Root)\}$/.test(cwd)) {
    return dialect;
  }
  return { ...dialect, editor: { ...dialect.editor, isElsewhere: true } };
}

/** Codex' map of headers to the variables they come from. */
function variables(map: unknown): unknown {
  if (!isObject(map)) return map;
  return Object.fromEntries(
    Object.entries(map).map(([key, name]) => [key, typeof name === "string" ? `\${${name}}` : (name ?? null)]),
  );
}

/** Goose keeps the values of these in its own store. */
function fromKeys(keys: unknown, notes: Note[]): unknown {
  const names = Array.isArray(keys) ? keys.filter((key) => typeof key === "string" && isVariableName(key)) : [];
  if (names.length === 0) return undefined;
  notes.push({ text: `takes from the environment: ${names.join(", ")}`, blocks: false });
  return Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
}

/** Variables as we write them, in every text of a field. */
function respell(value: unknown, dialect: Dialect, notes: Note[], isValue: boolean): unknown {
  if (typeof value === "string") {
    const spelled = spell(value, dialect, notes);
    return isValue && dialect.isStrict && spelled.startsWith("!") ? `$${spelled}` : spelled;
  }
  if (Array.isArray(value)) return value.map((item) => respell(item, dialect, notes, isValue));
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, respell(each, dialect, notes, isValue)]));
}

/** Whether a field means something here, if only to pi's other clients. */
function isOurs(field: string): boolean {
  const use = KNOWN_FIELDS.get(field)?.use;
  return use === "acts" || use === "tolerated";
}

function unique(notes: readonly Note[]): Note[] {
  return [...new Map(notes.map((note) => [note.text, note])).values()];
}
