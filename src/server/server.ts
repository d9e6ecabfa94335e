import { expandTarget } from "../config/expand.ts";
import type { ServerConfig } from "../config/record.ts";
import { looksSecret } from "../config/secrets.ts";
import { createRedactor, type Redactor } from "../content/redact.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError, messageOf } from "../error.ts";
import { connect } from "../protocol/connect.ts";
import type { ConnectionRequest, Era, Listing, McpConnection } from "../protocol/connection.ts";
import { RequestCancelled } from "../protocol/errors.ts";
import type { ClientHandlers } from "../protocol/handlers.ts";
import type { CallToolResult, JsonObject, Progress, ToolDefinition } from "../protocol/types.ts";
import type { Transport } from "../transport/transport.ts";
import { CLIENT_INFO } from "../version.ts";
import { toServerError } from "./failure.ts";
import { handlersFor } from "./handlers.ts";
import { createTransport, type Surroundings } from "./open-transport.ts";
import type { ServerPort } from "./port.ts";
import { mayReplay } from "./replay.ts";
import { StartLimit } from "./start-limit.ts";

/** How many tool names an error lists. */
const NAMES_SHOWN = 40;
/** A server that is odd in more ways than this is odd. */
const MAX_NOTICES = 20;
const NOTICE_CHARS = 400;

export interface ServerRequest {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** One redactor for each way out: what may be taken from a result may be needed in a schema. */
interface Redactors {
  readonly errors: Redactor;
  readonly results: Redactor;
  readonly listings: Redactor;
}

interface Live {
  readonly connection: McpConnection;
  readonly transport: Transport;
  readonly redact: Redactors;
  /** Requests under way: a connection that is given up ends with the last of them. */
  users: number;
}

/**
 * Where a server is in its life. Transitions, each made in one place:
 *
 *   idle, stopped, failed, needs-auth  --a request or reconnect-->  starting      (#start)
 *   starting  --handshake done-->  ready                                          (#start)
 *   starting  --refused, timed out, exited-->  failed | needs-auth                (#start)
 *   ready  --process or session gone, reconnect-->  stopped                       (#leave)
 */
type Phase =
  | { readonly state: "idle" }
  | { readonly state: "starting"; readonly started: Promise<Live>; readonly abort: AbortController }
  | { readonly state: "ready"; readonly live: Live }
  | { readonly state: "failed" | "needs-auth"; readonly error: McpServerError }
  | { readonly state: "stopped"; readonly reason: string };

/** One configured server and at most one connection to it [S1-36]. */
export class Server {
  readonly config: ServerConfig;
  readonly #surroundings: Surroundings;
  readonly #port: ServerPort;
  readonly #limit = new StartLimit();
  #phase: Phase = { state: "idle" };
  /** Tools of the present connection, once listed. */
  #tools: readonly ToolDefinition[] | undefined;
  /** Why they could not be listed, though it is connected [E187]. */
  #listingTrouble: string | undefined;
  /** What it was last time, which saves asking. */
  #era: Era | undefined;
  #closed = false;
  readonly #handlers: ClientHandlers;
  readonly #notices = new Set<string>();
  /** Connections on their way out, which `close` waits for. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(config: ServerConfig, surroundings: Surroundings, port: ServerPort) {
    this.config = config;
    this.#surroundings = surroundings;
    this.#port = port;
    this.#handlers = handlersFor(config, port, {
      toolsChanged: () => this.#relist(),
      notice: (text) => this.#notice(text),
    });
  }

  get state(): Phase["state"] {
    return this.#phase.state;
  }

  get toolCount(): number | undefined {
    return this.#tools?.length;
  }

  knownTool(name: string): ToolDefinition | undefined {
    return this.#tools?.find((tool) => tool.name === name);
  }

  get pid(): number | undefined {
    return this.#phase.state === "ready" ? this.#phase.live.transport.pid : undefined;
  }

  get protocolVersion(): string | undefined {
    return this.#phase.state === "ready" ? this.#phase.live.connection.protocolVersion : undefined;
  }

  /** What was odd about it and has been mended, dropped or ignored: clean sentences, each once. */
  get notices(): readonly string[] {
    return [...this.#notices];
  }

  /** Why it is not running, when it has failed or stopped, or why its tools are not known. */
  get trouble(): string | undefined {
    if ("error" in this.#phase) return this.#phase.error.message;
    return "reason" in this.#phase ? this.#phase.reason : this.#listingTrouble;
  }

  async listTools(request: ServerRequest): Promise<readonly ToolDefinition[]> {
    const timeoutMs = request.timeoutMs ?? this.config.policy.startTimeoutMs;
    try {
      return await this.#run({ ...request, timeoutMs }, async (live, options) =>
        this.#keepTools(live, await live.connection.listTools(options)),
      );
    } catch (error) {
      if (this.state === "ready") this.#listingTrouble = messageOf(error);
      throw error;
    }
  }

  async callTool(tool: string, args: JsonObject | undefined, request: ServerRequest): Promise<CallToolResult> {
    this.#mustKnow(tool);
    const timeoutMs = request.timeoutMs ?? this.config.policy.callTimeoutMs;
    return this.#run({ ...request, timeoutMs }, async ({ connection, redact }, options) =>
      redact.results.json(await connection.callTool(tool, args, options)),
    );
  }

