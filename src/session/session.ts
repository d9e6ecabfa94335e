import type { ConfigProblem, ServerConfig, UntrustedFile } from "../config/record.ts";
import type { SpillStore } from "../content/spill.ts";
import type { CallToolResult, JsonObject, Progress, ToolDefinition } from "../protocol/types.ts";

export type ServerState = "idle" | "starting" | "ready" | "needs-auth" | "failed" | "stopped";

/** What is known of one server without asking it. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  /** Number of tools, once they were listed. */
  readonly toolCount?: number;
  /** Protocol revision agreed with the server, while connected. */
  readonly protocolVersion?: string;
  readonly pid?: number;
  /** Why it failed or stopped: one safe sentence. */
  readonly error?: string;
  /** What was odd about it and has been mended, dropped or ignored. */
  readonly notices: readonly string[];
}

export interface RequestOptions {
  /** Aborting cancels the request at the server (`notifications/cancelled`). */
  signal?: AbortSignal;
}

export interface CallOptions extends RequestOptions {
  onProgress?: (progress: Progress) => void;
  /** Overrides the server's configured limit, milliseconds. */
  timeoutMs?: number;
}

/**
 * The servers of one agent session. Nothing is started before `listTools`, `callTool` or `reconnect` needs it; whatever
 * was started is ended by `close`. All methods that talk to a server reject with `McpServerError` and nothing else.
 */
export interface McpSession {
  /** The configured servers, sorted by name. */
  readonly servers: readonly ServerConfig[];
  readonly problems: readonly ConfigProblem[];
  /** Project files nobody has allowed. Their servers are none of `servers`: using one fails with `denied`. */
  readonly untrusted: readonly UntrustedFile[];
  /** Throws McpServerError `unknown-server`. */
  config(server: string): ServerConfig;
  /** Throws McpServerError `unknown-server`. */
  status(server: string): ServerStatus;
  /** Where results go that are too long or too binary for a model. */
  readonly spill: SpillStore;
  /** The tool's definition, if the server's tools have been listed. */
  knownTool(server: string, tool: string): ToolDefinition | undefined;
  /** All pages, up to the server's limit (`maxListItems`, `maxListPages`). */
  listTools(server: string, options?: RequestOptions): Promise<readonly ToolDefinition[]>;
  /** A result with `isError` is an answer, not a rejection. */
  callTool(server: string, tool: string, args: JsonObject | undefined, options?: CallOptions): Promise<CallToolResult>;
  /** Ends the server's connection, if any, and makes a new one. */
  reconnect(server: string, options?: RequestOptions): Promise<ServerStatus>;
  /** Ends every process and connection, in parallel and bounded. Never rejects; may be called twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
