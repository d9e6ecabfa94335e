import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import type { ChannelAddress, SessionIdentity } from "../channel.ts";
import { type Notice, noticeOfText } from "../notices.ts";
import { Peer } from "../peer.ts";
import { SOCKET_NAME } from "./left-folders.ts";
import type { AcpProxy } from "./proxy.ts";
import type { ProxySession } from "./sessions.ts";

const TOKEN_BYTES = 32;
/** Whoever has not said who it is by then is none of ours. */
const HELLO_MS = 5_000;
/** An agent's process calls while it starts, which it has done when the editor has its session. */
const CALL_MS = 5_000;
/** `/mcp reconnect` may have to wait for a server. */
const COMMAND_MS = 90_000;

const NO_EXTENSION = "pi-mcp is not loaded in this agent. In pi: `pi install npm:pi-mcp`.";
const NOT_RUNNING = "The agent of this session is not running. It starts again with the next prompt.";

/** A process of the agent that has called. */
interface Caller {
  readonly peer: Peer;
  readonly identity: SessionIdentity;
  session?: ProxySession;
  /** What it has for the editor, as long as that does not know the session. */
  waiting: Notice[];
}

/** Where the extension in the agent's processes calls: a private socket, and a token that only they are given. */
export class ProxyDoor {
  readonly #server: Server;
  readonly #token = randomBytes(TOKEN_BYTES).toString("hex");
  readonly #callers = new Set<Caller>();
  /** By session: stops waiting for a process of it. */
  readonly #expecting = new Map<ProxySession, () => void>();
  #proxy: AcpProxy | undefined;

  constructor() {
    this.#server = createServer((socket) => this.#greet(socket));
  }

  /** Listens in a folder of its owner alone; on Windows the pipe's name is what nobody can guess. */
  async listen(folder: string): Promise<ChannelAddress> {
    const name = randomBytes(12).toString("hex");
    const socket = process.platform === "win32" ? `\\\\.\\pipe\\pi-mcp-${name}` : join(folder, SOCKET_NAME);
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(socket, resolve);
    });
    this.#server.unref();
    return { socket, token: this.#token };
  }

  serve(proxy: AcpProxy): void {
    this.#proxy = proxy;
  }

  /** A session has a list: its process gets it now, or when it calls. */
  listed(session: ProxySession): void {
    for (const caller of this.#callers) {
      if (caller.session === undefined) this.#recognize(caller);
      else if (caller.session === session) this.#hand(caller, session);
    }
    const names = namesOf(session.list);
    if (names.length > 0 && !session.hasCalled) this.#expect(session, names);
  }

  /** Rejects with a sentence when the session's process is not there. */
  async command(session: ProxySession, text: string, signal: AbortSignal): Promise<string> {
    const caller = [...this.#callers].findLast((each) => each.session === session);
    if (caller === undefined) throw new Error(session.hasCalled ? NOT_RUNNING : NO_EXTENSION);
    const limit = AbortSignal.timeout(COMMAND_MS);
    const answer = await caller.peer.request("command", { text }, AbortSignal.any([signal, limit])).catch((error) => {
      throw limit.aborted ? new Error(`There is no answer after ${COMMAND_MS / 1_000} s.`) : error;
    });
    return typeof answer === "string" ? answer : "";
  }

  close(): void {
    for (const stop of this.#expecting.values()) stop();
    for (const { peer } of this.#callers) peer.close();
    this.#server.close();
  }

  #greet(socket: Socket): void {
    let caller: Caller | undefined;
    const tooLate = setTimeout(() => socket.destroy(), HELLO_MS).unref();
    const peer = new Peer(socket, {
      notify: (method, params) => {
        if (caller !== undefined) this.#told(caller, method, params);
        else if (method === "hello" && this.#isInvited(params)) {
          clearTimeout(tooLate);
          caller = { peer, identity: identityOf(params), waiting: [] };
          this.#callers.add(caller);
          this.#proxy?.sessions.note(caller.identity);
          this.#recognize(caller);
        } else socket.destroy();
      },
      request: async (method, params, signal) => {
        if (caller === undefined) throw new Error("who is it?");
        return this.#asked(caller, method, params, signal);
      },
      closed: () => {
        clearTimeout(tooLate);
        if (caller) this.#callers.delete(caller);
      },
    });
  }

  #isInvited(params: unknown): boolean {
    const given = Buffer.from(isObject(params) && typeof params.token === "string" ? params.token : "");
    const token = Buffer.from(this.#token);
    return given.length === token.length && timingSafeEqual(given, token);
  }

  /** Whose process it is may be known only when the agent has answered the editor. */
  #recognize(caller: Caller): void {
    const session = this.#proxy?.sessions.find(caller.identity);
    if (session === undefined) return;
    caller.session = session;
    session.hasCalled = true;
    if (caller.identity.sessionFile !== undefined) session.file = caller.identity.sessionFile;
    this.#hand(caller, session);
    for (const notice of caller.waiting) this.#proxy?.say(session, notice);
    caller.waiting = [];
  }

  #hand({ peer }: Caller, session: ProxySession): void {
    peer.notify("servers", { servers: session.list, clientCapabilities: this.#proxy?.clientCapabilities });
  }

  #told({ session, waiting }: Caller, method: string, params: unknown): void {
    if (method !== "say" || !isObject(params) || typeof params.text !== "string") return;
    const notice = noticeOfText(params.text, params.severity === "info" ? "info" : "warning");
    if (session === undefined) waiting.push(notice);
    else this.#proxy?.say(session, notice);
  }

  async #asked({ session }: Caller, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const acp = ASKED.get(method);
    if (acp === undefined || session === undefined || !isObject(params)) throw new Error(`cannot ask for ${method}`);
    // The editor knows the session by the id it was given, whatever the agent calls it by now.
    const own: JsonObject = { ...params, sessionId: session.id };
    return this.#proxy?.ask(acp, own, signal);
  }

  /** Says so once when nobody calls for a session that has servers. */
  #expect(session: ProxySession, names: readonly string[]): void {
    this.#expecting.get(session)?.();
    const timer = setTimeout(() => {
      this.#expecting.delete(session);
      if (session.hasCalled || this.#proxy?.sessions.get(session.id) !== session) return;
      this.#proxy?.say(session, {
        severity: "warning",
        title: `The editor's MCP servers are not connected: ${names.join(", ")}`,
        description: NO_EXTENSION,
      });
    }, CALL_MS).unref();
    this.#expecting.set(session, () => clearTimeout(timer));
  }
}

const ASKED: ReadonlyMap<string, string> = new Map([
  ["permission", "session/request_permission"],
  ["elicitation", "elicitation/create"],
]);

/** As the editor calls them. */
function namesOf(list: unknown): string[] {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  return entries.map((entry) => (isObject(entry) && typeof entry.name === "string" ? entry.name : "(unnamed)"));
}

function identityOf(params: unknown): SessionIdentity {
  const { sessionId, sessionFile } = isObject(params) ? params : {};
  return {
    ...(typeof sessionId === "string" && { sessionId }),
    ...(typeof sessionFile === "string" && { sessionFile }),
  };
}
