import { type Transport, TransportError } from "../transport/transport.ts";
import { LEGACY_VERSIONS, MODERN_VERSIONS } from "../version.ts";
import { answerServer, type ChangingList, hearServer } from "./client-side.ts";
import { coalesce } from "./coalesce.ts";
import type { ConnectOptions, Era, McpConnection } from "./connection.ts";
import { CODE, ProtocolError, RequestTimeout, RpcError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { initialize, legacyExchange } from "./legacy.ts";
import { type Discovered, discover, modernExchange, sendModern, supportedBy } from "./modern.ts";
import { Operations } from "./operations.ts";
import { inTime } from "./pause.ts";
import { RpcChannel } from "./rpc.ts";
import { subscribe } from "./subscription.ts";
import { UrlQuestions } from "./url-questions.ts";

/** How long a server may think about a request it may never have heard of [E050]. A remote one may have to wake up first. */
const PROBE_LIMIT_MS = { stream: 2_000, http: 5_000 };

/** More than any server met so far lists. */
const LIST_LIMIT = { maxItems: 10_000, maxPages: 1_000 };

/** `sse`: the HTTP transport of 2024-11-05, tried when the usual one is refused. */
export type OpenTransport = (flavor: "usual" | "sse") => Promise<Transport>;

/** Answers to `initialize` that a server of the 2024-11-05 HTTP transport gives (2025-11-25, transports, compatibility). */
const OLDER_TRANSPORT = new Set([400, 404, 405]);

/**
 * Connects to a server of any revision. With `protocolVersion: "auto"` a modern server is recognised by `server/discover`;
 * whatever else comes back (an error, silence, an exit, an odd status) means `initialize`, in the same process where
 * that lives. Transports that were replaced on the way are closed; the last one is the caller's, also on failure.
 */
export async function connect(open: OpenTransport, options: ConnectOptions): Promise<McpConnection> {
  try {
    return await negotiate(new Start(open, options), options);
  } catch (error) {
    // The limit a person knows is that of the whole start, not what of it was left for this request.
    throw error instanceof RequestTimeout ? new RequestTimeout(error.method, options.timeoutMs) : error;
  }
}

async function negotiate(start: Start, options: ConnectOptions): Promise<McpConnection> {
  await start.open("usual");
  const { protocolVersion, knownEra } = options;
  if (protocolVersion !== "auto") {
    if (MODERN_VERSIONS.includes(protocolVersion)) return start.modern(await start.discover(protocolVersion));
    return start.legacy(protocolVersion);
  }
  if (knownEra !== "legacy") {
    const found = await start.probe();
    if (found) return start.modern(found);
  }
  try {
    return await start.legacy(LEGACY_VERSIONS[0] as string);
  } catch (error) {
    // What it was last time, or what its silence was taken for, it is not.
    const found = contradicts(error, knownEra) ? await start.probe() : undefined;
    if (found) return start.modern(found);
    throw error;
  }
}

/** One start: a channel that may be replaced, and one deadline over everything [E043]. */
class Start {
  readonly #openTransport: OpenTransport;
  readonly #options: ConnectOptions;
  readonly #deadline: number;
  #channel: RpcChannel | undefined;
  /** Filled in when there is a connection; until then nobody is there to tell. */
  #live: { changed(list: ChangingList): void; acknowledged(params: object): void } | undefined;
  readonly #urls: UrlQuestions;

  constructor(open: OpenTransport, options: ConnectOptions) {
    this.#openTransport = open;
    this.#options = options;
    this.#deadline = performance.now() + options.timeoutMs;
    this.#urls = new UrlQuestions(options.handlers.elicit);
  }

  remainingMs = (): number => Math.max(1, Math.ceil(this.#deadline - performance.now()));

  async open(flavor: "usual" | "sse"): Promise<RpcChannel> {
    await this.#channel?.close();
    const { handlers, onClosed } = this.#options;
    const transport = await this.#openTransport(flavor);
    const channel: RpcChannel = new RpcChannel(transport, {
      request: (method, params, signal) => answerServer(handlers, method, params, signal, channel.revision),
      notification: (method, params) => {
        if (method === "notifications/elicitation/complete") this.#urls.completed(params);
        else if (method === "notifications/subscriptions/acknowledged") this.#live?.acknowledged(params);
        else hearServer(handlers, (list) => this.#live?.changed(list), method, params);
      },
      notice: (text) => handlers.notice?.(text),
      closed: (reason) => {
        if (channel === this.#channel) onClosed(reason);
      },
    });
    this.#channel = channel;
    const { timeoutMs: limitMs, signal } = this.#options;
    // It has no clock of its own.
    await inTime(channel.open(), { what: "opening the connection", leftMs: this.remainingMs(), limitMs, signal });
    return channel;
  }

  discover(version: string): Promise<Discovered> {
    const limits = { timeoutMs: this.remainingMs(), signal: this.#options.signal };
    return discover(this.#usable(), version, this.#options, limits);
  }

  /** Undefined: not a modern server. Rejects when it is none of these questions (cancelled, 401, unreachable). */
  async probe(): Promise<Discovered | undefined> {
    const channel = await this.#living();
    const timeoutMs = Math.min(this.remainingMs(), PROBE_LIMIT_MS[channel.transport.kind]);
    const limits = { timeoutMs, signal: this.#options.signal };
    const version = MODERN_VERSIONS[0] as string;
    try {
      return await discover(channel, version, this.#options, limits);
    } catch (error) {
      const other = MODERN_VERSIONS.find((known) => known !== version && supportedBy(error).includes(known));
      if (other !== undefined) return discover(channel, other, this.#options, limits);
      if (isVerdict(error)) return undefined;
      throw error;
    }
  }

  async legacy(version: string): Promise<McpConnection> {
    const limits = { remainingMs: this.remainingMs, signal: this.#options.signal };
    let channel = await this.#living();
    try {
      const initialized = await initialize(channel, version, this.#options, limits);
      return this.#connection(channel, legacyExchange(channel, initialized, this.#urls));
    } catch (error) {
      const status = error instanceof TransportError ? error.http?.status : undefined;
      if (channel.transport.kind !== "http" || !OLDER_TRANSPORT.has(status ?? 0)) throw error;
      // The older transport's own failure would say less than what the usual one was told.
      channel = await this.open("sse").catch(() => {
        throw error;
      });
      const initialized = await initialize(channel, version, this.#options, limits);
      return this.#connection(channel, legacyExchange(channel, initialized, this.#urls));
    }
  }

  modern(found: Discovered): McpConnection {
    const channel = this.#usable();
    return this.#connection(channel, modernExchange(channel, found, this.#options));
  }

  #usable(): RpcChannel {
    if (!this.#channel) throw new Error("no transport is open");
    return this.#channel;
  }

  /** The channel, or a new one where the probe has ended the server. */
  async #living(): Promise<RpcChannel> {
    const channel = this.#usable();
    return channel.ended ? this.open("usual") : channel;
  }

  #connection(channel: RpcChannel, exchange: Exchange): McpConnection {
    const { handlers } = this.#options;
    const operations = new Operations(exchange, channel, this.#options.listLimit ?? LIST_LIMIT);
    const runs = new Map<ChangingList, () => void>();
    const changed = (list: ChangingList) => {
      operations.forget(list);
      if (!handlers.listChanged) return;
      const run = runs.get(list) ?? coalesce(() => handlers.listChanged?.(list));
      runs.set(list, run);
      run();
    };
    const lists = handlers.listChanged ? operations.announcedLists : [];
    const subscription =
      exchange.era === "modern" && lists.length > 0
        ? subscribe({
            lists,
            changed,
            notice: (text) => handlers.notice?.(text),
            listen: (params, signal) =>
              sendModern(
                channel,
                exchange.protocolVersion,
                this.#options,
                "subscriptions/listen",
                { ...params },
                {
                  timeoutMs: Number.POSITIVE_INFINITY,
                  signal,
                  background: true,
                },
              ),
          })
        : undefined;
    this.#live = { changed, acknowledged: (params) => subscription?.acknowledged({ ...params }) };
    const connection = operations.connection();
    return {
      ...connection,
      close: () => {
        subscription?.stop();
        return connection.close();
      },
    };
  }
}

/** Failures of the probe that only say "I do not know this": anything a server of the older revisions may do with it. */
function isVerdict(error: unknown): boolean {
  if (error instanceof RpcError || error instanceof RequestTimeout || error instanceof ProtocolError) return true;
  return error instanceof TransportError && error.failure !== "unreachable" && error.failure !== "unauthorized";
}

/** Refusals of `initialize` that only a modern server gives; any, when it was not asked because it used to be older. */
function contradicts(error: unknown, knownEra: Era | undefined): boolean {
  if (!(error instanceof RpcError)) return false;
  return knownEra === "legacy" || error.code === CODE.methodNotFound || error.code === CODE.unsupportedVersion;
}
