import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { abilitiesOf, acpMcpCapabilities } from "../client.ts";
import { isMcpCommand, MCP_COMMAND } from "../command.ts";
import { type Notice, noticeUpdate } from "../notices.ts";
import { Pending } from "../pending.ts";
import { type ProxySession, ProxySessions } from "./sessions.ts";
import { keyOf, OWN_PREFIX, promptText, readMessage, type WireMessage } from "./wire.ts";

/** Requests that carry the editor's servers; what the agent answers is the session they are for. */
const SET_UPS: ReadonlySet<string> = new Set(["session/new", "session/load", "session/resume", "session/fork"]);
const ENDS: ReadonlySet<string> = new Set(["session/close", "session/delete"]);

export interface ProxyPort {
  /** A line without its end. */
  toAgent(line: Buffer | string): void;
  toEditor(line: Buffer | string): void;
  /** A session has a list, a new one or another: its process is to have it. */
  listed(session: ProxySession): void;
  /** What the session's process answers to the command; rejects when there is none, and when it is taken back. */
  command(session: ProxySession, text: string, signal: AbortSignal): Promise<string>;
}

interface SetUp {
  readonly list: unknown;
  /** Of an existing session. */
  readonly sessionId: string | undefined;
}

/**
 * Stands between an editor and its agent. Every line passes as it is but these: the editor's servers are taken out and kept, the
 * agent's capabilities say that servers are welcome, `/mcp` is answered and announced, and answers to requests of our own
 * end here. An agent that says it takes servers itself gets all lines as they are. Has no process and no socket.
 */
export class AcpProxy {
  readonly sessions = new ProxySessions();
  readonly #port: ProxyPort;
  readonly #asked = new Pending<string>();
  readonly #setUps = new Map<string, SetUp>();
  /** By session: the commands its agent announced last. */
  readonly #commands = new Map<string, readonly unknown[]>();
  /** By session: what takes back the command that is being answered. */
  readonly #answering = new Map<string, AbortController>();
  #initialize: string | undefined;
  #takesServers = false;
  #clientCapabilities: unknown;
  #nextId = 1;

  constructor(port: ProxyPort) {
    this.#port = port;
  }

  /** As the editor sent them in `initialize`. */
  get clientCapabilities(): unknown {
    return this.#clientCapabilities;
  }

  fromEditor(line: Buffer): void {
    const passed = this.#editorLine(line);
    if (passed !== undefined) this.#port.toAgent(passed);
  }

  fromAgent(line: Buffer): void {
    const message = readMessage(line);
    this.#port.toEditor(message === undefined ? line : this.#agentLine(line, message));
    if (message !== undefined && message.method === undefined) this.#answered(message);
  }

  /** What the agent gets of a line; `undefined`: nothing. */
  #editorLine(line: Buffer): Buffer | string | undefined {
    const message = readMessage(line);
    if (message === undefined) return line;
    const { id, method, params } = message;
    if (method === undefined) return this.#settle(message) ? undefined : line;
    if (this.#takesServers) return line;
    if (method === "initialize") {
      this.#initialize = keyOf(id);
      this.#clientCapabilities = params?.clientCapabilities;
    }
    if (SET_UPS.has(method) && isObject(params)) return this.#setUp(line, message, params);
    const session = this.sessions.get(String(params?.sessionId));
    if (session === undefined) return line;
    if (ENDS.has(method)) this.#forget(session);
    if (method === "session/cancel") this.#answering.get(session.id)?.abort();
    if (method !== "session/prompt" || !isMcpCommand(promptText(params))) return line;
    void this.#answerCommand(session, id, promptText(params));
    return undefined;
  }

  #agentLine(line: Buffer, message: WireMessage): Buffer | string {
    const { id, method, params, result } = message;
    if (method === "session/update") return this.#withCommand(message, params) ?? line;
    if (this.#initialize === undefined || keyOf(id) !== this.#initialize || !isObject(result)) return line;
    this.#initialize = undefined;
    this.#takesServers = takesServers(result);
    return this.#takesServers ? line : JSON.stringify(withCapabilities(message, result));
  }

