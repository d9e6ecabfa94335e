import type { ConfigChanges } from "../config/changes.ts";
import type {
  ConfigProblem,
  LoadedConfig,
  PermissionSettings,
  ServerConfig,
  UntrustedFile,
  UnusedEntry,
} from "../config/record.ts";
import type { SpillStore } from "../content/spill.ts";
import type { PermissionPort } from "../permission/port.ts";
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
  ToolDefinition,
} from "../protocol/types.ts";
import type { KnownOffers, KnownTools } from "../server/catalogue.ts";
import type { ServerPort } from "../server/port.ts";
import type { CountedList, ServerFacts } from "../server/server.ts";
import type { SignInDoor } from "../server/sign-in.ts";
import type { State } from "../server/states.ts";
import type { PinState } from "../server/tools.ts";
import type { ToolSearch } from "./search.ts";

export type ServerState = State;
export type ServerPinState = PinState;

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
  /** The host's id of the call, for whoever is asked about it. */
  callId?: string;
}

/** What a host does for a session: for its servers, and for the person who may have to be asked before one is used. */
export interface SessionPort extends ServerPort {
  /** Absent: nobody can be asked, and what would have to be asked about is denied. */
  readonly permission?: PermissionPort;
}

/**
 * The servers of one agent session. Nothing is started before something is asked of a server (`listTools`, `callTool`,
 * `readResource`, `reconnect`, …); whatever was started is ended by `close`. All methods that talk to a server reject with `McpServerError` and nothing else.
 */
export interface McpSession {
  /** The configured servers, sorted by name. Like the two below as of the last `update`. */
  readonly servers: readonly ServerConfig[];
  readonly problems: readonly ConfigProblem[];
  /** Project files nobody has allowed. Their servers are none of `servers`: using one fails with `denied`. */
  readonly untrusted: readonly UntrustedFile[];
  /** Entries that are disabled or wrong: using one fails with `unknown-server`, which says why. */
  readonly unused: readonly UnusedEntry[];
  /** What may be used without asking. Every method that uses something of a server rejects with `denied` where it may not. */
  readonly permission: PermissionSettings;
  /** Throws McpServerError `unknown-server`. */
  config(server: string): ServerConfig;
  /** Throws McpServerError `unknown-server`. */
  status(server: string): ServerStatus;
  /** Where results go that are too long or too binary for a model. */
  readonly spill: SpillStore;
  /**
   * The tool's definition, if the server's tools have been listed in this session: what a call is checked against. As all
   * definitions a session gives it is without configured secrets, so names and values may differ from the server's.
   */
  knownTool(server: string, tool: string): ToolDefinition | undefined;
  /**
   * A server's tools as they were last listed, in this session or an earlier one on this computer. Starts nothing. The same
   * object until something else is known.
   */
  knownTools(server: string): KnownTools | undefined;
  /** Finds tools among those known of all servers, by what they are for. Starts nothing. Throws McpServerError `unknown-server`. */
  readonly search: ToolSearch;
  /** One tool, from what is known, else connects and lists. */
  findTool(server: string, tool: string, options?: RequestOptions): Promise<ToolDefinition>;
  /** What the server says of itself; connects if need be. */
  describe(server: string, options?: RequestOptions): Promise<ServerFacts>;
  /** How many resources, resource templates or prompts it lists; a server that offers none mostly answers with an error. */
  count(server: string, list: CountedList, options?: RequestOptions): Promise<number>;
  /** All pages, up to the server's limit (`maxListItems`, `maxListPages`). */
  listTools(server: string, options?: RequestOptions): Promise<readonly ToolDefinition[]>;
  /**
   * A server's resources, templates of addresses of resources, and prompts as they were last listed, if it ever was connected.
   * Starts nothing. The same object until something else is known; without configured secrets.
   */
  knownOffers(server: string): KnownOffers | undefined;
  /** All pages, as for tools, without configured secrets; none where the server says that it has no resources. */
  listResources(server: string, options?: RequestOptions): Promise<readonly Resource[]>;
  listResourceTemplates(server: string, options?: RequestOptions): Promise<readonly ResourceTemplate[]>;
  /** By an address as it was listed, one made from a template, or one that stands in a result. */
  readResource(server: string, uri: string, options?: CallOptions): Promise<readonly ResourceContents[]>;
  listPrompts(server: string, options?: RequestOptions): Promise<readonly Prompt[]>;
  getPrompt(
    server: string,
    prompt: string,
    args: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<PromptResult>;
  /** Values an argument of a prompt or of a resource's template may have; none of a server that does not complete. */
  complete(
    server: string,
    ref: CompletionRef,
    argument: CompletionArgument,
    options?: CallOptions,
  ): Promise<Completion>;
  /** A result with `isError` is an answer, not a rejection. */
  callTool(server: string, tool: string, args: JsonObject | undefined, options?: CallOptions): Promise<CallToolResult>;
  /**
   * What of a server's tools, as they are known, is not as it was accepted. Starts nothing. Throws McpServerError
   * `unknown-server`, and `denied` where the record cannot be read.
   */
  pins(server: string): ServerPinState;
  /**
   * Accepts these tools of a server as they are known, or all of them; the answer has the names of those that had waited. For
   * what a person has said, and nobody else. Rejects with McpServerError.
   */
  acceptPins(server: string, tools?: readonly string[]): Promise<readonly string[]>;
  /** How one signs in to a server. Throws McpServerError `unknown-server`. */
  signIn(server: string): SignInDoor;
  /** Ends the server's connection, if any, and makes a new one. */
  reconnect(server: string, options?: RequestOptions): Promise<ServerStatus>;
  /**
   * The last that the server's process has written to stderr: clean text without secrets, empty where there is none. Throws
   * McpServerError `unknown-server`.
   */
  words(server: string): string;
  /** Calls `changed` after each change of what is told here of any server. Returns how to end that. */
  watch(changed: () => void): () => void;
  /**
   * Takes up another reading of the configuration, at once: `servers`, `problems` and `untrusted` are of that one when this
   * returns. A server whose entry means the same keeps its connection, state and notices. One whose entry has changed
   * is replaced: requests under way end on the old connection, all others go to a new one, which starts with the first
   * of them. One that is gone, or that comes from a project's file which is not allowed any more, is ended. The
   * promise waits for what ends at once and never rejects; a closed session changes nothing.
   */
  update(config: LoadedConfig): Promise<ConfigChanges>;
  /**
   * Another conversation begins with the same servers: what was allowed for the former one counts no more, and files of its results
   * are removed, unless they are to stay, as with `close`. Never rejects.
   */
  beginConversation(options?: { readonly keepResults?: boolean }): Promise<void>;
  /**
   * Ends every process and connection, in parallel and bounded, and removes the files of results, unless they are to stay:
   * here, or by `PI_MCP_KEEP_RESULTS` in the environment. Never rejects; may be called twice.
   */
  close(options?: { readonly keepResults?: boolean }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
