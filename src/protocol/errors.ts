/** The server answered with a JSON-RPC error. `message` is the server's text: clean it before showing it. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  /** Whatever a server put there: what is no number is no code. */
  constructor({
    code,
    message,
    data,
  }: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown }) {
    super(typeof message === "string" ? message : "it gave no reason");
    this.code = Number.isInteger(code) ? (code as number) : 0;
    this.data = data;
  }
}

/** Error codes this client acts on (JSON-RPC 2.0; 2025-11-25, client/elicitation; 2026-07-28, basic). */
export const CODE = {
  invalidParams: -32602,
  methodNotFound: -32601,
  internal: -32603,
  /** Until 2025-11-25. */
  resourceNotFound: -32002,
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  readonly method: string;
  /** `total`: it reported progress all the time, and still had no result. */
  constructor(method: string, limitMs: number, limit: "idle" | "total" = "idle") {
    const despite = limit === "total" ? " in all, for all its progress" : "";
    super(`\`${method}\` timed out after ${limitMs / 1000}s${despite}`);
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
