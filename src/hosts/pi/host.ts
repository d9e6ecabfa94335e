import type { HandedServers } from "../../acp/channel.ts";
import { ToolNames } from "../../catalog/names.ts";
import { type ConfigChanges, changesBetween, describeChanges } from "../../config/changes.ts";
import { FileMemory } from "../../config/file-memory.ts";
import type { ConfigFlags } from "../../config/flags.ts";
import type { HostAbilities } from "../../config/gateways.ts";
import { loadConfig } from "../../config/load.ts";
import { visible } from "../../config/problems.ts";
import type { LoadedConfig, UntrustedFile } from "../../config/record.ts";
import type { RegisteredServer } from "../../config/registered.ts";
import { userEnvironment } from "../../config/user.ts";
import type { ConfigWatch } from "../../config/watch.ts";
import type { Dialogs } from "../../dialogs/dialogs.ts";
import { describeError } from "../../error.ts";
import type { McpSession, SessionPort } from "../../session/session.ts";
import { MCP_TOOL } from "../../tools/mcp-description.ts";
import { type PiApi, type PiContext, type PiToolResultEvent, tellsMcpServers } from "./api.ts";
import { builtinNotice } from "./builtin-notice.ts";
import { askingPort } from "./dialogs.ts";
import { activateDiscovery, canDiscover } from "./discovery.ts";
import { callEditor, type Editor } from "./editor.ts";
import { askingEditor } from "./editor-dialogs.ts";
import { closeSession, type Engine, holdSession, type LiveSession, startSession, takeSession } from "./live-session.ts";
import { changeNotice, startNotices, tell } from "./notice.ts";
import { PiOffers } from "./offers.ts";
import { OwnTools } from "./own-tools.ts";
import { PiTools } from "./pi-tools.ts";
import { askToSignIn } from "./sign-in.ts";
import { StatusLine } from "./status.ts";
import { declareSurfaceTools } from "./surface-tools.ts";

/** The start belongs to the host: the watch of the configuration begins after it, and misses nothing by that. */
const WATCH_AFTER_MS = 1_000;

/** A program that uses pi as a library may drop a session without a word; so often we look whether it has. */
const LOOK_FOR_END_MS = 5_000;

/** Why a session of the host ends: `quit` is the end of it all, after the others the next session begins at once. */
const FOLLOWED: ReadonlySet<string> = new Set(["new", "resume", "fork", "reload"]);

interface Running extends HostAbilities {
  config: LoadedConfig;
  /** Of the files the configuration was read from. */
  readonly memory: FileMemory;
  /** Taken from the host's context when the session began: later the context may be another session's, and throw. */
  readonly cwd: string;
  readonly ctx: PiContext;
  readonly hasUI: boolean;
  /** There from the first use of a server on, or from a session before this one. */
  live?: LiveSession;
  readonly own: OwnTools;
  readonly status: StatusLine;
  readonly timers: NodeJS.Timeout[];
  watch?: ConfigWatch;
  /** Whose servers are taken up, too, where one has started this process through the proxy. */
  editor?: Editor | undefined;
  handed?: HandedServers;
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

  /** The configuration as it was last read; none before the session has begun and after its end. */
  get config(): LoadedConfig | undefined {
    return this.#running?.config;
  }

