import { homedir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { ToolNames } from "../../catalog/names.ts";
import { waitingNotice } from "../../config/consent.ts";
import { firstTurnWaitMs } from "../../config/environment-limits.ts";
import type { ConfigFlags } from "../../config/flags.ts";
import { startsWithSession } from "../../config/lifecycle.ts";
import { type ConfigPlace, loadConfig } from "../../config/load.ts";
import { formatProblem } from "../../config/problems.ts";
import type { ConfigProblem, LoadedConfig, UntrustedFile } from "../../config/record.ts";
import type { RegisteredServer } from "../../config/registered.ts";
import { isDirect, mayHaveDirect } from "../../config/tool-filter.ts";
import { describeError } from "../../error.ts";
import type { Progress } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import type { DirectTool } from "../../tools/direct.ts";
import { MCP_TOOL } from "../../tools/mcp-description.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "../../tools/tool.ts";
import { type PiApi, type PiContext, type PiToolResult, type PiToolResultEvent, tellsMcpServers } from "./api.ts";

type Engine = typeof import("./engine.ts");

interface Running {
  readonly config: LoadedConfig;
  /** Taken from the host's context when the session began: later the context may be another session's, and throw. */
  readonly cwd: string;
  readonly ctx: PiContext;
  readonly hasUI: boolean;
  /** The engine, loaded with the first use of a server, and the session made with it. */
  ready?: Promise<[Engine, McpSession]>;
  /** Settles when every server with direct tools is connected or has failed, or the first turn has waited enough. */
  firstTurn?: Promise<unknown>;
}

/** One pi session's MCP side: from `session_start` to `session_shutdown`. */
export class PiHost {
  readonly #pi: PiApi;
  readonly #flags: ConfigFlags | undefined;
  #running: Running | undefined;
  readonly #toolNames = new ToolNames();
  /** Of all tools registered here, `mcp` among them. */
  readonly #names = new Set<string>();
  /** Tools at work. */
  #calls = 0;
  /** Settles when the session that was replaced last has ended its servers. */
  #closing: Promise<unknown> | undefined;

  /** What other extensions registered has changed while a tool was at work. */
  #isStale = false;

  constructor(pi: PiApi, flags?: ConfigFlags) {
    this.#pi = pi;
    this.#flags = flags;
  }

  get serverNames(): string[] {
    return this.#running?.config.servers.map(({ name }) => name) ?? [];
  }

  /** Reads the configuration and declares tools; returns at once. Some hosts tell of one session start twice. */
  begin(ctx: PiContext): void {
    if (this.#running) return;
    const config = loadConfig(this.#place(ctx.cwd));
    const running: Running = { config, ctx, cwd: ctx.cwd, hasUI: ctx.hasUI };
    this.#running = running;
    const problems = [...config.problems];
    firstTurnWaitMs(process.env, problems);
    this.#tellProblems(running, problems);
    const how = running.hasUI ? "`/mcp trust`" : "`pi-mcp trust`, run in this folder,";
    const waiting = waitingNotice(config.untrusted, how);
    if (waiting !== undefined) this.#tell(running, waiting);
    this.#declare(running);
  }

  /**
   * The files of the project that are not allowed, as they are now, which may be later than the session's start. The host
   * is to show them and to pass on what the person says.
   */
  untrusted(): readonly UntrustedFile[] {
    if (!this.#running) throw new Error("The session has ended.");
    return this.#load().untrusted ?? [];
  }

  /**
   * Takes up the configuration anew, with what was allowed since: the servers that run are ended and start again on next
   * use. Returns false, having done nothing, while a tool is at work.
   */
  async reload(): Promise<boolean> {
    const running = this.#running;
    if (!running) throw new Error("The session has ended.");
    if (this.#calls > 0) return false;
    const { ctx, cwd, hasUI } = running;
    const next: Running = { config: this.#load(), ctx, cwd, hasUI };
    this.#running = next;
    this.#closing = Promise.all([this.#closing, closeSession(running)]);
    await this.#closing;
    if (this.#running === next) this.#declare(next);
    return true;
  }

  /**
   * Takes up servers that other extensions have registered or withdrawn since; while a tool is at work, after it. Nothing
   * is done when none of them is in use.
   */
  async takeRegistered(): Promise<void> {
    const running = this.#running;
    this.#isStale = false;
    if (!running) return;
    const config = this.#load();
    if (isDeepStrictEqual(config.servers, running.config.servers)) return;
    const known = new Set(running.config.problems.map(formatProblem));
    this.#tellProblems(
      running,
      config.problems.filter((problem) => !known.has(formatProblem(problem))),
    );
    this.#isStale = !(await this.reload());
  }

  #tellProblems(running: Running, problems: readonly ConfigProblem[]): void {
    if (problems.length === 0) return;
    this.#tell(running, ["MCP configuration:", ...problems.map(formatProblem)].join("\n"));
  }

  #load(): LoadedConfig {
    return loadConfig(this.#place(this.#running?.cwd));
  }

  #place(cwd: string | undefined): ConfigPlace {
    return {
      env: process.env,
      home: homedir(),
      registered: this.#registered(),
      ...(cwd !== undefined && { cwd }),
      ...(this.#flags && { flags: this.#flags }),
    };
  }

  /** Servers of other extensions; a host that is older, or has moved on meanwhile, has none. */
  #registered(): readonly RegisteredServer[] {
    try {
      return tellsMcpServers(this.#pi) ? this.#pi.getMcpServers() : [];
    } catch {
      return [];
    }
  }

  /** Registers what the servers of the configuration offer a model. An unused client costs no tool. */
  #declare(running: Running): void {
    const { config } = running;
    if (config.servers.length === 0) return;
    this.#register(MCP_TOOL, async (call) => {
      const [{ runMcpTool }, session] = await this.engine();
      return runMcpTool(session, call);
    });
    // The session starts them by itself; what becomes of them is in `/mcp`.
    if (config.servers.some(({ policy }) => startsWithSession(policy))) this.#ready(running).catch(() => {});
    const direct = config.servers.filter(mayHaveDirect);
    if (direct.length === 0) return;
    const offered = Promise.all(direct.map(({ name }) => this.#offerTools(running, name)));
    running.firstTurn = Promise.race([offered, limit(firstTurnWaitMs(process.env))]);
  }

  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await Promise.all([this.#closing, running && closeSession(running)]);
  }

  /** Holds the first turn until declared tools are there, but not for long. */
  async awaitDirectTools(): Promise<void> {
    await this.#running?.firstTurn;
  }

  /** 0.73 takes a tool's failure only from here. */
  markError(event: PiToolResultEvent): { isError: true } | undefined {
    const details = event.details as { isError?: unknown } | null | undefined;
    return this.#names.has(event.toolName) && details?.isError === true ? { isError: true } : undefined;
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
    const session = engine.createSession(running.config, surroundings, {
      toolsChanged: (server) => void this.#offerTools(running, server),
    });
    return [engine, session];
  }

  /** Declares a server's tools, also those it has since announced. Never rejects. */
  async #offerTools(running: Running, name: string): Promise<void> {
    try {
      const [engine, session] = await this.#ready(running);
      if (this.#running !== running || !mayHaveDirect(session.config(name))) return;
      const listed = await session.listTools(name);
      const tools = listed.filter((tool) => isDirect(session.config(name), tool.name));
      if (this.#running !== running) return;
      for (const tool of engine.directTools(session, name, tools, this.#toolNames)) this.#registerDirect(tool);
    } catch (error) {
      if (this.#running === running) this.#tell(running, describeError(error));
    }
  }

  /** A host that has moved on meanwhile throws at whoever speaks to it: then there is nobody to tell. */
  #tell(running: Running, text: string): void {
    try {
      tell(running, text, "warning");
    } catch {
      // The session was replaced.
    }
  }

  #registerDirect({ run, ...description }: DirectTool): void {
    this.#register(description, run);
  }

  #register(tool: ToolDescription, run: (call: ToolCall) => Promise<ToolAnswer>): void {
    this.#names.add(tool.name);
    const { promptGuidelines, ...rest } = tool;
    this.#pi.registerTool({
      ...rest,
      ...(promptGuidelines && { promptGuidelines: [...promptGuidelines] }),
      execute: async (_id, args, signal, onUpdate) => {
        const onProgress = (progress: Progress) => {
          onUpdate?.({ content: [{ type: "text", text: progressText(progress) }], details: {} });
        };
        this.#calls++;
        try {
          return toPiResult(await run({ args, signal, onProgress }));
        } finally {
          this.#calls--;
          // A host that has moved on meanwhile throws: then there is nobody to take them up for.
          if (this.#isStale && this.#calls === 0) void this.takeRegistered().catch(() => {});
        }
      },
    });
  }
}

async function closeSession({ ready }: Running): Promise<void> {
  const [, session] = (await ready?.catch(() => undefined)) ?? [];
  await session?.close();
}

function toPiResult(answer: ToolAnswer): PiToolResult {
  return { content: [...answer.content], details: answer.details, isError: answer.isError };
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? count : `${count} ${message}`;
}

/** Without a UI notices would vanish: there they go to stderr. */
export function tell(
  { hasUI, ctx }: { readonly hasUI: boolean; readonly ctx: PiContext },
  text: string,
  type: "info" | "warning" | "error",
): void {
  if (hasUI) ctx.ui.notify(text, type);
  else console.error(text);
}

/** Time enough; does not hold the process, a host that waits for it does. */
function limit(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
