import type { TransportError } from "../transport/transport.ts";
import type { ClientHandlers } from "./handlers.ts";
import type {
  CallToolResult,
  Completion,
  CompletionArgument,
  CompletionRef,
  JsonObject,
  Progress,
  Prompt,
  PromptResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ServerInfo,
  Skill,
  ToolDefinition,
} from "./types.ts";

/** What a request needs beside its parameters. */
export interface ConnectionRequest {
  /** Milliseconds without answer or progress. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface Listing<T> {
  readonly items: readonly T[];
  /** False when the server has more than was read. */
  readonly complete: boolean;
  /** What was mended, dropped or cut, one sentence each; holds server text, cleaned by whoever shows it. */
  readonly notices: readonly string[];
}

/** What one listing may hold: an end for a list that has none. */
export interface ListLimit {
  readonly maxItems: number;
  readonly maxPages: number;
}

/** Handshake of revisions up to 2025-11-25, or the envelope of 2026-07-28. */
export type Era = "legacy" | "modern";

/**
 * A server that has shaken hands, whatever its era. Requests reject with RpcError, RequestTimeout, RequestCancelled,
 * ProtocolError or TransportError. There is no way to hold one before the handshake, so no request can be sent too early.
 */
export interface McpConnection {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  listTools(options: ConnectionRequest): Promise<Listing<ToolDefinition>>;
  /**
   * One tool by its name, without the whole list; `undefined` when there is none. Only of servers that offer it: an
   * extension of theirs, `tools/search` with `{name}`, answered by `{tools}`.
   */
  findTool?(name: string, options: ConnectionRequest): Promise<ToolDefinition | undefined>;
  callTool(name: string, args: JsonObject | undefined, options: ConnectionRequest): Promise<CallToolResult>;
  listResources(options: ConnectionRequest): Promise<Listing<Resource>>;
  listResourceTemplates(options: ConnectionRequest): Promise<Listing<ResourceTemplate>>;
  readResource(uri: string, options: ConnectionRequest): Promise<readonly ResourceContents[]>;
  listPrompts(options: ConnectionRequest): Promise<Listing<Prompt>>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: ConnectionRequest): Promise<PromptResult>;
  complete(ref: CompletionRef, argument: CompletionArgument, options: ConnectionRequest): Promise<Completion>;
  /** Empty when the server offers none; their files are read by `readSkillFile` only. */
  listSkills(options: ConnectionRequest): Promise<Listing<Skill>>;
  /** One file of a skill, held against what the skill's entry says of it. */
  readSkillFile(skill: Skill, uri: string, options: ConnectionRequest): Promise<Buffer>;
  /** Whether the peer is alive: `ping`, or `server/discover` where ping is gone. An error answer is an answer too. */
  ping(options: ConnectionRequest): Promise<void>;
  /**
   * Whether the peer does its work: one page of its tools, asked for anew; where that takes too long, `ping` [E188]. Resolves
   * when there was any answer.
   */
  check(options: ConnectionRequest): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** A revision to ask for and no other, or `auto`: the newest both sides know. */
  protocolVersion: string;
  clientInfo: { readonly name: string; readonly version: string };
  /** Limit of the whole start, milliseconds. */
  timeoutMs: number;
  listLimit?: ListLimit;
  handlers: ClientHandlers;
  /** What the server was last time: saves the probe, and is tried anew when the server contradicts it. */
  knownEra?: Era | undefined;
  signal?: AbortSignal | undefined;
  /** The connection ended by itself. */
  onClosed(reason: TransportError): void;
}