  /** The folder the session works in. */
  get cwd(): string {
    if (!this.#running) throw new Error("The session has ended.");
    return this.#running.cwd;
  }

  /** Reads the configuration and declares tools; returns at once. Some hosts tell of one session start twice. */
  begin(ctx: PiContext): void {
    if (this.#running) return;
    const { cwd, hasUI } = ctx;
    const memory = new FileMemory();
    const config = this.#load({ cwd, memory });
    const defersTools = canDiscover(this.#pi);
    const isMcpTaken = !this.#tools.has(MCP_TOOL.name) && hasTool(this.#pi, MCP_TOOL.name);
    const own = new OwnTools(this.#tools, this.#toolNames, {
      defersTools,
      isMcpTaken,
      ready: () => this.#ready(running),
      config: (server) =>
        this.#running === running ? running.config.servers.find(({ name }) => name === server) : undefined,
      tell: (text, type) => this.#tell(running, text, type),
    });
    const status = new StatusLine(ctx, () => running.config);
    const running: Running = { config, memory, ctx, cwd, hasUI, defersTools, isMcpTaken, own, status, timers: [] };
    this.#running = running;
    this.#takeOver(running);
    running.editor = callEditor(ctx, {
      handed: (handed) => {
        if (this.#running !== running) return;
        running.handed = handed;
        this.#takeUp(running, "as asked for");
      },
      command: (text) => this.#answer(text),
    });
    for (const text of startNotices(config, running)) this.#tell(running, text);
    const builtin = builtinNotice(this.#pi, ctx, userEnvironment(), process.argv);
    if (builtin !== undefined) this.#tell(running, builtin, "info");
    this.#declare(running, { added: config.servers.map(({ name }) => name), replaced: [], removed: [] });
    this.#offers.begin(ctx);
    status.show();
    running.timers.push(
      setTimeout(() => void this.#watch(running), WATCH_AFTER_MS).unref(),
      setInterval(() => this.#endIfDropped(running), LOOK_FOR_END_MS).unref(),
    );
  }

  /** Settles when the editor's proxy, if there is one, knows which session this is. */
  get greeted(): Promise<void> | undefined {
    return this.#running?.editor?.greeted;
  }

  /** Servers that a session before this one has started go on, as far as their entries mean the same. */
  #takeOver(running: Running): void {
    const live = takeSession(running.cwd);
    if (live === undefined) return;
    live.port = this.#port(running);
    this.#join(running, live);
    live.ready.then(([, session]) => session.update(running.config)).catch(() => {});
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
    const next = this.#load(running);
    running.config = next;
    const changes = changesBetween(former.servers, next.servers);
    // Before anything that waits for the session in order to use it.
    running.live?.ready.then(([, session]) => session.update(running.config)).catch(() => {});
    this.#declare(running, changes);
    const said = why === "say what changes" ? describeChanges(changes) : undefined;
    const { text, type } = changeNotice(said, former, next, running.hasUI);
    running.status.show();
    if (text !== "") this.#tell(running, text, type);
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
  #load({ cwd, memory, handed }: Pick<Running, "cwd" | "memory" | "handed">): LoadedConfig {
    const place = { ...userEnvironment(), cwd, registered: this.#registered() };
    const editor = handed && { handed: handed.servers ?? [] };
    return loadConfig({ ...place, ...editor, ...(this.#flags && { flags: this.#flags }) }, memory);
  }

  /** Servers of other extensions; a host that is older, or has moved on meanwhile, has none. */
  #registered(): readonly RegisteredServer[] {
    try {
      return tellsMcpServers(this.#pi) ? this.#pi.getMcpServers() : [];
    } catch {
      return [];
    }
  }

  /** Declares what servers offer a model, as far as it has changed. */
  #declare(running: Running, changes: ConfigChanges): void {
    const { servers } = running.config;
    declareSurfaceTools(this.#tools, servers, running, () => this.engine());
    if (running.defersTools) activateDiscovery(this.#pi, servers);
    running.own.follow(changes, servers);
    this.#offers.declare(running, changes);
  }

  /**
   * Lets go of the session. Its servers end, unless the host goes on to another one, for which they are kept.
   * `reason`: the host's word for it. Files of results are removed with the servers, unless the conversation that names
   * them goes on.
   */
  async end(reason = "quit"): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    for (const timer of running.timers) clearTimeout(timer);
    running.status.end();
    running.watch?.close();
    running.editor?.close();
    if (running.live === undefined) return;
    const goesOn = reason === "reload" || reason === "fork";
    if (FOLLOWED.has(reason)) await holdSession(running.cwd, running.live, goesOn ? { keepResults: true } : {});
    else await closeSession(running.live);
  }

  /** Where nobody has said that the session ends: its context then throws at whoever speaks to it. */
  #endIfDropped(running: Running): void {
    try {
      void running.ctx.cwd;
    } catch {
      if (this.#running === running) void this.end();
    }
  }

  /** Holds the first turn until declared tools are there, but not for long. */
  async awaitDirectTools(): Promise<void> {
    this.refresh();
    const running = this.#running;
    await running?.editor?.arrived;
    if (running) this.#offers.offerTools(running);
    await running?.own.awaitDeclared();
    if (running && !running.hasUI) await this.#assertRequired(running);
  }

  /** Holds a tool of the host that finds ours, or calls them, until they are there. */
  async awaitFindable(tool: string): Promise<undefined> {
    if (tool === "codemode" || tool === "tool_search") await this.#running?.own.awaitFindable();
    return undefined;
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
    const details = event.details as { isError?: unknown; hasLinks?: unknown } | null | undefined;
    if (!this.#tools.has(event.toolName)) return undefined;
    if (details?.hasLinks === true && this.#running) this.#offers.offerTools(this.#running);
    return details?.isError === true ? { isError: true } : undefined;
  }

  /** The engine and the session, loaded and made on first use. */
  async engine(): Promise<[Engine, McpSession]> {
    if (!this.#running) throw new Error("The session has ended.");
    return this.#ready(this.#running);
  }

  #ready(running: Running): Promise<[Engine, McpSession]> {
    const live = running.live ?? this.#join(running, startSession(running.config, running.cwd, this.#port(running)));
    return live.ready;
  }

  /** From now on what is known of its servers is shown here. */
  #join(running: Running, live: LiveSession): LiveSession {
    running.live = live;
    live.ready.then(
      ([, session]) => running.status.follow(session),
      () => {},
    );
    return live;
  }

  /** What the person typed in their editor. */
  async #answer(text: string): Promise<string> {
    const [engine, session] = await this.engine();
    return engine.runMcpCommand(session, text);
  }

  /** How a person is asked. */
  #dialogs(running: Running): Dialogs {
    const engine = async () => (await this.#ready(running))[0];
    return askingEditor(engine, () => running.editor, askingPort(engine, running.ctx));
  }

  /** What this session offers to servers, and hears from them. */
  #port(running: Running): SessionPort {
    return {
      toolsChanged: (server) => void running.own.offer(server),
      offersChanged: (server) => void this.#learn(running, server),
      pinsChanged: (server, text) => {
        running.status.noteChange(server);
        this.#tell(running, text);
      },
      ...(running.hasUI && this.#dialogs(running)),
      ...(running.hasUI && {
        askToSignIn: async (server, flow) => {
          const [engine] = await this.#ready(running);
          askToSignIn(engine, server, flow, (...said) => this.#tell(running, ...said));
        },
      }),
    };
  }

  /** The server may be gone meanwhile, and the host have moved on. */
  async #learn(running: Running, server: string): Promise<void> {
    try {
      const [, session] = await this.#ready(running);
      const config = running.config.servers.find(({ name }) => name === server);
      const known = config && session.knownOffers(server);
      if (this.#running === running && config && known) this.#offers.learn(config, known);
    } catch {
      // Then what was known is what pi goes on with.
    }
  }

  /** A host that has moved on meanwhile throws at whoever speaks to it: then there is nobody to tell. */
  #tell(running: Running, text: string, type: "info" | "warning" = "warning"): void {
    // An adapter may keep what pi shows to itself, or show it as the model's words.
    if (running.editor?.tell(text, type)) return;
    try {
      tell(running, text, type);
    } catch {
      // The session was replaced.
    }
  }
}

function hasTool(pi: PiApi, name: string): boolean {
  return pi.getAllTools().some((tool) => tool.name === name);
}
