import { messageOf } from "../error.ts";
import type { JsonRpcFailure, JsonRpcId, JsonRpcMessage, JsonRpcRequest } from "../transport/message.ts";
import { type SendOptions, type Transport, TransportError } from "../transport/transport.ts";
import { RequestClock } from "./clock.ts";
import { CODE, ProtocolError, RequestCancelled, RequestTimeout, RpcError } from "./errors.ts";
import { untilAborted } from "./pause.ts";
import type { JsonObject, Progress } from "./types.ts";

/** A server may ask, but one that never reads what it is told fills the memory. */
const MAX_UNREAD = 1_000;
/** Each may be a question on somebody's screen. */
const MAX_SERVING = 100;

export interface RpcRequestOptions {
  /** Milliseconds without answer or progress; Infinity for a request that is to stay open. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Asks for progress, so that a long request can show that it lives. */
  withProgress?: boolean;
  /**
   * How giving up is told: by `notifications/cancelled`, by closing the request's own stream, or not at all
   * (`initialize`).
   */
  cancel?: "notify" | "close" | "never";
  headers?: Readonly<Record<string, string>>;
  background?: boolean;
  /** Told the id before the request is sent. */
  onId?: (id: number) => void;
}

export interface RpcHandlers {
  /** Answers a request of the server; a thrown RpcError is its answer, undefined means the method is unknown. */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> | undefined;
  notification(method: string, params: JsonObject): void;
  notice(text: string): void;
  /** The connection ended by itself; every pending request has been rejected. */
  closed(reason: TransportError): void;
}

interface Pending {
  readonly clock: RequestClock;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** JSON-RPC 2.0 over a transport: pairs answers with requests and keeps each request's clock. */
export class RpcChannel {
  readonly transport: Transport;
  /** Sent with every message; the handshake sets it. */
  headers: Readonly<Record<string, string>> = {};
  /** Set by eras without sessions. */
  sessionless = false;
  /** The revision agreed on, as soon as it is: what the server may ask depends on it. */
  revision: string | undefined;
  readonly #handlers: RpcHandlers;
  readonly #pending = new Map<number, Pending>();
  /** Who hears of progress, by token. A task's outlives its request. */
  readonly #progress = new Map<number, (progress: Progress) => void>();
  /** The server's requests being answered. */
  readonly #serving = new Set<{ readonly id: JsonRpcId; readonly abort: AbortController }>();
  readonly #over = new AbortController();
  /** Messages since the last answer that may still draw an error without an id: given up requests, notifications. */
  #strays = 0;
  /** Answers the server has not taken yet. */
  #unread = 0;
  #lastId = 0;
  #ended: TransportError | undefined;

  constructor(transport: Transport, handlers: RpcHandlers) {
    this.transport = transport;
    this.#handlers = handlers;
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /**
   * What lies between two requests of one operation: a pause, a question to a person. It ends with the connection, and
   * then rejects as a request would.
   */
  async between<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = this.#over.signal;
    const either = signal ? AbortSignal.any([signal, over]) : over;
    try {
      return await untilAborted(work(either), either);
    } catch (error) {
      if (error instanceof RequestCancelled && !signal?.aborted && this.#ended) throw this.#ended;
      throw error;
    }
  }

  open(): Promise<void> {
    return this.transport.open({
      message: (message) => {
        try {
          this.#receive(message);
        } catch (error) {
          // A message nobody foresaw costs itself, not the process it was read in.
          this.#handlers.notice(`a message of the server could not be read: ${messageOf(error)}`);
        }
      },
      lost: (id, reason) => this.#lose(id, reason),
      notice: (text) => this.#handlers.notice(text),
      closed: (reason) => this.#end(reason, true),
    });
  }

  async close(): Promise<void> {
    this.#end(new TransportError("ended", "the connection was closed", "unknown"), false);
    await this.transport.close();
  }

  async notify(method: string, params?: JsonObject, options: SendOptions = {}): Promise<void> {
    this.#strays++;
    await this.#send({ jsonrpc: "2.0", method, ...(params && { params }) }, options);
  }

  /** Hears of progress with this token until the returned function is called. */
  watchProgress(token: number, onProgress: (progress: Progress) => void): () => void {
    this.#progress.set(token, onProgress);
    return () => this.#progress.delete(token);
  }

  /**
   * Sends a request and waits for its answer. Rejects with RpcError (the server's answer), RequestTimeout,
   * RequestCancelled or TransportError.
   */
  request(method: string, params: JsonObject | undefined, options: RpcRequestOptions): Promise<unknown> {
    if (this.#ended) return Promise.reject(new TransportError("ended", this.#ended.message, "not-sent"));
    if (options.signal?.aborted) return Promise.reject(new RequestCancelled());
    const id = ++this.#lastId;
    const { timeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      // Only where a request is an exchange of its own there is something to cut off.
      const sending = this.transport.kind === "http" ? new AbortController() : undefined;
      const settle = (finish: () => void) => {
        if (!this.#pending.delete(id)) return;
        clock.pause();
        this.#progress.delete(id);
        signal?.removeEventListener("abort", abort);
        finish();
      };
      const giveUp = (error: Error, reason: string) =>
        settle(() => {
          reject(error);
          this.#strays++;
          if ((options.cancel ?? "notify") === "notify") this.#cancel(id, reason);
          sending?.abort();
        });
      const abort = () => giveUp(new RequestCancelled(), "the user cancelled");
      const clock = new RequestClock(timeoutMs, (limit, limitMs) =>
        giveUp(new RequestTimeout(method, limitMs, limit), "timed out"),
      );
      signal?.addEventListener("abort", abort, { once: true });
      this.#pending.set(id, {
        clock,
        resolve: (result) =>
          settle(() => {
            this.#strays = 0;
            resolve(result);
          }),
        reject: (error) => settle(() => reject(error)),
      });
      if (options.withProgress) {
        this.#progress.set(id, (progress) => {
          clock.progress();
          if (this.#pending.has(id)) options.onProgress?.(progress);
        });
      }
      if (this.#serving.size === 0) clock.start();
      options.onId?.(id);
      const request: JsonRpcRequest = { jsonrpc: "2.0", id, method, ...withToken(params, id, options) };
      const { headers = {}, background = false } = options;
      this.#send(request, { headers, background, ...(sending && { signal: sending.signal }) }).catch((error: unknown) =>
        this.#pending.get(id)?.reject(error),
      );
    });
  }

