import type { Era } from "./connection.ts";
import type { JsonObject, Progress, ServerInfo } from "./types.ts";

export interface ExchangeRequest {
  /** Milliseconds without answer or progress. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  withProgress?: boolean;
  headers?: Readonly<Record<string, string>>;
}

/** What the two eras have in common: requests with a final result. Operations are written once, over this. */
export interface Exchange {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Whether arguments marked `x-mcp-header` are repeated as headers (2026-07-28 over HTTP). */
  readonly mirrorsArguments: boolean;
  /** Questions the server asks on the way are answered; the result is the last one, never an intermediate one. */
  request(method: string, params: JsonObject, options: ExchangeRequest): Promise<JsonObject>;
  close(): Promise<void>;
}
