import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readAcpServers } from "../../src/config/acp.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { LoadedConfig, ServerConfig } from "../../src/config/record.ts";
import { McpServerError } from "../../src/error.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import type { Home } from "../ground/home.ts";
import { chance } from "./fate.ts";
import { type ChaosHttp, chaosHttp } from "./http-server.ts";
import { runsIn } from "./ledger.ts";
import { TOOLS, type ToolName } from "./mcp.ts";

const STDIO_SERVER = fileURLToPath(new URL("stdio-server.ts", import.meta.url));

/** Of one call; a call that takes longer on a busy machine ends in time, which is an end like any other. */
const CALL_LIMIT_MS = 300;
const START_LIMIT_MS = 5_000;
/** All tries of a call with their starts and pauses: more than that is a call that does not end. */
const WHOLE_LIMIT_MS = 4 * (CALL_LIMIT_MS + START_LIMIT_MS);
/** How long an HTTP server refuses connections, now and then. */
const REFUSED_MS = 30;
const CALLS_BETWEEN_REFUSALS = 150;
/** How often the person meddles: changes an entry, connects a server anew, or takes one away for a moment. */
const CALLS_BETWEEN_MEDDLING = 12;

export interface ChaosOptions {
  readonly seed: string;
  readonly calls: number;
  readonly callers: number;
  /** Whether servers are also changed, removed and connected anew while calls are under way. */
  readonly meddles?: boolean;
  /** Told when half of the calls are done. */
  onHalf?(): void;
}

export interface ChaosReport {
  /** Calls by how they ended: `result`, `failed result`, or the category of the error. */
  readonly ends: ReadonlyMap<string, number>;
  /** Calls that were run more than once, by what allowed it. */
  readonly repeated: ReadonlyMap<string, number>;
  /** What must not be, a sentence each. */
  readonly violations: readonly string[];
}

interface Kind {
  readonly name: string;
  /** By default how a call that may have run is treated; see `replay` in the configuration. */
  readonly replay: "transport" | "transient" | "declared" | "never";
  readonly isHttp: boolean;
  readonly ledger: string;
}

/** Calls from many callers over servers of every origin that do all that servers do wrong, as the seed has it. */
export async function chaos(
  home: Home,
  { seed, calls, callers, meddles = false, onHalf }: ChaosOptions,
): Promise<ChaosReport> {
  const { kinds, config, https } = await servers(home, seed);
  const session = createSession(config, { env: home.env(), cwd: home.cwd });
  const ends = new Map<string, number>();
  const violations: string[] = [];
  const made: { call: string; kind: Kind; tool: ToolName; gotResult: boolean }[] = [];
  let begun = 0;
  let refusing: Promise<void> = Promise.resolve();
  const meddling = new Set<Promise<unknown>>();
  let changed = config;

  /** Nothing of this is waited for: the calls go on. */
  const meddle = (number: number): void => {
    const { name } = choose(kinds, `${seed} meddle ${number}`);
    const what = choose(["change", "change", "reconnect", "remove"] as const, `${seed} what ${number}`);
    const others = changed.servers.filter((server) => server.name !== name);
    const own = config.servers.filter((server) => server.name === name);
    const again = own.map((server) => withMark(server, number));
    const work: Promise<unknown>[] = [];
    if (what === "reconnect") work.push(session.reconnect(name).catch(() => {}));
    else {
      if (what === "remove") work.push(session.update({ ...changed, servers: others }));
      changed = { ...changed, servers: [...others, ...again] };
      work.push(session.update(changed));
    }
    const all: Promise<unknown> = Promise.all(work).then(() => meddling.delete(all));
    meddling.add(all);
  };

  const oneCall = async (number: number): Promise<void> => {
    const call = `c${number}`;
    const kind = choose(kinds, `${seed} kind ${call}`);
    const tool = choose(Object.keys(TOOLS) as ToolName[], `${seed} tool ${call}`);
    const since = performance.now();
    const end = await endOf(session, kind.name, tool, call, violations);
    const took = performance.now() - since;
    if (took > WHOLE_LIMIT_MS) violations.push(`${call} to ${kind.name} took ${Math.round(took)} ms`);
    ends.set(end, (ends.get(end) ?? 0) + 1);
    made.push({ call, kind, tool, gotResult: end === "result" });
  };
  const caller = async (): Promise<void> => {
    while (begun < calls) {
      const number = begun++;
      if (number === Math.floor(calls / 2)) onHalf?.();
      if (number % CALLS_BETWEEN_REFUSALS === CALLS_BETWEEN_REFUSALS - 1) {
        const server = choose(https, `${seed} refuse ${number}`);
        refusing = refusing.then(() => server.refuse(REFUSED_MS));
      }
      if (meddles && number % CALLS_BETWEEN_MEDDLING === 0) meddle(number);
      await oneCall(number);
    }
  };
  // Real lists first: what a tool declares is known from them.
  await Promise.all(kinds.map(({ name }) => session.listTools(name).catch(() => {})));
  await Promise.all(Array.from({ length: callers }, caller));
  await refusing;
  await session.close();
  await Promise.all(meddling);
  await Promise.all(https.map((server) => server.close()));

  const repeated = new Map<string, number>();
  const runs = new Map(kinds.map((kind) => [kind, runsIn(kind.ledger)]));
  for (const { call, kind, tool, gotResult } of made) {
    const times = runs.get(kind)?.get(call) ?? 0;
    if (gotResult && times === 0) violations.push(`${call} to ${kind.name} has a result and was never run`);
    if (times < 2) continue;
    const why = reasonToRepeat(kind, tool);
    if (why === undefined) violations.push(`${call}, ${tool} of ${kind.name}, was run ${times} times`);
    else repeated.set(why, (repeated.get(why) ?? 0) + 1);
  }
  if (made.length !== calls) violations.push(`${made.length} of ${calls} calls ended`);
  return { ends, repeated, violations };
}