  /** Rejects also when the message cannot be written at all. */
  async #send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    const headers = { ...this.headers, ...options.headers };
    try {
      await this.transport.send(message, { ...options, headers, sessionless: this.sessionless });
    } catch (error) {
      // What JSON.stringify says of a value without bottom.
      throw error instanceof RangeError ? new ProtocolError("the request is nested too deeply to be sent") : error;
    }
  }

  #cancel(requestId: number, reason: string): void {
    this.notify("notifications/cancelled", { requestId, reason }).catch(() => {});
  }

  #receive(message: JsonRpcMessage): void {
    if (this.#ended) return;
    // Some servers repeat the method in their answer: what answers a request of ours is an answer.
    const isAnswer = "result" in message || "error" in message;
    const pending = isAnswer ? this.#pendingOf(message.id ?? undefined) : undefined;
    if (pending && "error" in message) pending.reject(new RpcError(message.error));
    else if (pending && "result" in message) pending.resolve(message.result);
    else if ("method" in message && "id" in message) this.#serve(message);
    else if ("method" in message) this.#notified(message.method, message.params ?? {});
  }

  /** Without an id an answer can only be told while it cannot be meant for anything else; else a clock will end it. */
  #pendingOf(id: JsonRpcId | undefined): Pending | undefined {
    if (id !== undefined) return this.#pending.get(numberOf(id));
    return this.#pending.size === 1 && this.#strays === 0 ? [...this.#pending.values()][0] : undefined;
  }

  #lose(id: JsonRpcId | undefined, reason: TransportError): void {
    this.#pendingOf(id)?.reject(reason);
  }

  #notified(method: string, params: JsonObject): void {
    if (method === "notifications/progress") this.#progressed(params);
    else if (method === "notifications/cancelled") {
      for (const { id, abort } of this.#serving) if (id === params.requestId) abort.abort();
    } else this.#handlers.notification(method, params);
  }

  #progressed({ progressToken, progress, total, message }: JsonObject): void {
    if (typeof progress !== "number") return;
    this.#progress.get(numberOf(progressToken))?.({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  }

  /** Answers the server. It may ask a person, so until the answer is there no request's clock runs. */
  #serve({ id, method, params }: JsonRpcRequest): void {
    const answer = (message: JsonRpcMessage) => {
      this.#unread++;
      this.#send(message)
        .catch(() => {})
        .finally(() => this.#unread--);
    };
    if (this.#unread > MAX_UNREAD) {
      this.#end(new TransportError("ended", "it asks without reading the answers", "unknown"), true);
      return;
    }
    if (this.#serving.size >= MAX_SERVING) {
      answer(failure(id, CODE.internal, "Too many requests at once"));
      return;
    }
    const abort = new AbortController();
    const serving = { id, abort };
    let served: Promise<unknown> | undefined;
    try {
      served = this.#handlers.request(method, params ?? {}, abort.signal);
    } catch (error) {
      served = Promise.reject(error);
    }
    if (!served) {
      answer(failure(id, CODE.methodNotFound, `Method not found: ${method}`));
      return;
    }
    this.#serving.add(serving);
    for (const { clock } of this.#pending.values()) clock.pause();
    void settled(id, served).then((message) => {
      this.#serving.delete(serving);
      if (this.#serving.size === 0) for (const { clock } of this.#pending.values()) clock.start();
      // A request that was taken back gets no answer (2025-11-25, basic/utilities/cancellation).
      if (!abort.signal.aborted) answer(message);
    });
  }

  #end(reason: TransportError, tell: boolean): void {
    if (this.#ended) return;
    this.#ended = reason;
    for (const pending of [...this.#pending.values()]) pending.reject(reason);
    for (const { abort } of this.#serving) abort.abort();
    this.#over.abort();
    if (tell) this.#handlers.closed(reason);
  }
}

/** What the server is told of its request; never rejects. */
async function settled(id: JsonRpcId, served: Promise<unknown>): Promise<JsonRpcMessage> {
  try {
    return { jsonrpc: "2.0", id, result: await served };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error.code, error.message);
    return failure(id, CODE.internal, "Internal error");
  }
}

/** Ids and tokens are numbers here; some servers return them as text. What is neither is nobody's. */
function numberOf(id: unknown): number {
  return typeof id === "number" || typeof id === "string" ? Number(id) : Number.NaN;
}

function failure(id: JsonRpcId, code: number, message: string): JsonRpcFailure {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function withToken(params: JsonObject | undefined, id: number, options: RpcRequestOptions) {
  if (!options.withProgress) return params && { params };
  return { params: { ...params, _meta: { ...(params?._meta as JsonObject | undefined), progressToken: id } } };
}
