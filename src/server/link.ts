import type { ServerConfig } from "../config/record.ts";
import { McpServerError, messageOf } from "../error.ts";
import type { Era } from "../protocol/connection.ts";
import { RequestCancelled, RequestTimeout, RpcError } from "../protocol/errors.ts";
import type { ClientHandlers } from "../protocol/handlers.ts";
import { untilAborted } from "../protocol/pause.ts";
import { TransportError } from "../transport/transport.ts";
import { cancelled, lastWords, toServerError } from "./failure.ts";
import type { Live } from "./live.ts";
import { Lives } from "./lives.ts";
import { type AuthorizedSurroundings, openLive } from "./open-live.ts";
import { isGone } from "./replay.ts";
import { SleepDetector } from "./sleep-detector.ts";
import { StartLimit } from "./start-limit.ts";
import { assertTransition, type State, type StateAfter, type StateEvent } from "./states.ts";
import { Watch } from "./watch.ts";

type Phase =
  | { readonly state: "idle" }
  | { readonly state: "starting"; readonly started: Promise<Live>; readonly abort: AbortController }
  | { readonly state: "ready"; readonly live: Live }
  | { readonly state: "failed"; readonly error: McpServerError }
  | { readonly state: "needs-auth"; readonly error: McpServerError }
  | { readonly state: "stopped"; readonly reason: string; readonly kept?: Live };

/** For the first answer after a sleep. */
const WAKE_LIMIT_MS = 3_000;
/** For the tools of a server that is checked; after that, for its answer to a ping. */
const CHECK_LIMIT_MS = 10_000;
const MINUTE_MS = 60_000;

const CLOSED = "the session is closed";

/** The request was not sent: another link has taken the place of this one, and it may be asked instead. */
export class Replaced extends McpServerError {}

export interface LinkOptions {
  /** The end of another link to this server, for which the first start waits. */
  readonly predecessor?: Promise<unknown> | undefined;
  /** What the server was in an earlier session. */
  formerEra?(): Era | undefined;
  /** A new connection stands. Must not throw. */
  connected?(live: Live): void;
  /** After each change of the state. */
  moved?(): void;
}

/** How a request failed on a connection. */
export interface LinkFailure {
  readonly thrown: unknown;
  /** The same as it is told. */
  readonly error: McpServerError;
  readonly isListing: boolean;
}

/**
 * One server's connection: at most one at a time [S1-36], made when it is needed, given up when it is gone. The states it
 * goes through are those of states.ts.
 */
export class Link {
  #config: ServerConfig;
  readonly #surroundings: AuthorizedSurroundings;
  readonly #handlers: ClientHandlers;
  readonly #limit: StartLimit;
  readonly #sleep = new SleepDetector();
  readonly #watch: Watch;
  /** While a connection is asked whether it has survived a sleep. */
  #waking: Promise<void> | undefined;
  #checking = false;
  #phase: Phase = { state: "idle" };
  /** What it was last time, which saves asking. */
  #era: Era | undefined;
  readonly #options: LinkOptions;
  readonly #lives: Lives;
  /** The last one there was: what its process has said outlives it. */
  #last: Live | undefined;
  readonly #closing = new AbortController();
  /** Set when it takes no more requests. */
  #over: { readonly reason: string; readonly isReplaced: boolean } | undefined;

