import type { JsonRpcMessage } from "./message.ts";

/**
 * How far a message got before its transport failed. It decides whether sending it again is safe:
 * `not-sent` no byte left this process; `rejected` the server said it did not execute it (404 with a session id, 429,
 * 503); `unknown` it may have run.
 */
export type Delivery = "not-sent" | "rejected" | "unknown";

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
  /** HTTP 404 for a request that carried a session id (2025-11-25, transports, session management). */
  | "session-lost";

/** A transport's failure. The message names no command, argument, header or URL. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly failure: TransportFailure;
  readonly delivery: Delivery;

  constructor(failure: TransportFailure, message: string, delivery: Delivery, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
    this.delivery = delivery;
  }
}

export interface TransportEvents {
  /** One whole message, in the order it arrived. */
  message(message: JsonRpcMessage): void;
  /** The connection is gone. Called at most once, never after `close()` was called. */
  closed(reason: TransportError): void;
}

export interface SendOptions {
  signal?: AbortSignal;
  /** What the protocol repeats outside the message body; transports without headers ignore it. */
  headers?: Readonly<Record<string, string>>;
}

/** Carries whole JSON-RPC messages to one peer and back, and knows nothing of their meaning. */
export interface Transport {
  /** Connects. Rejects with a TransportError. */
  open(events: TransportEvents): Promise<void>;
  /**
   * Resolves when the peer has the message; over HTTP, when the response with all it carried has been delivered.
   * Rejects with a TransportError when the message, or the answer to it, was lost.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** Ends the connection and every process behind it, within a few seconds. Never rejects; may be called twice. */
  close(): Promise<void>;
  /** What the peer said outside the protocol (the end of stderr), raw; empty when there is none. */
  diagnostics(): string;
  /** The process behind the connection, if there is one. */
  readonly pid: number | undefined;
}
