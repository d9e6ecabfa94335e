import { describePlaces, displayServer, displayTarget, LAYER_NAMES } from "../config/display.ts";
import { formatProblem } from "../config/problems.ts";
import type { ServerConfig, UntrustedFile, UntrustedServer, UnusedEntry } from "../config/record.ts";
import { describeUnused } from "../config/unused.ts";
import { formatDuration } from "../content/duration.ts";
import { McpServerError, messageOf, withHeading } from "../error.ts";
import type { Surroundings } from "../server/open-transport.ts";
import type { CountedList } from "../server/server.ts";
import { TransportError } from "../transport/transport.ts";
import { type Check, type CheckId, check, type Diagnosis, listNames } from "./check.ts";
import { checkStart } from "./check-start.ts";
import type { McpSession } from "./session.ts";
import { findSuspicions } from "./suspicions.ts";

export interface DiagnoseOptions {
  readonly signal?: AbortSignal;
  /** For all that is asked of one server, milliseconds. */
  readonly limitMs?: number;
}

/** Servers that are looked at side by side: starting many at once would make each slower, and be the diagnosis itself. */
const AT_ONCE = 4;
const LIMIT_MS = 60_000;

/**
 * Looks at every entry of the configuration, or at those of one name, from its place in a file to what the server lists.
 * One promise for each, in order; none rejects. Servers are started, or used where they run already, and it is for the
 * session's owner to close it; what a project's files name and nobody has allowed is only listed. Throws McpServerError
 * `unknown-server` for a name that is nowhere.
 */
export function diagnose(
  session: McpSession,
  surroundings: Surroundings,
  name: string | undefined,
  { signal, limitMs = LIMIT_MS }: DiagnoseOptions = {},
): Promise<Diagnosis>[] {
  const isWanted = (entry: { readonly name: string }) => name === undefined || entry.name === name;
  const servers = session.servers.filter(isWanted);
  const unused = session.unused.filter(isWanted);
  const untrusted = session.untrusted.flatMap((file) =>
    file.servers.filter(isWanted).map((entry) => diagnoseUntrusted(file, entry)),
  );
  if (name !== undefined && servers.length + unused.length + untrusted.length === 0) session.config(name);
  const turn = turns(AT_ONCE);
  return [
    ...servers.map((config) =>
      turn(() => inTime(limitMs, signal, (limit) => diagnoseServer(session, surroundings, config, limit))),
    ),
    ...unused.map((entry) => Promise.resolve(diagnoseUnused(session, entry))),
    ...untrusted.map((each) => Promise.resolve(each)),
  ];
}

/** Stops what is asked of a server, by the caller or by the clock. */
interface Limit {
  readonly signal: AbortSignal;
  /** What an error means that comes of being stopped. */
  explain(error: unknown): McpServerError | undefined;
}

async function inTime<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (limit: Limit) => Promise<T>,
): Promise<T> {
  const clock = new AbortController();
  // Also holds this process, which must not end while somebody waits.
  const timer = setTimeout(() => clock.abort(), Math.min(limitMs, 0x7fffffff));
  try {
    return await work({
      signal: signal ? AbortSignal.any([signal, clock.signal]) : clock.signal,
      explain: (error) => {
        if (!(error instanceof McpServerError)) return undefined;
        if (error.category !== "cancelled" || signal?.aborted || !clock.signal.aborted) return error;
        const text = `MCP server \`${error.server}\`: it was not done after ${limitMs / 1000} s, the limit for one server here`;
        return new McpServerError(error.server, "timeout", text);
      },
    });
  } finally {
    clearTimeout(timer);
  }
}

async function diagnoseServer(
  session: McpSession,
  surroundings: Surroundings,
  config: ServerConfig,
  limit: Limit,
): Promise<Diagnosis> {
  const { name } = config;
  const before = [checkConfiguration(session, config), ...checkStart(config, surroundings)];
  const faulty = before.find(({ status }) => status === "failed");
  if (faulty !== undefined) {
    const skipped = check("connection", "skipped", `not tried, because of its ${faulty.id}`);
    const category = faulty.id === "variables" ? "other" : "connection";
    return { server: name, state: "used", checks: [...before, skipped], category };
  }
  const { checks, error } = await checkConnection(session, config, limit);
  return {
    server: name,
    state: "used",
    checks: [...before, ...checks],
    ...(error && { category: error.category }),
  };
}

function checkConfiguration(session: McpSession, config: ServerConfig): Check {
  const { file, line, column } = config.source;
  const layer = Object.values(config.fields).find((field) => field.file === file)?.layer;
  const place = `${file}:${line}:${column}${layer === undefined ? "" : `, ${LAYER_NAMES[layer]}`}`;
  const problems = session.problems.filter(({ server }) => server === config.name).map(formatProblem);
  const details = [...describePlaces(config.fields), ...problems];
  return check("configuration", problems.length === 0 ? "ok" : "warning", `${displayServer(config)} (${place})`, {
    details,
  });
}

