import { ToolNames } from "../catalog/names.ts";
import { readAcpServers } from "../config/acp.ts";
import { firstTurnWaitMs } from "../config/environment-limits.ts";
import { visible } from "../config/problems.ts";
import type { ConfigProblem, LoadedConfig, PermissionMode } from "../config/record.ts";
import { McpServerError, messageOf } from "../error.ts";
import { untilAborted } from "../protocol/pause.ts";
import type { JsonObject, Progress, ToolAnnotations, ToolDefinition } from "../protocol/types.ts";
import { createSession } from "../session/create-session.ts";
import type { McpSession } from "../session/session.ts";
import { type DirectTool, directTools } from "../tools/direct.ts";
import type { ToolAnswer } from "../tools/tool.ts";
import { type AcpPort, abilitiesOf } from "./client.ts";
import { isMcpCommand, MCP_COMMAND, runMcpCommand } from "./command.ts";
import { elicitThrough } from "./elicitation.ts";
import { type Notice, Notices } from "./notices.ts";
import { type AcpToolKind, kindOf, permissionThrough } from "./permission.ts";

export interface AcpServersOptions {
  /** The session's folder: servers start in it. Default: the process'. */
  readonly cwd?: string;
  /** What servers get the safe part of, and where limits may be set. Default: the process'. */
  readonly env?: NodeJS.ProcessEnv;
  /** `clientCapabilities` of `initialize`, as they came. */
  readonly clientCapabilities?: unknown;
  readonly port?: AcpPort;
  /** Names of servers the agent has of its own. */
  readonly own?: readonly string[];
  /** Which of two servers of one name is used; `rename`: both, and the editor's gets a number. Default: the editor's. */
  readonly onConflict?: "acp" | "own" | "rename";
  /** What is asked about. Default `yolo`: nothing. */
  readonly permission?: PermissionMode;
  /** How long the first turn waits, milliseconds. Default: 10,000, or `PI_MCP_FIRST_TURN_WAIT`. */
  readonly firstTurnMs?: number;
}

/** A server's tool as a model and an editor are shown it. */
export interface AcpTool {
  /** `mcp__server__tool`. */
  readonly name: string;
  readonly server: string;
  /** As the server calls it. */
  readonly tool: string;
  /** For a person: `server: Title`. */
  readonly title: string;
  readonly description: string;
  /** A JSON Schema that every model provider takes. */
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
  readonly kind: AcpToolKind;
}

export interface AcpCallOptions {
  /** The agent's id of the call: what a person is asked refers to it. */
  readonly toolCallId?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** The MCP servers of one ACP session. */
export interface AcpServers {
  /** For whatever is not here. */
  readonly session: McpSession;
  /** To be announced in `available_commands_update`. */
  readonly availableCommand: typeof MCP_COMMAND;
  /** The session's id, once its answer has been written: what is to be said to the person is said from now on. */
  bind(sessionId: string): void;
  /**
   * Before a turn's first request to the model: waits until each server is there or has failed, but the first time alone
   * and not longer than `firstTurnMs` [S2-38]. Never rejects.
   */
  ready(signal?: AbortSignal): Promise<void>;
  /** The tools there are by now, in the order of the editor's list; a tool keeps its name as long as the session. */
  tools(): readonly AcpTool[];
  /** Calls back when `tools` has changed. Returns how to stop that. */
  on(event: "tools", listener: () => void): () => void;
  /** Runs a tool by its name here. Never rejects: a failure is an answer with `isError`. */
  call(name: string, args: unknown, options?: AcpCallOptions): Promise<ToolAnswer>;
  /** The answer to a prompt that is the command `/mcp`, as text; `undefined` when it is none. */
  command(prompt: string): Promise<string> | undefined;
  /** Takes up the list of `session/load` or `session/resume`: servers that are the same go on as they do. */
  update(list: unknown): Promise<void>;
  /** Ends every server. Never rejects; may be called twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Connects the servers an editor hands over in `session/new`, `load`, `resume` or `fork` (ACP 1 and the draft of 2, parsed by a
 * library or raw; missing is none) and returns at once. A bad entry costs itself and a notice; nothing of it is thrown.
 */
export function connectAcpServers(list: unknown, options: AcpServersOptions = {}): AcpServers {
  return new Connected(list, options);
}

interface Offered {
  readonly shown: AcpTool;
  readonly direct: DirectTool;
}

class Connected implements AcpServers {
  readonly session: McpSession;
  readonly availableCommand = MCP_COMMAND;
  readonly #options: AcpServersOptions;
  readonly #env: NodeJS.ProcessEnv;
  readonly #notices: Notices;
  readonly #names = new ToolNames();
  /** By server. */
  readonly #offered = new Map<string, readonly Offered[]>();
  readonly #starting = new Map<string, Promise<void>>();
  readonly #listeners = new Set<() => void>();
  #firstTurn: Promise<void> | undefined;
  #isClosed = false;

