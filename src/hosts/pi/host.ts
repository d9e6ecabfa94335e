import { homedir } from "node:os";
import { ToolNames } from "../../catalog/names.ts";
import { loadConfig } from "../../config/load.ts";
import { formatProblem } from "../../config/problems.ts";
import type { LoadedConfig } from "../../config/record.ts";
import { messageOf } from "../../error.ts";
import type { Progress } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import type { DirectTool } from "../../tools/direct.ts";
import { MCP_TOOL } from "../../tools/mcp-description.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "../../tools/tool.ts";
import type { PiApi, PiContext, PiToolResult, PiToolResultEvent } from "./api.ts";

/** How long a first turn waits for servers whose tools the model is to see [S2-38]. */
const FIRST_TURN_WAIT_MS = 10_000;

type Engine = typeof import("./engine.ts");

interface Running {
  readonly config: LoadedConfig;
  readonly ctx: PiContext;
  /** Made with the first use of a server. */
  session?: McpSession;
  /** Settles when every server with direct tools is connected or has failed. */
  direct?: Promise<void>;
}

/** One pi session's MCP side: from `session_start` to `session_shutdown`. */
export class PiHost {
  readonly #pi: PiApi;
  #running: Running | undefined;
  readonly #toolNames = new ToolNames();
  /** Of all tools registered here, `mcp` among them. */
  readonly #names = new Set<string>();

  constructor(pi: PiApi) {
    this.#pi = pi;
  }

  get serverNames(): string[] {
    return this.#running?.config.servers.map(({ name }) => name) ?? [];
  }

  /** Reads the configuration and declares tools; returns at once. Some hosts tell of one session start twice. */
  begin(ctx: PiContext): void {
    if (this.#running) return;
    const config = loadConfig({ env: process.env, home: homedir() });
    const running: Running = { config, ctx };
    this.#running = running;
    if (config.problems.length > 0) {
      const lines = config.problems.map(formatProblem);
      this.tell(["MCP configuration:", ...lines].join("\n"), "warning", ctx);
    }
    if (config.servers.length === 0) return;
    this.#register(MCP_TOOL, async (call) => {
      const [{ runMcpTool }, session] = await this.#ready(running);
      return runMcpTool(session, call);
    });
    const direct = config.servers.filter(({ exposure }) => exposure === "direct");
    if (direct.length > 0)
      running.direct = this.#offerDirectTools(
        running,
        direct.map(({ name }) => name),
      );
  }

  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.session?.close();
  }

  /** Holds the first turn until declared tools are there, but not for long. */
  async awaitDirectTools(): Promise<void> {
    const direct = this.#running?.direct;
    if (!direct) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_TURN_WAIT_MS);
    });
    await Promise.race([direct, limit]);
    clearTimeout(timer);
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

  /** Without a UI notices would vanish: there they go to stderr. */
  tell(text: string, type: "info" | "warning" | "error", ctx: PiContext): void {
    if (ctx.hasUI) ctx.ui.notify(text, type);
    else console.error(text);
  }

  async #ready(running: Running): Promise<[Engine, McpSession]> {
    const engine = await import("./engine.ts");
    const surroundings = { env: process.env, cwd: running.ctx.cwd };
    running.session ??= engine.createSession(running.config, surroundings, {
      toolsChanged: (server) => void this.#offerTools(running, server),
    });
    return [engine, running.session];
  }

  async #offerDirectTools(running: Running, names: string[]): Promise<void> {
    await Promise.all(names.map((name) => this.#offerTools(running, name)));
  }

  /** Declares a server's tools, also those it has since announced. */
  async #offerTools(running: Running, name: string): Promise<void> {
    try {
      const [engine, session] = await this.#ready(running);
      if (session.config(name).exposure !== "direct") return;
      const tools = await session.listTools(name);
      if (this.#running !== running) return;
      for (const tool of engine.directTools(session, name, tools, this.#toolNames)) this.#registerDirect(tool);
    } catch (error) {
      if (this.#running === running) this.tell(messageOf(error), "warning", running.ctx);
    }
  }

  #registerDirect(tool: DirectTool): void {
    this.#register(tool, (call) => tool.run(call));
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
        return toPiResult(await run({ args, signal, onProgress }));
      },
    });
  }
}

function toPiResult(answer: ToolAnswer): PiToolResult {
  return { content: [...answer.content], details: answer.details, isError: answer.isError };
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? count : `${count} ${message}`;
}