  constructor(
    config: ServerConfig,
    surroundings: AuthorizedSurroundings,
    handlers: ClientHandlers,
    options: LinkOptions = {},
  ) {
    this.#options = options;
    this.#config = config;
    this.#surroundings = surroundings;
    this.#handlers = handlers;
    this.#lives = new Lives(options.predecessor ?? Promise.resolve());
    const { retry, idleTimeoutMs, healthCheckMs } = config.policy;
    this.#limit = new StartLimit(retry.reconnectsInARow);
    const minutes = idleTimeoutMs / MINUTE_MS;
    const idle = `it was not used for ${minutes < 1 ? `${idleTimeoutMs / 1_000} s` : `${Math.round(minutes)} min`}`;
    this.#watch = new Watch({
      idleTimeoutMs,
      healthCheckMs,
      idle: () => this.live && !this.live.isUsed && this.#endIdle(this.live, idle),
      check: () => this.live && void this.#check(this.live),
    });
  }

  /** The same entry, which stands elsewhere now: errors name the place. */
  relocate(config: ServerConfig): void {
    this.#config = config;
  }

  /** Aborts when the link takes no more requests. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether it has ended without another in its place. */
  get isClosed(): boolean {
    return this.#over !== undefined && !this.#over.isReplaced;
  }

  get state(): State {
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

  /** The last that its process has said beside the protocol: clean text without secrets. */
  get words(): string {
    if ("error" in this.#phase && this.#phase.error.diagnostics !== "") return this.#phase.error.diagnostics;
    return this.#last === undefined ? "" : lastWords(this.#last.transport.diagnostics(), this.#last.redact.errors);
  }

  /** A new connection in place of the old one, if there was one. Always allowed. */
  async reconnect(signal: AbortSignal | undefined): Promise<void> {
    this.#limit.reset();
    await this.#disconnect("reconnecting");
    await this.ready(signal);
  }

  /** Ends the connection and the process, for the reason that is told to requests under way. Never rejects. */
  async close(reason = CLOSED): Promise<void> {
    this.#over = { reason, isReplaced: false };
    this.#closing.abort();
    await this.#disconnect(reason);
    this.#lives.endAll("all");
    await this.#lives.ended();
  }

  /**
   * Gives way to another link. Requests that were not sent yet fail with `Replaced`; those under way end as they would,
   * and their connection with the last of them. `idle` resolves when all has ended that no request holds,
   * `gone` when everything has. Neither rejects.
   */
  retire(): { readonly idle: Promise<void>; readonly gone: Promise<void> } {
    const reason = "its configuration has changed";
    this.#over = { reason, isReplaced: true };
    this.#closing.abort();
    const idle = this.#giveUp(reason);
    return { idle, gone: idle.then(() => this.#lives.drained()) };
  }

  async #giveUp(reason: string): Promise<void> {
    await this.#abortStart(reason);
    const live = this.#present();
    if (live) this.#leave(live, reason);
    this.#lives.endAll("unused");
    await this.#lives.ended();
  }

  /** A connection that was closed from here says no more than that: the reason is known here. */
  why(thrown: unknown): unknown {
    if (!(thrown instanceof TransportError) || thrown.failure !== "ended") return thrown;
    if (this.#over === undefined || this.#over.isReplaced) return thrown;
    return new TransportError(thrown.failure, this.#over.reason, thrown.delivery);
  }

  /** The live connection; started if there is none, one start shared by all who wait for it [S1-41]. */
  async ready(signal: AbortSignal | undefined): Promise<Live> {
    for (;;) {
      if (this.#over?.isReplaced) throw new Replaced(this.#config.name, "connection", this.#over.reason);
      if (this.#over) throw this.#failure(this.#over.reason);
      if (signal?.aborted) throw cancelled(this.#config);
      if (this.#phase.state === "stopped" && this.#phase.kept) {
        this.#move("resumed", { state: "ready", live: this.#phase.kept });
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
        throw thrown instanceof RequestCancelled ? cancelled(this.#config) : thrown;
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

  /** Whether a connection nobody uses still works. One that does not is taken down; its HTTP session is kept [S3-08…14]. */
  async #check(live: Live): Promise<void> {
    if (live.isUsed || this.#checking) return;
    this.#checking = true;
    try {
      await live.connection.check({ timeoutMs: Math.min(CHECK_LIMIT_MS, this.#config.policy.startTimeoutMs) });
    } catch (thrown) {
      // A request that has come meanwhile tells by itself how things are.
      if (this.live !== live || live.isUsed) return;
      const error = toServerError(thrown, { config: this.#config, redactor: live.redact.errors, during: "request" });
      if (isUnauthorized(thrown, error)) this.#deny(error);
      else if (!live.transport.hasSession || !live.transport.rest) this.#leave(live, error.message);
      else {
        this.#part(live, error.message);
        await live.transport.rest();
      }
      // A request may have gone on in its session meanwhile, and whoever makes the last one ends it.
      if (!this.#holds(live) && !live.isUsed) this.#lives.end(live);
    } finally {
      this.#checking = false;
    }
  }

  #start(): { started: Promise<Live>; abort: AbortController } {
    const refusal = this.#limit.refusal();
    if (refusal !== undefined) throw this.#failure(refusal);
    this.#limit.started();
    const abort = new AbortController();
    const started = this.#connect(abort.signal).then(
      (live) => {
        this.#move("shaken", { state: "ready", live });
        this.#options.connected?.(live);
        return live;
      },
      (error: McpServerError) => {
        if (abort.signal.aborted) this.#move("abandoned", { state: "stopped", reason: String(abort.signal.reason) });
        else if (error.category === "needs-auth") this.#deny(error);
        else this.#move("refused", { state: "failed", error });
        throw error;
      },
    );
    // Whoever waits sees the rejection; when all have gone away it must not end the host.
    started.catch(() => {});
    this.#move("start", { state: "starting", started, abort });
    return { started, abort };
  }

  async #connect(signal: AbortSignal): Promise<Live> {
    await this.#lives.makeRoom(this.#config.policy.startTimeoutMs, signal);
    if (signal.aborted) throw cancelled(this.#config);
    const live = await openLive(this.#config, this.#surroundings, {
      handlers: this.#handlers,
      knownEra: this.#era ?? this.#options.formerEra?.(),
      signal,
      onClosed: (ended, reason) => this.#stop(ended, reason.message),
    });
    this.#era = live.connection.era;
    this.#lives.add(live);
    return live;
  }

  /** A call was answered on it: the server is of use. */
  answered(): void {
    this.#limit.answered();
  }

  /**
   * A request on this connection is over, and has failed if `failure` says how. Tells whether the next one would be made on
   * the same connection.
   */
  release(live: Live, failure?: LinkFailure): boolean {
    live.leave();
    this.#watch.used();
    if (failure && this.live === live) this.#note(live, failure);
    const isHeld = this.#holds(live);
    if (!live.isUsed && !isHeld) this.#lives.end(live);
    return isHeld;
  }

  /** What a failed request tells of its connection. Calls beside it get answers of their own: one that is left is left to them. */
  #note(live: Live, { thrown, error, isListing }: LinkFailure): void {
    const { freshAfterFailure } = this.#config.policy;
    if (thrown instanceof TransportError) {
      if (isGone(thrown)) this.#leave(live, messageOf(thrown));
      else if (isUnauthorized(thrown, error)) this.#deny(error);
      else if (freshAfterFailure && thrown.delivery !== "rejected") this.#leave(live, error.message);
      else if (thrown.failure === "unreachable" || thrown.failure === "ended") {
        this.#part(live, error.message);
      }
    } else if (freshAfterFailure && (thrown instanceof RequestTimeout || (thrown instanceof RpcError && !isListing))) {
      // It is we who part from it.
      if (thrown instanceof RpcError) this.#limit.forgive();
      this.#leave(live, error.message);
    }
  }

  /** Whether the connection is the present one, or is kept for the next request. */
  #holds(live: Live): boolean {
    return this.live === live || (this.#phase.state === "stopped" && this.#phase.kept === live);
  }

  /** It wants an authorization. */
  #deny(error: McpServerError): void {
    this.#move("unauthorized", { state: "needs-auth", error });
  }

  /** It cannot be reached for now, and may know the session when it can. */
  #part(live: Live, reason: string): void {
    this.#move("parted", { state: "stopped", reason, kept: live });
  }

  /** The connection is no longer used; the next request makes a new one. */
  #leave(live: Live, reason: string): void {
    if (this.live === live) this.#move("ended", { state: "stopped", reason });
    else if (this.#holds(live)) this.#move("dropped", { state: "stopped", reason });
  }

  /** It is we who part from it: a server that is used now and then is not one that dies again and again. */
  #endIdle(live: Live, reason: string): void {
    this.#limit.forgive();
    this.#stop(live, reason);
  }

  /** The connection is over, and with it every request on it. */
  #stop(live: Live, reason: string): void {
    this.#leave(live, reason);
    this.#lives.end(live);
  }

  async #disconnect(reason: string): Promise<void> {
    await this.#abortStart(reason);
    const live = this.#present();
    if (live) this.#stop(live, reason);
    await this.#lives.ended();
  }

  /** It may become ready in the same moment, so whoever calls this looks at the phase afterwards. */
  async #abortStart(reason: string): Promise<void> {
    const phase = this.#phase;
    if (phase.state !== "starting") return;
    phase.abort.abort(reason);
    await phase.started.catch(() => {});
  }

  /** The connection, also one that is only kept. */
  #present(): Live | undefined {
    return this.#phase.state === "stopped" ? this.#phase.kept : this.live;
  }

  /** The one place where the state changes. */
  #move<Event extends StateEvent>(event: Event, to: Extract<Phase, { state: StateAfter<Event> }>): void {
    const next: Phase = to;
    assertTransition(this.#phase.state, event);
    this.#phase = next;
    if (next.state === "ready") {
      this.#last = next.live;
      this.#watch.start();
    } else this.#watch.stop();
    this.#options.moved?.();
  }

  #failure(text: string): McpServerError {
    return new McpServerError(this.#config.name, "connection", `MCP server \`${this.#config.name}\`: ${text}`);
  }
}

/** A 401 that is more than an error like any other [S3-33]. */
function isUnauthorized(thrown: unknown, error: McpServerError): boolean {
  return thrown instanceof TransportError && thrown.failure === "unauthorized" && error.category === "needs-auth";
}
