import { ToolNames } from "../../catalog/names.ts";
import { type ConfigChanges, changesBetween, describeChanges } from "../../config/changes.ts";
import { waitingNotice } from "../../config/consent.ts";
import { firstTurnWaitMs } from "../../config/environment-limits.ts";
import { exposureOf, possibleExposures } from "../../config/exposure.ts";
import { FileMemory } from "../../config/file-memory.ts";
import type { ConfigFlags } from "../../config/flags.ts";
import { startsWithSession } from "../../config/lifecycle.ts";
import { loadConfig } from "../../config/load.ts";
import { formatProblem, visible } from "../../config/problems.ts";
import type { ConfigProblem, LoadedConfig, UntrustedFile } from "../../config/record.ts";
import type { RegisteredServer } from "../../config/registered.ts";
import { userEnvironment } from "../../config/user.ts";
import type { ConfigWatch } from "../../config/watch.ts";
import { describeError } from "../../error.ts";
import type { ToolDefinition } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import { type PiApi, type PiContext, type PiToolResultEvent, tellsMcpServers } from "./api.ts";
import { PiOffers } from "./offers.ts";
import { PiTools } from "./pi-tools.ts";
import { askToSignIn } from "./sign-in.ts";
import { declareSurfaceTools } from "./surface-tools.ts";
import { tell } from "./tell.ts";

export { tell };

/** The start belongs to the host: the watch of the configuration begins after it, and misses nothing by that. */
const WATCH_AFTER_MS = 1_000;

type Engine = typeof import("./engine.ts");

interface Running {
  config: LoadedConfig;
  /** Of the files the configuration was read from. */
  readonly memory: FileMemory;
  /** Taken from the host's context when the session began: later the context may be another session's, and throw. */
  readonly cwd: string;
  readonly ctx: PiContext;
  readonly hasUI: boolean;
  /** The engine, loaded with the first use of a server, and the session made with it. */
  ready?: Promise<[Engine, McpSession]>;
  /** Settles when every server with direct tools is connected or has failed, or the first turn has waited enough. */
  firstTurn?: Promise<unknown>;
  /** The names of the tools of servers with direct tools. */
  readonly direct: Map<string, ReadonlySet<string>>;
  watchTimer?: NodeJS.Timeout;
  watch?: ConfigWatch;
}

/** One pi session's MCP side: from `session_start` to `session_shutdown`. */
export class PiHost {
  readonly #pi: PiApi;
  readonly #flags: ConfigFlags | undefined;
  readonly #tools: PiTools;
  readonly #offers: PiOffers;
  #running: Running | undefined;
  readonly #toolNames = new ToolNames();

  constructor(pi: PiApi, flags?: ConfigFlags) {
    this.#pi = pi;
    this.#flags = flags;
    this.#tools = new PiTools(pi);
    this.#offers = new PiOffers(pi, this.#tools, () => this.engine());
  }

  get serverNames(): string[] {
    return this.#running?.config.servers.map(({ name }) => name) ?? [];
  }

