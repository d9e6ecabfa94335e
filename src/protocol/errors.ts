import type { JsonRpcFailure } from "../transport/message.ts";

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

/** Error codes this client acts on (JSON-RPC 2.0; 2025-11-25, client/elicitation; 2026-07-28, basic). */
export const CODE = {
  invalidParams: -32602,
  methodNotFound: -32601,
  internal: -32603,
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  readonly method: string;
  constructor(method: string, limitMs: number) {
    super(`\`${method}\` timed out after ${limitMs / 1000}s`);
    this.method = method;
  }
}

export class RequestCancelled extends Error {
  override readonly name = "RequestCancelled";
  constructor() {
    super("Operation aborted");
  }
}

/** The server's answer is none this client can go on with. The message names no server text that is not quoted as JSON. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}