/** From the connection to the lists. Ends with the first thing that fails, since all after it would fail with it. */
async function checkConnection(
  session: McpSession,
  config: ServerConfig,
  { signal, explain }: Limit,
): Promise<{ readonly checks: Check[]; readonly error?: McpServerError }> {
  const { name } = config;
  const checks: Check[] = [];
  let stage: CheckId = "connection";
  try {
    const wasReady = session.status(name).state === "ready";
    const connecting = stopwatch();
    const facts = await session.describe(name, { signal });
    checks.push(check("connection", "ok", wasReady ? "it was connected already" : `connected in ${connecting()}`));
    const eras = { legacy: "with a handshake", modern: "without a handshake" };
    const self = [facts.name, facts.version].filter((word) => word !== "").join(" ") || "it does not say what it is";
    const offers = facts.capabilities.length === 0 ? "nothing" : listNames(facts.capabilities);
    checks.push(check("protocol", "ok", `${facts.protocolVersion}, ${eras[facts.era]}; ${self}; it offers ${offers}`));

    stage = "tools";
    const listing = stopwatch();
    const tools = await session.listTools(name, { signal });
    const took = listing();
    const { notices } = session.status(name);
    const isOdd = notices.length > 0 || tools.length === 0;
    checks.push(check("tools", isOdd ? "warning" : "ok", `${tools.length}, listed in ${took}`, { details: notices }));
    checks.push(...checkDescriptions(session, config));
    for (const [id, lists] of OTHER_LISTS) {
      stage = id;
      if (facts.capabilities.includes(id)) checks.push(await countAll(session, config, id, lists, signal));
      else checks.push(check(id, "skipped", "it offers none"));
    }
    return { checks };
  } catch (thrown) {
    const error = explain(thrown) ?? new McpServerError(name, "other", messageOf(thrown));
    const details = error.diagnostics === "" ? [] : withHeading(error.diagnostics).split("\n");
    checks.push(check(stage, "failed", error.message, { details, hint: hintFor(error, config, stage) }));
    return { checks, error };
  }
}

/** Only where there is something to read: that nothing was found would be no proof of anything. */
function checkDescriptions(session: McpSession, { name, source }: ServerConfig): Check[] {
  const known = session.knownTools(name);
  const suspicions = known === undefined ? [] : findSuspicions(known);
  if (suspicions.length === 0) return [];
  const details = suspicions.slice(0, MAX_SUSPICIONS).map(({ tool, what, words }) => {
    const of = tool === undefined ? "its instructions" : tool;
    return `${of}: ${what}: ${JSON.stringify(words)}`;
  });
  const more = suspicions.length - details.length;
  const places = new Set(suspicions.map(({ tool }) => tool)).size;
  const text = `${places} of its descriptions ${places === 1 ? "has" : "have"} words as attacks on models have them; this is a hint and no proof`;
  const hint = `read what it says; "excludeTools" in ${source.file}:${source.line} leaves a tool out`;
  return [
    check("descriptions", "warning", text, {
      details: [...details, ...(more > 0 ? [`… and ${more} more`] : [])],
      hint,
    }),
  ];
}

/** More of them are no better reason to read on. */
const MAX_SUSPICIONS = 20;

const OTHER_LISTS: readonly (readonly ["resources" | "prompts", readonly CountedList[]])[] = [
  ["resources", ["resources", "resourceTemplates"]],
  ["prompts", ["prompts"]],
];

/** A list that the server refuses is no reason not to use it; that it cannot be asked any more is one, and is thrown. */
async function countAll(
  session: McpSession,
  { name }: ServerConfig,
  id: CheckId,
  lists: readonly CountedList[],
  signal: AbortSignal,
): Promise<Check> {
  const listing = stopwatch();
  const counts: string[] = [];
  for (const list of lists) {
    try {
      const count = await session.count(name, list, { signal });
      counts.push(list === "resourceTemplates" ? `${count} templates` : String(count));
    } catch (thrown) {
      if (!(thrown instanceof McpServerError && ["other", "validation", "unknown-tool"].includes(thrown.category))) {
        throw thrown;
      }
      // A server that has resources need not know of templates.
      if (list !== "resourceTemplates") return check(id, "warning", thrown.message);
    }
  }
  return check(id, "ok", `${counts.join(" and ")}, listed in ${listing()}`);
}

/** What the error's own sentence does not say. */
function hintFor(error: McpServerError, { target, policy }: ServerConfig, stage: CheckId): string | undefined {
  // A server that has answered is there; what is wrong with its answer the error says.
  if (stage !== "connection" || error.category !== "connection" || !(error.cause instanceof TransportError)) {
    return undefined;
  }
  if (target.kind !== "stdio") return "see whether the address answers from this computer, for example with curl";
  return policy.showTarget ? `run it in a terminal and see what it says: ${displayTarget(target)}` : undefined;
}

function diagnoseUnused({ problems }: McpSession, entry: UnusedEntry): Diagnosis {
  const { name, reason } = entry;
  const own = problems.filter(({ server }) => server === name).map(formatProblem);
  const isWrong = reason === "wrong";
  const details = isWrong && own.length > 1 ? own : [];
  const checks = [check("configuration", isWrong ? "failed" : "skipped", describeUnused(entry), { details })];
  return { server: name, state: reason, checks, category: "unknown-server" };
}

function diagnoseUntrusted({ state }: UntrustedFile, { name, source }: UntrustedServer): Diagnosis {
  const why = state === "denied" ? "a person has denied it" : "nobody has allowed it yet, so nothing of it was run";
  const hint = "`pi-mcp trust` (in pi: /mcp trust) shows what it would run, and asks";
  const text = `${source.file}:${source.line}, a file of this project: ${why}`;
  return { server: name, state, checks: [check("configuration", "skipped", text, { hint })], category: "denied" };
}

function stopwatch(): () => string {
  const since = performance.now();
  return () => formatDuration(performance.now() - since);
}

/** Lets so many run at a time, the others in their order as soon as one is done. */
function turns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