  /** Reads the configuration and declares tools; returns at once. Some hosts tell of one session start twice. */
  begin(ctx: PiContext): void {
    if (this.#running) return;
    const { cwd, hasUI } = ctx;
    const memory = new FileMemory();
    const config = this.#load(cwd, memory);
    const running: Running = { config, memory, ctx, cwd, hasUI, direct: new Map() };
    this.#running = running;
    const problems = [...config.problems];
    firstTurnWaitMs(process.env, problems);
    if (problems.length > 0) this.#tell(running, ["MCP configuration:", ...problems.map(formatProblem)].join("\n"));
    const waiting = waitingNotice(config.untrusted, howToAllow(running));
    if (waiting !== undefined) this.#tell(running, waiting);
    this.#declare(running, { added: config.servers.map(({ name }) => name), replaced: [], removed: [] });
    this.#offers.begin(ctx);
    running.watchTimer = setTimeout(() => void this.#watch(running), WATCH_AFTER_MS).unref();
  }

  /** Takes up the configuration anew if one of its files holds other bytes than it did, and says what has changed. */
  refresh(): void {
    if (this.#running?.memory.isStale()) this.#takeUp(this.#running, "say what changes");
  }

  /** The files of the project that are not allowed now. The host is to show them and to pass on what the person says. */
  untrusted(): readonly UntrustedFile[] {
    if (!this.#running) throw new Error("The session has ended.");
    this.refresh();
    return this.#running.config.untrusted ?? [];
  }

  /** Takes up the configuration anew, with what a person has allowed just now and is told of by the caller. */
  reload(): void {
    if (!this.#running) throw new Error("The session has ended.");
    this.#takeUp(this.#running, "as asked for");
  }

  /**
   * Another reading of the configuration. Servers it leaves as they are go on as they do, with the calls they are at.
   * Throws what a host throws that has moved on to another session.
   */
  #takeUp(running: Running, why: "say what changes" | "as asked for"): void {
    const former = running.config;
    const next = this.#load(running.cwd, running.memory);
    running.config = next;
    const changes = changesBetween(former.servers, next.servers);
    // Before anything that waits for the session in order to use it.
    running.ready?.then(([, session]) => session.update(running.config)).catch(() => {});
    this.#declare(running, changes);
    const problems = newProblems(former.problems, next.problems);
    const said = why === "say what changes" ? describeChanges(changes) : undefined;
    const head = said ?? (problems.length > 0 ? "MCP configuration:" : undefined);
    const waiting = waitingNotice(next.untrusted, howToAllow(running));
    const isNew = waiting !== waitingNotice(former.untrusted, howToAllow(running));
    const lines = [head, ...problems.map(formatProblem), isNew ? waiting : undefined];
    const text = lines.filter((line) => line !== undefined).join("\n");
    if (text !== "") this.#tell(running, text, problems.length > 0 || isNew ? "warning" : "info");
  }

  /** Until it stands, and where it fails, the next prompt and `/mcp` look for themselves. */
  async #watch(running: Running): Promise<void> {
    try {
      const { watchConfig } = await import("../../config/watch.ts");
      if (this.#running !== running) return;
      running.watch = watchConfig(running.memory, {
        changed: () => this.#takeUp(running, "say what changes"),
        failed: (folder, code) => {
          const what = `Changes of the MCP configuration in ${visible(folder)} are noticed at the next prompt or \`/mcp\``;
          this.#tell(running, `${what}, and not before: the folder cannot be watched (${code}).`);
        },
      });
    } catch {
      // Without it nothing is lost but the moment.
    }
  }

  /** Takes up servers that other extensions have registered or withdrawn since. */
  takeRegistered(): void {
    if (this.#running) this.#takeUp(this.#running, "as asked for");
  }

  /** Everything that is configured for a session in this folder. */
  #load(cwd: string, memory: FileMemory): LoadedConfig {
    const place = { ...userEnvironment(), cwd, registered: this.#registered() };
    return loadConfig({ ...place, ...(this.#flags && { flags: this.#flags }) }, memory);
  }

  /** Servers of other extensions; a host that is older, or has moved on meanwhile, has none. */
  #registered(): readonly RegisteredServer[] {
    try {
      return tellsMcpServers(this.#pi) ? this.#pi.getMcpServers() : [];
    } catch {
      return [];
    }
  }

  /** Declares what servers offer a model, as far as it has changed. An unused client costs no tool. */
  #declare(running: Running, { added, replaced, removed }: ConfigChanges): void {
    const { servers } = running.config;
    declareSurfaceTools(this.#tools, servers, { defersTools: false }, () => this.engine());
    this.#offers.declare(servers, running.cwd, { added, replaced, removed });
    const changed = new Set([...added, ...replaced]);
    const direct = servers
      .filter((server) => changed.has(server.name) && possibleExposures(server).has("direct"))
      .map(({ name }) => name);
    for (const name of [...removed, ...replaced]) if (!direct.includes(name)) this.#withdrawTools(running, name);
    for (const { name, policy } of servers) {
      if (changed.has(name) && startsWithSession(policy) && !direct.includes(name)) void this.#begin(running, name);
    }
    if (direct.length === 0) return;
    const starting = new Set(direct);
    const offers = direct.map((name) => this.#offerTools(running, name).finally(() => starting.delete(name)));
    const wait = limit(firstTurnWaitMs(process.env)).then(() => this.#tellSlow(running, starting));
    running.firstTurn = Promise.race([Promise.all([running.firstTurn, ...offers]), wait]);
  }

  /** The session starts it by itself; a person is told when that fails [S2-20]. */
  async #begin(running: Running, name: string): Promise<void> {
    try {
      const [, session] = await this.#ready(running);
      await session.listTools(name);
    } catch (error) {
      if (this.#running === running) this.#tell(running, describeError(error));
    }
  }

  /** What has not started when the first turn goes on without it [S2-21]. */
  #tellSlow(running: Running, starting: ReadonlySet<string>): void {
    if (this.#running !== running || starting.size === 0) return;
    const names = [...starting].map((name) => visible(name)).join(", ");
    this.#tell(running, `MCP servers still starting: ${names}. Their tools join when they are ready.`, "info");
  }

  #withdrawTools(running: Running, server: string): void {
    this.#tools.withdraw(running.direct.get(server) ?? []);
    running.direct.delete(server);
  }

  /** Files of results are removed, unless the conversation that names them goes on. */
  async end(reason = "quit"): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    clearTimeout(running.watchTimer);
    running.watch?.close();
    const [, session] = (await running.ready?.catch(() => undefined)) ?? [];
    await session?.close(reason === "reload" || reason === "fork" ? { keepResults: true } : {});
  }

  /** Holds the first turn until declared tools are there, but not for long. */
  async awaitDirectTools(): Promise<void> {
    this.refresh();
    const running = this.#running;
    await running?.firstTurn;
    if (running && !running.hasUI) await this.#assertRequired(running);
  }

  /**
   * A run nobody watches is of no use without the servers that are said to be required: it ends here. No host has another
   * way for an extension to fail a run.
   */
  async #assertRequired(running: Running): Promise<void> {
    const required = running.config.servers.filter(({ isRequired }) => isRequired);
    if (required.length === 0) return;
    const [, session] = await this.#ready(running);
    const starts = await Promise.allSettled(required.map(({ name }) => session.listTools(name)));
    const failures = starts.flatMap((start) => (start.status === "rejected" ? [describeError(start.reason)] : []));
    if (failures.length === 0 || this.#running !== running) return;
    this.#tell(running, ["This run needs MCP servers that cannot be used:", ...failures].join("\n"));
    await this.end();
    process.exit(1);
  }

  /** 0.73 takes a tool's failure only from here. */
  markError(event: PiToolResultEvent): { isError: true } | undefined {
    const details = event.details as { isError?: unknown } | null | undefined;
    return this.#tools.has(event.toolName) && details?.isError === true ? { isError: true } : undefined;
  }

  /** The engine and the session, loaded and made on first use. */
  async engine(): Promise<[Engine, McpSession]> {
    if (!this.#running) throw new Error("The session has ended.");
    return this.#ready(this.#running);
  }

  #ready(running: Running): Promise<[Engine, McpSession]> {
    running.ready ??= this.#start(running);
    return running.ready;
  }

  async #start(running: Running): Promise<[Engine, McpSession]> {
    const engine = await import("./engine.ts");
    const surroundings = { env: process.env, cwd: running.cwd };
    const session: McpSession = engine.createSession(running.config, surroundings, {
      toolsChanged: (server) => void this.#offerTools(running, server),
      offersChanged: (server) => this.#learn(running, session, server),
      ...(running.hasUI && {
        askToSignIn: (server, flow) => askToSignIn(engine, server, flow, (...said) => this.#tell(running, ...said)),
      }),
    });
    return [engine, session];
  }

  /** The server may be gone, and the host have moved on. */
  #learn(running: Running, session: McpSession, server: string): void {
    const config = running.config.servers.find(({ name }) => name === server);
    const known = config && session.knownOffers(server);
    if (this.#running !== running || config === undefined || known === undefined) return;
    try {
      this.#offers.learn(config, known);
    } catch {
      // The session was replaced.
    }
  }

  /** Declares a server's tools, also those it has since announced, and withdraws what it no longer has. Never rejects. */
  async #offerTools(running: Running, name: string): Promise<void> {
    // The session may end, and the server change or go, while this waits.
    const isWanted = () =>
      this.#running === running &&
      running.config.servers.some((server) => server.name === name && possibleExposures(server).has("direct"));
    try {
      const [engine, session] = await this.#ready(running);
      if (!isWanted()) return;
      const tools = (await toolsOf(session, name)).filter(
        (tool) => exposureOf(session.config(name), tool.name) === "direct",
      );
      if (!isWanted()) return;
      const direct = engine.directTools(session, name, tools, this.#toolNames);
      for (const { run, ...description } of direct) this.#tools.offer(description, run);
      const names = new Set(direct.map((tool) => tool.name));
      this.#tools.withdraw([...(running.direct.get(name) ?? [])].filter((former) => !names.has(former)));
      running.direct.set(name, names);
    } catch (error) {
      if (isWanted()) this.#tell(running, describeError(error));
    }
  }

  /** A host that has moved on meanwhile throws at whoever speaks to it: then there is nobody to tell. */
  #tell(running: Running, text: string, type: "info" | "warning" = "warning"): void {
    try {
      tell(running, text, type);
    } catch {
      // The session was replaced.
    }
  }
}

/** Without connecting where that is not called for: the first call does, and tells if they have changed meanwhile. */
async function toolsOf(session: McpSession, name: string): Promise<readonly ToolDefinition[]> {
  const { policy } = session.config(name);
  const known = policy.directFrom === "known" && !startsWithSession(policy) ? session.knownTools(name) : undefined;
  return known?.tools ?? session.listTools(name);
}

/** Those that were not there before; one whose line has moved is no new one. */
function newProblems(former: readonly ConfigProblem[], now: readonly ConfigProblem[]): ConfigProblem[] {
  const keyOf = ({ file, message }: ConfigProblem) => JSON.stringify([file, message]);
  const known = new Set(former.map(keyOf));
  return now.filter((problem) => !known.has(keyOf(problem)));
}

function howToAllow({ hasUI }: Running): string {
  return hasUI ? "`/mcp trust`" : "`pi-mcp trust`, run in this folder,";
}

/** Time enough; does not hold the process, a host that waits for it does. */
function limit(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