  /** A new connection in place of the old one, if there was one. Always allowed. */
  async reconnect(request: ServerRequest): Promise<void> {
    this.#limit.reset();
    await this.#disconnect("reconnecting");
    await this.#ready(request.signal);
  }

  /** Ends the connection and the process. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect("the session is closed");
  }

  #keepTools({ redact }: Live, listing: Listing<ToolDefinition>): readonly ToolDefinition[] {
    for (const notice of listing.notices) this.#notice(notice);
    this.#listingTrouble = undefined;
    this.#tools = listing.items.map((tool) => redact.listings.json(tool));
    return this.#tools;
  }

  #notice(text: string): void {
    const line = sanitizeLine(text, NOTICE_CHARS);
    if (this.#notices.has(line) || this.#notices.size >= MAX_NOTICES) return;
    this.#notices.add(line);
    this.#port.notice?.(this.config.name, line);
  }

  /** The server says its tools have changed. When they cannot be listed now, the last list stays [E185]. */
  async #relist(): Promise<void> {
    if (this.#phase.state !== "ready") return;
    await this.listTools({});
    this.#port.toolsChanged?.(this.config.name);
  }

  /** An unknown name is answered here when the tools are known: no round trip, and with the names there are. */
  #mustKnow(tool: string): void {
    if (this.state !== "ready" || !this.#tools || this.knownTool(tool)) return;
    const names = this.#tools.slice(0, NAMES_SHOWN).map(({ name }) => sanitizeLine(name, 100));
    const more = this.#tools.length > NAMES_SHOWN ? ", …" : "";
    const message = `MCP server \`${this.config.name}\` has no tool \`${sanitizeLine(tool, 100)}\` (available: ${names.join(", ")}${more})`;
    throw new McpServerError(this.config.name, "unknown-tool", message);
  }

