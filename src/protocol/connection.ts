import type { TransportError } from "../transport/transport.ts";
import type { CallToolResult, JsonObject, Progress, ServerInfo, ToolDefinition } from "./types.ts";

/** What a request needs beside its parameters. */
export interface ConnectionRequest {
  /** Milliseconds without answer or progress. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface ToolListing {
  readonly tools: readonly ToolDefinition[];
  /** What was mended, dropped or cut, one sentence each; holds server text, cleaned by whoever shows it. */
  readonly notices: readonly string[];
}

/**
 * A server that has shaken hands. Requests reject with RpcError, RequestTimeout, RequestCancelled or TransportError.
 * There is no way to hold one before the handshake, so no request can be sent too early.
 */
export interface McpConnection {
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  listTools(options: ConnectionRequest): Promise<ToolListing>;
  callTool(name: string, args: JsonObject | undefined, options: ConnectionRequest): Promise<CallToolResult>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Newest revision to ask for. */
  protocolVersion: string;
  clientInfo: { readonly name: string; readonly version: string };
  /** Limit of the whole handshake, milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** The connection ended by itself. */
  onClosed(reason: TransportError): void;
}
