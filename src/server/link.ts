import { expandTarget } from "../config/expand.ts";
import type { ServerConfig } from "../config/record.ts";
import { createRedactor, type Redactor } from "../content/redact.ts";
import { McpServerError, messageOf } from "../error.ts";
import { connect } from "../protocol/connect.ts";
import type { Era, McpConnection } from "../protocol/connection.ts";
import { RequestCancelled } from "../protocol/errors.ts";
import type { ClientHandlers } from "../protocol/handlers.ts";
import { untilAborted } from "../protocol/pause.ts";
import { type Transport, TransportError } from "../transport/transport.ts";
import { CLIENT_INFO } from "../version.ts";
import { toServerError } from "./failure.ts";
import { createTransport, type Surroundings } from "./open-transport.ts";
import { isGone, mayReplay } from "./replay.ts";
import { SleepDetector } from "./sleep-detector.ts";
import { StartLimit } from "./start-limit.ts";

export interface Live {
  readonly connection: McpConnection;
  readonly transport: Transport;
  /** One redactor for each way out: what may be taken from a result may be needed in a listing. */
  readonly redact: { readonly errors: Redactor; readonly results: Redactor; readonly listings: Redactor };
  /** Requests under way: a connection that is given up ends with the last of them. */
  users: number;
}

/**
 * Where a server is in its life. Transitions, each made in one place:
 *
 *   idle, failed, needs-auth, stopped  --a request, reconnect-->  starting   (#start)
 *   starting  --handshake done-->  ready                                     (#start)
 *   starting  --refused, timed out, exited-->  failed | needs-auth           (#start)
 *   starting  --reconnect, close-->  stopped                                 (#start)
 *   ready  --process or session gone, reconnect, close-->  stopped           (#leave)
 *   ready  --401-->  needs-auth                                              (#note)
 *   ready  --not reachable, cut off-->  stopped, the session kept  --a request-->  ready   (#note, #ready)
 */
type Phase =
  | { readonly state: "idle" }
  | { readonly state: "starting"; readonly started: Promise<Live>; readonly abort: AbortController }
  | { readonly state: "ready"; readonly live: Live }
  | { readonly state: "failed" | "needs-auth"; readonly error: McpServerError }
  | { readonly state: "stopped"; readonly reason: string; readonly kept?: Live };

/** For the first answer after a sleep. */
const WAKE_LIMIT_MS = 3_000;

const CLOSED = "the session is closed";

