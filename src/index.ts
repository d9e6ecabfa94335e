/**
 * The library: a session over the configured MCP servers.
 *
 * @example
 * await using session = createSession(loadConfig({ env: process.env, home: homedir() }), {
 *   env: process.env,
 *   cwd: process.cwd(),
 * });
 * const result = await session.callTool("files", "read_text_file", { path: "notes.md" });
 */
export type { ServerFacts } from "./catalog/search/fields.ts";
export { createToolIndex, type FoundTool, type SearchOptions, type ToolIndex } from "./catalog/search/tool-index.ts";
export { type SignatureOptions, toolSignature } from "./catalog/signature.ts";
export { type AcpOptions, readAcpServers } from "./config/acp.ts";
export { type ConfigChanges, changesBetween } from "./config/changes.ts";
export { describeUntrustedFile } from "./config/consent.ts";
export { FileMemory } from "./config/file-memory.ts";
export type { ConfigFlags } from "./config/flags.ts";
export { type ConfigPlace, loadConfig } from "./config/load.ts";
export type {
  ConfigLayer,
  ConfigProblem,
  FieldSource,
  KeptPermission,
  LoadedConfig,
  PermissionMode,
  PermissionRule,
  PermissionSettings,
  ServerConfig,
  UntrustedFile,
  UntrustedServer,
  UnusedEntry,
} from "./config/record.ts";
export type { RegisteredServer } from "./config/registered.ts";
export type { Decision } from "./config/trust.ts";
export { allowProject, listTrust, revoke, type TrustEntry } from "./config/trust-decisions.ts";
export { type ConfigWatch, type WatchOptions, watchConfig } from "./config/watch.ts";
export { type ErrorCategory, McpServerError } from "./error.ts";
export type { PermissionAnswer, PermissionPort, PermissionRequest } from "./permission/port.ts";
export type {
  CallToolResult,
  Completion,
  CompletionArgument,
  CompletionRef,
  ContentBlock,
  Progress,
  Prompt,
  PromptArgument,
  PromptMessage,
  PromptResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ToolAnnotations,
  ToolDefinition,
} from "./protocol/types.ts";
export type { KnownOffers, KnownTools } from "./server/catalogue.ts";
export type { Surroundings } from "./server/open-transport.ts";
export type { ServerPort } from "./server/port.ts";
export { createSession } from "./session/create-session.ts";
export type { SearchAnswer, ToolSearch } from "./session/search.ts";
export type {
  CallOptions,
  McpSession,
  RequestOptions,
  ServerState,
  ServerStatus,
  SessionPort,
} from "./session/session.ts";
