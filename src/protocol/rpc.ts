import type { JsonRpcFailure, JsonRpcId, JsonRpcMessage, JsonRpcRequest } from "../transport/message.ts";
import { type Transport, TransportError } from "../transport/transport.ts";
import type { Progress } from "./types.ts";

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
/** Progress keeps a call alive, but a server that only ever reports progress is hung all the same [E197]. */
const TOTAL_LIMIT_FACTOR = 60;

/** The server answered with a JSON-RPC error. `message` is the server's text: clean it before showing it. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(error: JsonRpcFailure["error"]) {
    super(typeof error.message === "string" ? error.message : JSON.stringify(error));
    this.code = error.code;
    this.data = error.data;
  }
}

export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  constructor(method: string, limitMs: number) {
    // Tenths: what is left of a start's limit is never a round number.
    super(`\`${method}\` timed out after ${Math.round(limitMs / 100) / 10}s`);
  }
}

export class RequestCancelled extends Error {
  override readonly name = "RequestCancelled";
  constructor() {
    super("Operation aborted");
  }
}

export interface RpcRequestOptions {
  /** Milliseconds without answer or progress. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Asks for progress, so that a long call can show it lives. */
  withProgress?: boolean;
  /** `initialize` must not be cancelled (2025-11-25, lifecycle). */
  cancellable?: boolean;
}

export interface RpcHandlers {
  /** Answers a request of the server; a thrown RpcError is its answer, undefined means the method is unknown. */
  request(method: string, params: unknown): Promise<unknown> | undefined;
  notification(method: string, params: unknown): void;
  /** The connection ended by itself; every pending request has been rejected. */
  closed(reason: TransportError): void;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  progress(progress: Progress): void;
}

/** JSON-RPC 2.0 over a transport: pairs answers with requests and keeps each request's clock. */
export class RpcChannel {
  readonly #transport: Transport;
  readonly #handlers: RpcHandlers;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #ended: TransportError | undefined;
  /** Sent with every message from now on; the handshake sets it. */
  headers: Readonly<Record<string, string>> = {};

  constructor(transport: Transport, handlers: RpcHandlers) {
    this.#transport = transport;
    this.#handlers = handlers;
  }

  open(): Promise<void> {
    return this.#transport.open({
      message: (message) => this.#receive(message),
      lost: (id, reason) => this.#lose(id, reason),
      closed: (reason) => this.#end(reason, true),
    });
  }

  async close(): Promise<void> {
    this.#end(new TransportError("ended", "the connection was closed", "unknown"), false);
    await this.#transport.close();
  }

  async notify(method: string, params?: Record<string, unknown>, signal?: AbortSignal): Promise<void> {
    const options = { headers: this.headers, ...(signal && { signal }) };
    await this.#transport.send({ jsonrpc: "2.0", method, ...(params && { params }) }, options);
  }

  /**
   * Sends a request and waits for its answer. Rejects with RpcError (the server's answer), RequestTimeout,
   * RequestCancelled or TransportError. Giving up is told to the server.
   */
  request(method: string, params: Record<string, unknown> | undefined, options: RpcRequestOptions): Promise<unknown> {
    if (this.#ended) return Promise.reject(new TransportError("ended", this.#ended.message, "not-sent"));
    if (options.signal?.aborted) return Promise.reject(new RequestCancelled());
    const id = ++this.#lastId;
    const { timeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      const sending = new AbortController();
      const settle = () => {
        clearTimeout(idle);
        clearTimeout(total);
        signal?.removeEventListener("abort", abort);
        this.#pending.delete(id);
      };
      const fail = (error: unknown) => {
        if (!this.#pending.has(id)) return;
        settle();
        reject(error);
      };
      const giveUp = (error: Error, reason: string) => {
        fail(error);
        if (options.cancellable !== false) this.#cancel(id, reason);
        sending.abort();
      };
      const abort = () => giveUp(new RequestCancelled(), "the user cancelled");
      const timeout = () => giveUp(new RequestTimeout(method, timeoutMs), "timed out");
      const idle = setTimeout(timeout, timeoutMs);
      const total = setTimeout(timeout, timeoutMs * TOTAL_LIMIT_FACTOR);
      signal?.addEventListener("abort", abort, { once: true });
      this.#pending.set(id, {
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: fail,
        progress: (progress) => {
          idle.refresh();
          options.onProgress?.(progress);
        },
      });
      const request: JsonRpcRequest = { jsonrpc: "2.0", id, method, ...paramsWithToken(params, id, options) };
      this.#transport.send(request, { headers: this.headers, signal: sending.signal }).catch(fail);
    });
  }

  #cancel(requestId: number, reason: string): void {
    this.notify("notifications/cancelled", { requestId, reason }).catch(() => {});
  }

  #receive(message: JsonRpcMessage): void {
    if ("method" in message) {
      if ("id" in message) this.#serve(message);
      else if (message.method === "notifications/progress") this.#progress(message.params);
      else this.#handlers.notification(message.method, message.params);
      return;
    }
    // Ids are numbers here; some servers return them as strings.
    const pending = message.id === null ? undefined : this.#pending.get(Number(message.id));
    if (!pending) return;
    if ("error" in message) pending.reject(new RpcError(message.error));
    else pending.resolve(message.result);
  }

  /** Without an id the answer can only be told from others while one request is pending; else its clock will end it. */
  #lose(id: JsonRpcId | undefined, reason: TransportError): void {
    const only = this.#pending.size === 1 ? [...this.#pending.values()][0] : undefined;
    (id === undefined ? only : this.#pending.get(Number(id)))?.reject(reason);
  }

  #progress(params: Record<string, unknown> | undefined): void {
    if (typeof params?.progress !== "number") return;
    const { progress, total, message } = params;
    this.#pending.get(Number(params.progressToken))?.progress({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  }

  #serve(request: JsonRpcRequest): void {
    const answer = (message: JsonRpcMessage) => {
      this.#transport.send(message, { headers: this.headers }).catch(() => {});
    };
    const served = this.#handlers.request(request.method, request.params);
    if (!served) {
      answer(failure(request.id, METHOD_NOT_FOUND, `Method not found: ${request.method}`));
      return;
    }
    served.then(
      (result) => answer({ jsonrpc: "2.0", id: request.id, result }),
      (error: unknown) =>
        answer(
          error instanceof RpcError
            ? failure(request.id, error.code, error.message)
            : failure(request.id, INTERNAL_ERROR, "Internal error"),
        ),
    );
  }

  #end(reason: TransportError, tell: boolean): void {
    if (this.#ended) return;
    this.#ended = reason;
    for (const pending of [...this.#pending.values()]) pending.reject(reason);
    if (tell) this.#handlers.closed(reason);
  }
}

function failure(id: JsonRpcId, code: number, message: string): JsonRpcFailure {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function paramsWithToken(params: Record<string, unknown> | undefined, id: number, options: RpcRequestOptions) {
  if (!options.withProgress) return params && { params };
  return { params: { ...params, _meta: { progressToken: id } } };
}
