import { isObject } from "../is-object.ts";
import { handedPolicy, LIMIT_VARIABLES } from "./environment-limits.ts";
import { usualExposure } from "./exposure.ts";
import { quote, quoteWord } from "./problems.ts";
import type {
  ConfigProblem,
  FieldSource,
  FilePosition,
  LoadedConfig,
  ServerConfig,
  ServerTarget,
  Surface,
} from "./record.ts";
import { transportOf } from "./target.ts";

/** Stands where other servers have a file: the entry's number is the line. */
const EDITOR = { file: "the editor's MCP servers", layer: "editor" } as const;

export interface AcpOptions {
  /** Where the limits of these servers may be set (`environment-limits.ts`). */
  readonly env?: NodeJS.ProcessEnv;
  /** Where the list was found. */
  readonly source?: Pick<FieldSource, "file" | "layer">;
  /** Names that are taken already. */
  readonly taken?: readonly string[];
  /** What the person has set for all servers. */
  readonly surface?: Surface;
}

/**
 * The servers an ACP client hands over in `session/new`, `load` or `resume` (ACP v1, McpServer). A bad entry is reported
 * and costs only itself; nothing is expanded in values [S2-49]. Names may repeat: later ones get a number.
 */
export function readAcpServers(
  list: unknown,
  { env = {}, source: { file, layer } = EDITOR, taken = [], surface }: AcpOptions = {},
): LoadedConfig {
  const problems: ConfigProblem[] = [];
  const servers: ServerConfig[] = [];
  const names = new Set(taken);
  if (!Array.isArray(list)) {
    return { servers, problems: [problem({ file, line: 1, column: 1 }, "This must be a list of servers.")] };
  }
  const { policy: usual, fields: limits } = handedPolicy(env, problems);
  const policy = { ...usual, surface: surface ?? usual.surface };
  for (const [index, entry] of list.entries()) {
    const source = { file, line: index + 1, column: 1 };
    const fields = isObject(entry) ? entry : {};
    if (fields.disabled === true || fields.enabled === false) continue;
    const label = typeof fields.name === "string" ? fields.name.trim() : "";
    const target = readTarget(fields);
    if (typeof target === "string") {
      problems.push(problem(source, `Server ${quote(label || "(unnamed)")}: ${target}`, label));
      continue;
    }
    const name = free(label || "unnamed", names);
    names.add(name);
    const written = Object.keys(fields).map((field): [string, FieldSource] => [field, { layer, ...source }]);
    servers.push({
      name,
      origin: "acp",
      source,
      target,
      policy,
      exposure: usualExposure(policy.surface),
      limitFields: { start: LIMIT_VARIABLES.start, call: LIMIT_VARIABLES.call },
      fields: { ...Object.fromEntries(written), ...limits },
    });
  }
  return { servers, problems };
}

/**
 * How to reach the server, or the sentence that says why that cannot be told. ACP names the transport of all but stdio;
 * where editors write servers themselves, an address alone says it, and Zed once had the program and its arguments in an
 * object.
 */
function readTarget(fields: Record<string, unknown>): ServerTarget | string {
  const { type, command, args, env, cwd, url, headers } = isObject(fields.command)
    ? { ...fields, ...fields.command, command: fields.command.path }
    : fields;
  const kind = type === undefined ? (command === undefined && url !== undefined ? "http" : "stdio") : transportOf(type);
  if (kind === "stdio") {
    if (typeof command !== "string" || command === "") return 'it has no "command".';
    const list = args ?? [];
    if (!Array.isArray(list) || !list.every((arg) => typeof arg === "string"))
      return '"args" must be an array of strings.';
    const variables = readPairs(env);
    if (!variables) return '"env" must be a list of names and values.';
    return { kind: "stdio", command, args: list, env: variables, ...(typeof cwd === "string" && { cwd }) };
  }
  if (kind === undefined) return `the transport ${quoteWord(String(type))} is not known; use "stdio", "http" or "sse".`;
  if (typeof url !== "string" || !URL.canParse(url))
    return '"url" must be a complete address, such as "https://example.com/mcp".';
  const pairs = readPairs(headers);
  return pairs ? { kind, url, headers: pairs } : '"headers" must be a list of names and values.';
}

/** `[{name, value}]`, as ACP has it, or an object, as everybody else has it [E245]. */
function readPairs(value: unknown): Record<string, string> | undefined {
  if (value === undefined || value === null) return {};
  const entries = Array.isArray(value)
    ? value.map((item) => (isObject(item) ? [item.name, item.value] : []))
    : isObject(value)
      ? Object.entries(value)
      : undefined;
  if (!entries?.every(([name, text]) => typeof name === "string" && typeof text === "string")) return undefined;
  return Object.fromEntries(entries) as Record<string, string>;
}

function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}_${number}`)) number++;
  return `${name}_${number}`;
}

function problem(source: FilePosition, message: string, server?: string): ConfigProblem {
  return { ...source, severity: "error", message, ...(server && { server }) };
}