/** One server's connection: at most one at a time [S1-36], made when it is needed, given up when it is gone. */
export class Link {
  readonly #config: ServerConfig;
  readonly #surroundings: Surroundings;
  readonly #handlers: ClientHandlers;
  readonly #limit = new StartLimit();
  readonly #sleep = new SleepDetector();
  /** While a connection is asked whether it has survived a sleep. */
  #waking: Promise<void> | undefined;
  #phase: Phase = { state: "idle" };
  /** What it was last time, which saves asking. */
  #era: Era | undefined;
  /** All connections that have not ended yet, also those that are left to their last requests. */
  readonly #lives = new Set<Live>();
  #closed = false;
  /** Connections on their way out, which `close` and the next start wait for. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(config: ServerConfig, surroundings: Surroundings, handlers: ClientHandlers) {
    this.#config = config;
    this.#surroundings = surroundings;
    this.#handlers = handlers;
  }

  get state(): Phase["state"] {
    return this.#phase.state;
  }

  get live(): Live | undefined {
    return this.#phase.state === "ready" ? this.#phase.live : undefined;
  }

  /** Why it is not running, when it has failed or stopped. */
  get trouble(): string | undefined {
    if ("error" in this.#phase) return this.#phase.error.message;
    return "reason" in this.#phase ? this.#phase.reason : undefined;
  }

  /**
   * Runs one operation on a live connection, on a second one where the replay rule allows it. Rejects with
   * McpServerError.
   */
  async use<T>(signal: AbortSignal | undefined, operate: (live: Live) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const live = await this.#ready(signal);
      live.users++;
      try {
        return await operate(live);
      } catch (thrown) {
        const error = toServerError(thrown, {
          config: this.#config,
          redactor: live.redact.errors,
          during: "request",
          attempts: attempt,
        });
        this.#note(live, thrown, error);
        if (attempt > 1 || !mayReplay(thrown)) throw error;
      } finally {
        live.users--;
        if (live.users === 0 && !this.#holds(live)) this.#end(live);
      }
    }
  }

  /** A new connection in place of the old one, if there was one. Always allowed. */
  async reconnect(signal: AbortSignal | undefined): Promise<void> {
    this.#limit.reset();
    await this.#disconnect("reconnecting");
    await this.#ready(signal);
  }

  /** Ends the connection and the process. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect(CLOSED);
    for (const live of this.#lives) this.#end(live);
    await this.#ending;
  }

  /** The live connection; started if there is none, one start shared by all who wait for it [S1-41]. */
  async #ready(signal: AbortSignal | undefined): Promise<Live> {
    for (;;) {
      if (this.#closed) throw this.#failure("connection", CLOSED);
      if (signal?.aborted) throw this.#failure("cancelled", "the request was cancelled");
      if (this.#phase.state === "stopped" && this.#phase.kept) {
        this.#phase = { state: "ready", live: this.#phase.kept };
      }
      if (this.#phase.state === "ready") {
        const { live } = this.#phase;
        if (this.#sleep.hasSlept()) this.#waking ??= this.#wake(live);
        if (!this.#waking) return live;
        await untilAborted(this.#waking, signal).catch(() => {});
        continue;
      }
      const { started, abort } = this.#phase.state === "starting" ? this.#phase : this.#start();
      try {
        return await untilAborted(started, signal);
      } catch (thrown) {
        // Another start takes the place of this one, or none: the next look tells.
        if (abort.signal.aborted && !signal?.aborted) continue;
        if (thrown instanceof RequestCancelled) throw this.#failure("cancelled", "the request was cancelled");
        throw thrown;
      }
    }
  }

  /** After a sleep a connection may be dead without anybody having been told: it is asked before it is trusted [E037]. */
  async #wake(live: Live): Promise<void> {
    // A limit of its own: the clock of the request stands still while a person is asked something.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), WAKE_LIMIT_MS);
    try {
      await live.connection.ping({ timeoutMs: 2 * WAKE_LIMIT_MS, signal: limit.signal });
    } catch {
      this.#stop(live, "it did not answer after this computer had slept");
    } finally {
      clearTimeout(timer);
      this.#waking = undefined;
    }
  }

  #start(): { started: Promise<Live>; abort: AbortController } {
    const seconds = this.#limit.waitSeconds();
    if (seconds > 0) {
      const text = `it was started too often and is left alone for ${seconds} s; reconnecting it by hand works at once`;
      throw this.#failure("connection", text);
    }
    this.#limit.started();
    const abort = new AbortController();
    const started = this.#connect(abort.signal).then(
      (live) => {
        this.#phase = { state: "ready", live };
        return live;
      },
      (error: McpServerError) => {
        if (abort.signal.aborted) this.#phase = { state: "stopped", reason: String(abort.signal.reason) };
        else this.#phase = { state: error.category === "needs-auth" ? "needs-auth" : "failed", error };
        throw error;
      },
    );
    // Whoever waits sees the rejection; when all have gone away it must not end the host.
    started.catch(() => {});
    this.#phase = { state: "starting", started, abort };
    return { started, abort };
  }

  async #connect(signal: AbortSignal): Promise<Live> {
    // Never two processes of one server, not even while the old one takes its time to end.
    await this.#ending;
    const config = this.#config;
    const { target, secrets, unset, commands } = expandTarget(config.target, config.policy, this.#surroundings.env);
    const redact = {
      errors: createRedactor(secrets, "patterns"),
      results: createRedactor(secrets, config.policy.redactResults),
      listings: createRedactor(secrets, "values"),
    };
    let transport: Transport | undefined;
    let live: Live | undefined;
    const open = async (flavor: "usual" | "sse"): Promise<Transport> => {
      const notice = (text: string) => this.#handlers.notice?.(text);
      transport = await createTransport(target, flavor, config, this.#surroundings, {
        notice,
        redactor: redact.errors,
      });
      return transport;
    };
    try {
      if (commands.length > 0) throw new Error(commandRefusal(commands, config));
      const connection = await connect(open, {
        protocolVersion: config.policy.protocolVersion,
        clientInfo: CLIENT_INFO,
        timeoutMs: config.policy.startTimeoutMs,
        listLimit: config.policy.listLimit,
        handlers: this.#handlers,
        knownEra: this.#era,
        signal,
        onClosed: (reason) => live && this.#stop(live, reason.message),
      });
      this.#era = connection.era;
      live = { connection, transport: transport as unknown as Transport, redact, users: 0 };
      this.#lives.add(live);
      return live;
    } catch (thrown) {
      const diagnostics = transport?.diagnostics() ?? "";
      await transport?.close();
      throw toServerError(thrown, { config, redactor: redact.errors, during: "initialize", diagnostics, unset });
    }
  }

  /** What a failed request tells of the connection it was made on. */
  #note(live: Live, thrown: unknown, error: McpServerError): void {
    if (!(thrown instanceof TransportError) || this.live !== live) return;
    // Calls beside this one get an answer of their own: the old connection is left to them.
    if (isGone(thrown)) this.#leave(live, messageOf(thrown));
    else if (thrown.failure === "unauthorized") this.#phase = { state: "needs-auth", error };
    else if (thrown.failure === "unreachable" || thrown.failure === "ended") {
      this.#phase = { state: "stopped", reason: error.message, kept: live };
    }
  }

  /** Whether the connection is the present one, or is kept for the next request. */
  #holds(live: Live): boolean {
    return this.live === live || (this.#phase.state === "stopped" && this.#phase.kept === live);
  }

  /** The connection is no longer used; the next request makes a new one. */
  #leave(live: Live, reason: string): void {
    if (this.#holds(live)) this.#phase = { state: "stopped", reason };
  }

  /** The connection is over, and with it every request on it. */
  #stop(live: Live, reason: string): void {
    this.#leave(live, reason);
    this.#end(live);
  }

  #end(live: Live): void {
    this.#lives.delete(live);
    this.#ending = Promise.all([this.#ending, live.connection.close()]);
  }

  async #disconnect(reason: string): Promise<void> {
    const phase = this.#phase;
    if (phase.state === "starting") {
      phase.abort.abort(reason);
      // It may have become ready in the same moment: the phase is looked at again.
      await phase.started.catch(() => {});
    }
    const live = this.#phase.state === "stopped" ? this.#phase.kept : this.live;
    if (live) this.#stop(live, reason);
    await this.#ending;
  }

  #failure(category: McpServerError["category"], text: string): McpServerError {
    return new McpServerError(this.#config.name, category, `MCP server \`${this.#config.name}\`: ${text}`);
  }
}

/** Sent as it stands, such a value would be a wrong password at best. */
function commandRefusal(names: readonly string[], { source: { file, line } }: ServerConfig): string {
  const list = names.map((name) => `"${name}"`).join(", ");
  return `the value of ${list} is a command ("!…"), and commands in a configuration are not run. Set a variable to its output and write "\${NAME}" for the value, in ${file}:${line}`;
}
