import type { JsonRpcId, JsonRpcMessage } from "./message.ts";

/**
 * How far a message got before its transport failed. It decides whether sending it again is safe:
 * `not-sent` no byte left this process; `rejected` the server said it did not execute it (a session it no longer knows,
 * 401, 429, 503 and a few other statuses); `unknown` it may have run; `begun` the server has said that it runs.
 */
export type Delivery = "not-sent" | "rejected" | "unknown" | "begun";

export type TransportFailure =
  /** The process could not be started, or the address could not be reached. */
  | "unreachable"
  /** The peer ended: exit, end of stream, broken pipe. */
  | "ended"
  /** Bytes that are no message. */
  | "malformed"
  /** An HTTP status that is not success. */
  | "status"
  /** HTTP 401. */
  | "unauthorized"
  /** The server no longer knows the session: HTTP 404 (2025-11-25, transports, session management), or in its own words. */
  | "session-lost";

/** A transport's failure. The message names no command, argument, header or URL. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly failure: TransportFailure;
  readonly delivery: Delivery;
  readonly http: HttpRefusal | undefined;

  constructor(failure: TransportFailure, message: string, delivery: Delivery, more: TransportErrorInit = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.failure = failure;
    this.delivery = delivery;
    this.http = more.http;
  }
}

export interface TransportErrorInit {
  cause?: unknown;
  http?: HttpRefusal;
}

/** What an HTTP server said instead of a success. */
export interface HttpRefusal {
  readonly status: number;
  /** From `Retry-After`, milliseconds. */
  readonly retryAfterMs?: number;
  /** All `WWW-Authenticate` values, as sent. */
  readonly challenges?: readonly string[];
}

export interface TransportEvents {
  /** One whole message, in the order it arrived. */
  message(message: JsonRpcMessage): void;
  /**
   * The answer to a request was lost (it was over the size cap, say) while the connection lives on. The id is undefined
   * when it could not be told whose answer it was.
   */
  lost(id: JsonRpcId | undefined, reason: TransportError): void;
  /** Something odd was skipped while all goes well: one sentence, which may hold text of the server, not cleaned. */
  notice(text: string): void;
  /** The connection is gone. Called at most once, never after `close()` was called. */
  closed(reason: TransportError): void;
}

export interface SendOptions {
  signal?: AbortSignal;
  /** What the protocol repeats outside the message body; transports without headers ignore it. */
  headers?: Readonly<Record<string, string>>;
  /** Neither takes nor sends a session id: revisions without sessions meet servers that name one all the same. */
  sessionless?: boolean;
  /** The request may stay open for hours (`subscriptions/listen`): its connection must not keep the process alive. */
  background?: boolean;
}

/** Carries whole JSON-RPC messages to one peer and back, and knows nothing of their meaning. */
export interface Transport {
  /** `stream`: one peer and both directions always open (a process); `http`: each request is an exchange of its own. */
  readonly kind: "stream" | "http";
  /** Connects. Rejects with a TransportError. */
  open(events: TransportEvents): Promise<void>;
  /**
   * Resolves when the peer has the message; over HTTP, when the response with all it carried has been delivered.
   * Rejects with a TransportError when the message, or the answer to it, was lost.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /**
   * Opens the way for messages the server sends by itself, where that is a stream of its own (HTTP GET, revisions to
   * 2025-11-25). Returns at once; a server that offers none, or loses it, costs nothing else.
   */
  listen(headers: Readonly<Record<string, string>>): void;
  /** Ends the connection and every process behind it, within a few seconds. Never rejects; may be called twice. */
  close(): Promise<void>;
  /** What the peer said outside the protocol (the end of stderr), raw; empty when there is none. */
  diagnostics(): string;
  /**
   * Whether the server has given this connection a session that lives on while nothing is connected, as far as is known:
   * then a failure of the network does not end it.
   */
  readonly hasSession?: boolean;
  /** Cuts everything that is open. The next message opens it anew, in the same session. Never rejects. */
  rest?(): Promise<void>;
  /** The process behind the connection, if there is one. */
  readonly pid: number | undefined;
}