/** The same server by another entry. */
function withMark(server: ServerConfig, mark: number): ServerConfig {
  const { resultLimit } = server.policy;
  return { ...server, policy: { ...server.policy, resultLimit: { ...resultLimit, maxLines: 2_000 + mark } } };
}

async function endOf(
  session: McpSession,
  server: string,
  tool: string,
  call: string,
  violations: string[],
): Promise<string> {
  try {
    const result = await session.callTool(server, tool, { call }, { timeoutMs: CALL_LIMIT_MS });
    const [block] = result.content;
    const text = block?.type === "text" ? block.text : "";
    if (text.split(" ")[0] !== call)
      violations.push(`${call} to ${server} got the answer of another: ${text.slice(0, 80)}`);
    return result.isError ? "failed result" : "result";
  } catch (error) {
    if (!(error instanceof McpServerError)) {
      violations.push(`${call} to ${server} ended with ${String(error)}`);
      return "odd";
    }
    // What a person does who wants to go on.
    if (error.message.includes("left alone")) await session.reconnect(server).catch(() => {});
    return error.category;
  }
}

/** What allows a call of the tool to be run more than once. */
function reasonToRepeat({ replay, isHttp }: Kind, tool: ToolName): string | undefined {
  if (replay === "never" || tool === "destructive") return undefined;
  if (tool !== "undeclared") return `declared ${tool}`;
  if (replay === "transport") return "replay: transport";
  return replay === "transient" && isHttp ? "replay: transient" : undefined;
}

async function servers(home: Home, seed: string) {
  const kinds: Kind[] = [];
  const https: ChaosHttp[] = [];
  const settings: object[] = [];
  const mcp: Record<string, object> = {};
  const acp: object[] = [];
  const env = { PATH: process.env.PATH ?? "" };
  for (const [origin, replay] of [
    ["settings", "transport"],
    ["mcpjson", "transient"],
    ["acp", "declared"],
    ["never", "never"],
  ] as const) {
    for (const isHttp of [false, true]) {
      const name = `${origin}-${isHttp ? "http" : "stdio"}`;
      const ledger = home.path(`${name}.ledger`);
      writeFileSync(ledger, "");
      kinds.push({ name, replay, isHttp, ledger });
      const own = `${seed} ${name}`;
      const args = [STDIO_SERVER, own, ledger, String(CALL_LIMIT_MS)];
      const http = isHttp ? await chaosHttp(own, ledger, CALL_LIMIT_MS) : undefined;
      if (http) https.push(http);
      const target = http ? { type: "http", url: http.url } : { command: process.execPath, args };
      if (origin === "settings") settings.push({ name, ...target });
      else if (origin === "acp")
        acp.push({
          name,
          ...target,
          ...(!http && { env: Object.entries(env).map(([key, value]) => ({ name: key, value })) }),
        });
      else mcp[name] = { ...target, ...(origin === "never" && { replay: "never" }) };
    }
  }
  home.write({ settings: { mcpServers: settings }, mcp: { mcpServers: mcp } });
  const own = loadConfig({ env: home.env(), home: home.home });
  const handed = readAcpServers(acp);
  const quick = (server: ServerConfig): ServerConfig => ({
    ...server,
    policy: { ...server.policy, startTimeoutMs: START_LIMIT_MS },
  });
  const problems = [...own.problems, ...handed.problems].filter(({ severity }) => severity === "error");
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"));
  const config: LoadedConfig = { servers: [...own.servers, ...handed.servers].map(quick), problems: [] };
  return { kinds, config, https };
}

function choose<T>(all: readonly T[], text: string): T {
  return all[Math.floor(chance(text) * all.length)] as T;
}
