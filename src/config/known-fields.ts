import type { JsonNode } from "./json-file.ts";

type Kind = JsonNode["type"];

/**
 * What a field of an entry is to this program.
 * - `acts`: it is read, and its reader judges its value.
 * - `tolerated`: pi's own client or its adapter acts on it; here it has no effect, and its kind is checked.
 * - `foreign`: another program's. `instead` says what to do where leaving it out changes what the server gets.
 */
export type KnownField =
  | { readonly use: "acts" }
  | { readonly use: "tolerated"; readonly kinds: readonly Kind[] }
  | { readonly use: "foreign"; readonly instead?: string };

/** Other spellings of a field that acts. Where both are present the usual one counts. */
export const FIELD_ALIASES: ReadonlyMap<string, string> = new Map([
  ["environment", "env"],
  ["envs", "env"],
  ["cmd", "command"],
  ["httpUrl", "url"],
  ["serverUrl", "url"],
  ["baseUrl", "url"],
  ["uri", "url"],
  ["urlTemplate", "url"],
  ["url_template", "url"],
  ["http_headers", "headers"],
  ["transportType", "transport"],
  ["workingDirectory", "cwd"],
  ["headersHelper", "headersCommand"],
  ["caFile", "ca"],
  ["bearer_token", "bearerToken"],
  ["bearer_token_env_var", "bearerTokenEnv"],
  ["allowedTools", "includeTools"],
  ["allowed_tools", "includeTools"],
  ["enabled_tools", "includeTools"],
  ["available_tools", "includeTools"],
  ["disabledTools", "excludeTools"],
  ["disabled_tools", "excludeTools"],
  ["blockedTools", "excludeTools"],
  ["blocked_tools", "excludeTools"],
]);

const ACTS: readonly string[] = [
  ...["name", "type", "transport", "command", "args", "env", "cwd"],
  ...["url", "headers", "env_http_headers", "bearerToken", "bearerTokenEnv", "ca", "cert", "key"],
  ...["headersCommand", "requestHeadersCommand"],
  ...["auth", "oauth", "autoAuth"],
  ...[
    "disabled",
    "enabled",
    "required",
    "surface",
    "exposure",
    "toolExposure",
    "directTools",
    "includeTools",
    "excludeTools",
    "exposeResources",
    "protocolVersion",
  ],
  ...["timeout", "requestTimeoutMs", "startup_timeout_sec", "tool_timeout_sec"],
  ...["lifecycle", "idleTimeout", "idleTimeoutMs", "replay", "maxAttempts", "freshAfterFailure", "pin"],
  ...[
    "maxResultBytes",
    "maxResultLines",
    "maxListItems",
    "maxListPages",
    "framing",
    "shutdown",
    "inheritEnv",
    "stopContainer",
    "offersRoots",
    "trustHints",
    "sampling",
  ],
  ...["resolveNpx", "stderr", "debug"],
];

const TOLERATED: Readonly<Record<string, readonly Kind[]>> = {
  // pi's own client
  description: ["string"],
  // its adapter and the extension before it
  toolPrefix: ["string"],
};

/** The name of the program is for the reader of this list alone. */
const FOREIGN: readonly (string | readonly [field: string, instead: string])[] = [
  // pi's adapter
  ["bearerTokenStore", 'set a variable to the token and name it in "bearerTokenEnv"'],
  ["socket", 'name a "command" or a "url"'],
  ...["approval", "approveTools", "elicitation", "regex"],
  // Claude Code, Claude Desktop
  ...["alwaysLoad", "scope"],
  // Cursor, VS Code, LM Studio
  ["envFile", 'put the variables under "env"'],
  ...["dev", "gallery", "version", "sandboxEnabled", "sandbox"],
  // Windsurf, Cline, Roo Code
  ...["autoApprove", "alwaysAllow", "watchPaths"],
  // Gemini CLI
  ...["trust", "tcp", "authProviderType", "targetAudience", "targetServiceAccount", "extension"],
  // Codex
  ["env_vars", 'put the variables under "env", or leave "inheritEnv" as it is'],
  ...["startup_timeout_ms", "scopes", "supports_parallel_tool_calls"],
  ...["tools", "default_tools_approval_mode", "experimental_environment", "oauth_resource"],
  // Grok
  ...["oauth_client_id", "oauth_client_secret_env_var", "oauth_scopes", "tool_timeouts", "expose_image_base64"],
  ["setup", "run it by hand"],
  // Goose, Zed, mcporter
  ...["bundled", "env_keys", "display_name", "source", "remote"],
  ...["tokenCacheDir", "clientName", "oauthRedirectUrl", "oauthScope", "oauthCommand", "logging"],
  // Lists and notes
  ...[
    "icon",
    "icons",
    "title",
    "displayName",
    "homepage",
    "repository",
    "tags",
    "category",
    "note",
    "notes",
    "comment",
  ],
];

const OAUTH: readonly string[] = [
  ...["clientId", "clientSecret", "callbackPort", "callbackUrl", "scope", "clientName", "clientRegistration"],
  ...["authServerMetadataUrl", "grantType", "redirectUri", "clientUri", "clientSecretEnvVar", "scopes", "enabled"],
  ...["clientMetadataUrl", "authorizationParams", "authParams", "tokenEndpointAuthMethod", "privateKey"],
  ...["signingAlgorithm", "assertion", "assertionFile", "idpTokenEndpoint", "idpClientId", "idpClientSecret"],
  ...["idpIdToken", "dpop", "allowMissingPkce", "allowMissingIssuer", "credentialStore"],
];

/** Every field of an entry that is known, which is never taken for a slip of another. */
export const KNOWN_FIELDS: ReadonlyMap<string, KnownField> = new Map<string, KnownField>([
  ...FOREIGN.map((item): [string, KnownField] =>
    typeof item === "string" ? [item, { use: "foreign" }] : [item[0], { use: "foreign", instead: item[1] }],
  ),
  ...Object.entries(TOLERATED).map(([field, kinds]): [string, KnownField] => [field, { use: "tolerated", kinds }]),
  ...[...ACTS, ...FIELD_ALIASES.keys()].map((field): [string, KnownField] => [field, { use: "acts" }]),
]);

/** Those that may be meant by a slip: nobody is led to what has no effect. */
export const SUGGESTED_FIELDS: readonly string[] = [...KNOWN_FIELDS]
  .filter(([, { use }]) => use !== "foreign")
  .map(([field]) => field);

/** The fields of `oauth`. */
export const OAUTH_FIELDS: readonly string[] = OAUTH;

/** Keys under which a file may hold its servers, the usual one first. */
export const CONTAINERS: readonly string[] = ["mcpServers", "mcp-servers", "mcp_servers"];