  /** Runs one operation on a live connection, on a second one where the replay rule allows it. */
  async #run<T>(
    request: ServerRequest & ConnectionRequest,
    operate: (live: Live, options: ConnectionRequest) => Promise<T>,
  ) {
    for (let attempt = 1; ; attempt++) {
      const live = await this.#ready(request.signal);
      live.users++;
      try {
        return await operate(live, request);
      } catch (thrown) {
        const replay = mayReplay(thrown);
        // Calls beside this one get an answer of their own: the old connection is left to them.
        if (replay) this.#leave(live, messageOf(thrown));
        if (replay && attempt === 1) continue;
        throw toServerError(thrown, { config: this.config, redactor: live.redact.errors, during: "request" });
      } finally {
        live.users--;
        if (live.users === 0 && !this.#isCurrent(live)) this.#end(live);
      }
    }
  }

  /** The live connection; started if there is none, one start shared by all who wait for it [S1-41]. */
  async #ready(signal: AbortSignal | undefined): Promise<Live> {
    if (this.#closed) {
      throw new McpServerError(
        this.config.name,
        "connection",
        `MCP server \`${this.config.name}\`: the session is closed`,
      );
    }
    if (this.#phase.state === "ready") return this.#phase.live;
    const started = this.#phase.state === "starting" ? this.#phase.started : this.#start();
    try {
      return await abortable(started, signal);
    } catch (thrown) {
      const redactor = createRedactor([], "patterns");
      throw toServerError(thrown, { config: this.config, redactor, during: "initialize" });
    }
  }

  #start(): Promise<Live> {
    const seconds = this.#limit.waitSeconds();
    if (seconds > 0) {
      const message = `MCP server \`${this.config.name}\` was started too often and is left alone for ${seconds} s; reconnecting it by hand works at once`;
      return Promise.reject(new McpServerError(this.config.name, "connection", message));
    }
    this.#limit.started();
    const abort = new AbortController();
    this.#tools = undefined;
    this.#listingTrouble = undefined;
    const started = this.#connect(abort.signal).then(
      (live) => {
        this.#phase = { state: "ready", live };
        return live;
      },
      (error: McpServerError) => {
        this.#phase = { state: error.category === "needs-auth" ? "needs-auth" : "failed", error };
        throw error;
      },
    );
    // Whoever waits sees the rejection; when all have gone away it must not end the host.
    started.catch(() => {});
    this.#phase = { state: "starting", started, abort };
    return started;
  }

  async #connect(signal: AbortSignal): Promise<Live> {
    const { config } = this;
    const { target, secrets } = expandTarget(config.target, config.policy, this.#surroundings.env);
    const redact = {
      errors: createRedactor(secrets, "patterns"),
      results: createRedactor(secrets, config.policy.redactResults),
      listings: createRedactor(
        secrets.filter(({ key }) => looksSecret(key)),
        "values",
      ),
    };
    let transport: Transport | undefined;
    let live: Live | undefined;
    const open = async (flavor: "usual" | "sse") => {
      transport = await createTransport(target, flavor, config.policy, this.#surroundings);
      return transport;
    };
    try {
      const connection = await connect(open, {
        protocolVersion: config.policy.protocolVersion,
        clientInfo: CLIENT_INFO,
        timeoutMs: config.policy.startTimeoutMs,
        handlers: this.#handlers,
        knownEra: this.#era,
        signal,
        onClosed: (reason) => live && this.#stop(live, reason.message),
      });
      this.#era = connection.era;
      live = { connection, transport: transport as unknown as Transport, redact, users: 0 };
      return live;
    } catch (thrown) {
      const diagnostics = transport?.diagnostics() ?? "";
      await transport?.close();
      throw toServerError(thrown, { config, redactor: redact.errors, during: "initialize", diagnostics });
    }
  }

  #isCurrent(live: Live): boolean {
    return this.#phase.state === "ready" && this.#phase.live === live;
  }

  /** The connection is no longer used; the next request makes a new one. */
  #leave(live: Live, reason: string): void {
    if (this.#isCurrent(live)) this.#phase = { state: "stopped", reason };
  }

  /** The connection is over, and with it every request on it. */
  #stop(live: Live, reason: string): void {
    this.#leave(live, reason);
    this.#end(live);
  }

  #end(live: Live): void {
    this.#ending = Promise.all([this.#ending, live.connection.close()]);
  }

  async #disconnect(reason: string): Promise<void> {
    const phase = this.#phase;
    if (phase.state === "starting") {
      phase.abort.abort();
      // It may have become ready in the same moment: the phase is looked at again.
      await phase.started.catch(() => {});
    }
    if (this.#phase.state === "ready") this.#stop(this.#phase.live, reason);
    await this.#ending;
  }
}

/** Leaves a shared start when the waiter gives up; the start itself goes on for the others. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new RequestCancelled());
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