  /** The agent has answered, and the editor has its answer. */
  #answered({ id, result, error }: WireMessage): void {
    const setUp = this.#setUps.get(keyOf(id));
    this.#setUps.delete(keyOf(id));
    if (setUp === undefined || error !== undefined) return;
    // Loading was answered with null once.
    const named = isObject(result) ? result.sessionId : undefined;
    const sessionId = typeof named === "string" ? named : setUp.sessionId;
    if (sessionId !== undefined) this.#begin(sessionId, setUp.list);
  }

  /** Asks the editor something. Rejects with its refusal, or when the request is taken back. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> {
    const id = `${OWN_PREFIX}${this.#nextId++}`;
    const sending = {
      send: () => this.#toEditor({ id, method, params }),
      cancel: () => this.#toEditor({ method: "$/cancel_request", params: { requestId: id } }),
    };
    return this.#asked.wait(id, sending, signal);
  }

  update(session: ProxySession, update: JsonObject): void {
    this.#toEditor({ method: "session/update", params: { sessionId: session.id, update } });
  }

  say(session: ProxySession, notice: Notice): void {
    this.update(session, noticeUpdate(notice, abilitiesOf(this.#clientCapabilities).showsNotices));
  }

  #toEditor(message: object): void {
    this.#port.toEditor(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Whether it was an answer to a request of ours. */
  #settle({ id, result, error }: WireMessage): boolean {
    const asked = this.#asked.take(id);
    // One that came too late is nobody's, and never the agent's.
    if (asked === undefined) return typeof id === "string" && id.startsWith(OWN_PREFIX);
    if (error === undefined) asked.resolve(result);
    else asked.reject(new Error("the editor refused"));
    return true;
  }

  #setUp(line: Buffer, message: WireMessage, params: JsonObject): Buffer | string {
    const { mcpServers: list } = params;
    const known = typeof params.sessionId === "string" ? params.sessionId : undefined;
    // Of a fork it is the session it comes from.
    const sessionId = message.method === "session/fork" ? undefined : known;
    // Its process may call before the agent answers, and is not to start what is gone.
    const session = sessionId === undefined ? undefined : this.sessions.get(sessionId);
    if (session !== undefined) session.list = list ?? [];
    this.#setUps.set(keyOf(message.id), { list: list ?? [], sessionId });
    if (!Array.isArray(list) || list.length === 0) return line;
    return JSON.stringify({ ...message, params: { ...params, mcpServers: [] } });
  }

  /** The editor knows the session by now. */
  #begin(sessionId: string, list: unknown): void {
    const session = this.sessions.set(sessionId, list);
    this.#port.listed(session);
    if (hasCommand(session)) this.#announce(session, this.#commands.get(sessionId) ?? []);
  }

  #forget(session: ProxySession): void {
    this.sessions.delete(session.id);
    this.#commands.delete(session.id);
  }

  #announce(session: ProxySession, commands: readonly unknown[]): void {
    this.update(session, {
      sessionUpdate: "available_commands_update",
      availableCommands: withMcp(commands),
    });
  }

  /** The agent's announcement of its commands with ours among them. `undefined`: the line stays as it is. */
  #withCommand(message: WireMessage, params: JsonObject | undefined): string | undefined {
    const { sessionId, update } = params ?? {};
    if (!isObject(update) || update.sessionUpdate !== "available_commands_update") return undefined;
    const commands = Array.isArray(update.availableCommands) ? update.availableCommands : [];
    this.#commands.set(String(sessionId), commands);
    const session = this.sessions.get(String(sessionId));
    if (session === undefined || !hasCommand(session)) return undefined;
    const changed = { ...update, availableCommands: withMcp(commands) };
    return JSON.stringify({ ...message, params: { ...params, update: changed } });
  }

  async #answerCommand(session: ProxySession, id: WireMessage["id"], text: string): Promise<void> {
    const run = new AbortController();
    this.#answering.set(session.id, run);
    const answer = await this.#port.command(session, text, run.signal).catch((error: Error) => error.message);
    if (this.#answering.get(session.id) === run) this.#answering.delete(session.id);
    if (run.signal.aborted) return this.#toEditor({ id, result: { stopReason: "cancelled" } });
    this.update(session, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: answer } });
    this.#toEditor({ id, result: { stopReason: "end_turn" } });
  }
}

/** Whether `/mcp` has something to show in it: the editor's servers, or what the extension has. */
function hasCommand({ list, hasCalled }: ProxySession): boolean {
  return hasCalled || (Array.isArray(list) && list.length > 0);
}

/** Whether an agent connects servers of editors itself. */
function takesServers({ agentCapabilities, capabilities }: JsonObject): boolean {
  const { mcpCapabilities: mcp } = isObject(agentCapabilities) ? agentCapabilities : {};
  const { session } = isObject(capabilities) ? capabilities : {};
  if (isObject(session) && isObject(session.mcp)) return Object.keys(session.mcp).length > 0;
  return isObject(mcp) && (mcp.http === true || mcp.sse === true);
}

function withMcp(commands: readonly unknown[]): readonly unknown[] {
  return [...commands.filter((command) => !(isObject(command) && command.name === MCP_COMMAND.name)), MCP_COMMAND];
}

/** An agent behind this proxy takes servers, whatever it says itself. It is spoken to in the version it answered. */
function withCapabilities(message: WireMessage, result: JsonObject): WireMessage {
  if (Number(result.protocolVersion) >= 2) {
    const { session, ...others } = isObject(result.capabilities) ? result.capabilities : {};
    const of = isObject(session) ? session : {};
    const capabilities = { ...others, session: { ...of, mcp: acpMcpCapabilities({ protocol: 2 }) } };
    return { ...message, result: { ...result, capabilities } };
  }
  const own = isObject(result.agentCapabilities) ? result.agentCapabilities : {};
  const mcp = isObject(own.mcpCapabilities) ? own.mcpCapabilities : {};
  const agentCapabilities = { ...own, mcpCapabilities: { ...mcp, ...acpMcpCapabilities({ protocol: 1 }) } };
  return { ...message, result: { ...result, agentCapabilities } };
}