  constructor(list: unknown, options: AcpServersOptions) {
    const { cwd = process.cwd(), env = process.env, port, clientCapabilities } = options;
    const abilities = abilitiesOf(clientCapabilities);
    this.#options = options;
    this.#env = env;
    this.#notices = new Notices(port, abilities.showsNotices);
    const sessionId = () => this.#notices.sessionId;
    const elicit = elicitThrough(port, abilities, sessionId);
    const permission = permissionThrough(port, sessionId);
    const config = this.#read(list);
    this.session = createSession(
      config,
      { env, cwd },
      {
        ...(elicit && { elicit }),
        ...(permission && { permission }),
        toolsChanged: (server) => void this.#offer(server),
      },
    );
    for (const { name } of config.servers) this.#start(name);
  }

  bind(sessionId: string): void {
    this.#notices.bind(sessionId);
  }

  ready(signal?: AbortSignal): Promise<void> {
    this.#firstTurn ??= this.#awaitStart();
    return untilAborted(this.#firstTurn, signal).catch(() => {});
  }

  tools(): readonly AcpTool[] {
    return this.#all().map(({ shown }) => shown);
  }

  on(_event: "tools", listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async call(name: string, args: unknown, options: AcpCallOptions = {}): Promise<ToolAnswer> {
    const { toolCallId: id, signal, onProgress } = options;
    const tool = this.#all().find(({ shown }) => shown.name === name);
    if (tool) return tool.direct.run({ args, id, signal, onProgress });
    const text = `There is no MCP tool \`${visible(name)}\` in this session; its server may have been removed.`;
    return { content: [{ type: "text", text }], isError: true, details: { isError: true, category: "unknown-tool" } };
  }

  command(prompt: string): Promise<string> | undefined {
    return isMcpCommand(prompt) ? runMcpCommand(this.session, prompt) : undefined;
  }

  async update(list: unknown): Promise<void> {
    const config = this.#read(list);
    const updated = this.session.update(config);
    const names = new Set(config.servers.map(({ name }) => name));
    const gone = [...this.#offered.keys()].filter((name) => !names.has(name));
    for (const name of gone) this.#offered.delete(name);
    if (gone.length > 0) this.#tell();
    const { added, replaced } = await updated;
    for (const name of [...added, ...replaced]) this.#start(name);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    await this.session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #all(): Offered[] {
    return this.session.servers.flatMap(({ name }) => this.#offered.get(name) ?? []);
  }

  /** What the list says, with what is wrong in it told to the person. */
  #read(list: unknown): LoadedConfig {
    const { own = [], onConflict = "acp", permission = "yolo" } = this.#options;
    const taken = onConflict === "rename" ? own : [];
    const { servers, problems } = readAcpServers(list ?? [], { env: this.#env, taken });
    for (const problem of problems) this.#notices.say(noticeOf(problem));
    const isOwn = (name: string) => own.includes(name) && onConflict !== "rename";
    for (const { name } of servers.filter((server) => isOwn(server.name)))
      this.#notices.say(conflict(name, onConflict));
    const used = onConflict === "own" ? servers.filter(({ name }) => !isOwn(name)) : servers;
    return { servers: used, problems, permission: { mode: permission, rules: [], kept: [] } };
  }

  #start(name: string): void {
    const start = this.#offer(name).finally(() => {
      if (this.#starting.get(name) === start) this.#starting.delete(name);
    });
    this.#starting.set(name, start);
  }

  /** Lists a server's tools, which connects it, and offers them. Never rejects. */
  async #offer(name: string): Promise<void> {
    try {
      const tools = await this.session.listTools(name);
      if (this.#isClosed) return;
      this.#offered.set(name, this.#offersOf(name, tools));
      this.#tell();
    } catch (thrown) {
      if (!this.#isClosed) this.#sayFailed(name, thrown);
    }
  }

  #offersOf(server: string, tools: readonly ToolDefinition[]): Offered[] {
    const direct = directTools(this.session, server, tools, this.#names);
    return tools.flatMap(({ name: tool, annotations = {} }, index) => {
      const made = direct[index];
      if (made === undefined) return [];
      const { name, label: title, description, parameters: inputSchema } = made;
      const kind = kindOf(annotations);
      return [{ direct: made, shown: { name, server, tool, title, description, inputSchema, annotations, kind } }];
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #awaitStart(): Promise<void> {
    const limitMs = this.#options.firstTurnMs ?? firstTurnWaitMs(this.#env);
    await Promise.race([Promise.all(this.#starting.values()), pause(limitMs)]);
    if (this.#isClosed) return;
    for (const name of this.#starting.keys()) {
      const title = `MCP server "${visible(name)}" is still starting`;
      this.#notices.say({ severity: "info", title, description: "Its tools join when it is ready." });
    }
  }

  #sayFailed(name: string, thrown: unknown): void {
    const isSignIn = thrown instanceof McpServerError && thrown.category === "needs-auth";
    const what = isSignIn ? "needs sign-in" : "did not start";
    const description = `${messageOf(thrown)}. Run /mcp for more.`;
    this.#notices.say({
      severity: isSignIn ? "info" : "warning",
      title: `MCP server "${visible(name)}" ${what}`,
      description,
    });
  }
}

function noticeOf({ severity, message }: ConfigProblem): Notice {
  return {
    severity: severity === "error" ? "warning" : "info",
    title: "The editor's MCP servers",
    description: message,
  };
}

function conflict(name: string, winner: "acp" | "own" | "rename"): Notice {
  const used = winner === "own" ? "this agent's own is used" : "the editor's is used";
  return { severity: "info", title: `Two MCP servers are named "${visible(name)}"`, description: `${used}.` };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
