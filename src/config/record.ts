/**
 * The records every room may name: one configured server, whatever dialect it was written in.
 * Values here are as written (`$TOKEN`, `${HOME}`): they are expanded when the server is started, never before,
 * so that no hash, cache or listing can hold a secret that came from the environment.
 */

/** Where a server was configured. It selects defaults (`origins.ts`) and nothing else: no code branches on it. */
export type Origin = "settings" | "mcpjson" | "acp";

/** The place in a file, both counted from 1. */
export interface FilePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Whose word something is: a file of the person's own, an allowed file of the project, a variable of the environment, a
 * list an editor handed over, a file or text named on the command line, another extension of the agent.
 */
export type ConfigLayer = "own" | "project" | "environment" | "editor" | "flag" | "extension";

/** Where a field was written, and whose word that is. What is no file has its name in `file`, and no more exact place. */
export interface FieldSource extends FilePosition {
  readonly layer: ConfigLayer;
}

export interface StdioTarget {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Working directory of the process; the session's own when absent. */
  readonly cwd?: string;
}

/** `http`: Streamable HTTP (2025-03-26 and later), `sse`: HTTP with server-sent events (2024-11-05). */
export interface HttpTarget {
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A command that writes the token of the `Authorization` header. */
  readonly bearerCommand?: string;
  readonly headersCommand?: HeadersCommand;
  /** Files in PEM form: an authority to trust beside the usual ones, a certificate to show and its key. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** A program that writes headers as a JSON object. */
export interface HeadersCommand {
  /** `connection`: for all requests, again when one is refused. `request`: for each, of which it is told on its input. */
  readonly per: "connection" | "request";
  /** A program where there are `args`, a command line as a shell has it where there are none. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside the agent's whole environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

export type ServerTarget = StdioTarget | HttpTarget;

/** A value that is what a command writes. */
export interface ValueCommand {
  /** The field of the entry that it stands in. */
  readonly field: "env" | "headers" | "bearerToken";
  /** Of the variable or the header. */
  readonly name: string;
  /** Without the sign that makes it one. Its variables are its own affair: they are in its environment. */
  readonly command: string;
}

/** How much of a result a model sees. */
export interface ResultLimit {
  /** UTF-8 bytes. */
  readonly maxBytes: number;
  readonly maxLines: number;
}

/**
 * When a server is connected and how long it stays. `lazy`: with its first use, until it has been idle for long enough.
 * `eager`: with the session. `keep-alive`: with the session, checked while it is not used. `lazy-keep-alive`: with its
 * first use, then likewise.
 */
export type Lifecycle = "lazy" | "eager" | "keep-alive" | "lazy-keep-alive";

/**
 * Whether a call that was sent and got no answer is sent again. `declared`: if its tool is declared read-only or idempotent.
 * `transient`: also if the tool says nothing, after a passing fault of the network in an HTTP session that lives.
 * `transport`: likewise after any loss of the connection. `never`: whatever the tool is declared to be.
 */
export type ReplayRule = "transport" | "transient" | "declared" | "never";

/** How often and after which pauses a request that may be sent again is sent again. Times in milliseconds. */
export interface RetryPolicy {
  /** Tries of one request in all, the first among them. */
  readonly attempts: number;
  /** Of the further tries, how many may be on the connection the request failed on. */
  readonly inPlace: number;
  /** And how many on a new one. */
  readonly reconnects: number;
  /** Whether a start that failed because its transport did is also tried again. */
  readonly repeatsStart: boolean;
  /** Before the second try `firstMs`; then each time doubled, or `firstMs` more; never above `maxMs`. */
  readonly pause: { readonly firstMs: number; readonly growth: "doubled" | "added"; readonly maxMs: number };
  /** New connections after the first, until a call is answered or a person reconnects. */
  readonly reconnectsInARow: number;
}

/** How much of a list is read. */
export interface ListLimit {
  readonly maxItems: number;
  readonly maxPages: number;
}

/**
 * Which tools a server brings along for a model: `gateway`: `mcp`; `split`: `mcp_load` and `mcp_call`; `direct`: none, as its own
 * tools are the model's (unless `exposure` says otherwise). Each of these tools reaches every server, whatever it brings.
 */
export type Surface = "gateway" | "split" | "direct";

/**
 * How a model has a tool. `gateway`: by the tools of a surface. `direct`: it is a tool of its own. `deferred` and `codemode`: it
 * is one that the host's `tool_search` or `codemode` finds, on hosts that have these, and else as `gateway`. `hidden`: not at all.
 */
export type Exposure = "gateway" | "direct" | "deferred" | "codemode" | "hidden";

/** Every default that differs by origin, resolved: code below reads these, never the origin. */
export interface ServerPolicy {
  /** The protocol revision to ask for, or `auto`: the newest both sides know. */
  readonly protocolVersion: string;
  /** Limit of the handshake and of each listing request, milliseconds. */
  readonly startTimeoutMs: number;
  /** Limit of one tool call without progress, milliseconds. */
  readonly callTimeoutMs: number;
  /**
   * How messages are written to a process: a line each, or in frames with a `Content-Length`. `auto` writes so that either
   * kind of server can read it, until the first answer shows which kind this one is. Both are always read.
   */
  readonly framing: "auto" | "newline" | "content-length";
  /** How a process is ended: `polite` asks it first, `close` closes its input. What does not end by itself is killed. */
  readonly shutdown: "polite" | "close";
  /** What an unset variable in a configured value becomes; `literal`: no variable is filled in at all. */
  readonly unsetVariable: "verbatim" | "empty" | "literal";
  /**
   * How variables are written. `plain`: `$NAME` and `${NAME}`. `all`: also `${NAME:-default}`, `${env:NAME}`, `$env:NAME`
   * and `{env:NAME}`; `$$` and `$!` stand for the second sign alone, and a value that begins with `!` is a command.
   */
  readonly variableForms: "plain" | "all";
  /** Whether the container of a `docker run` or `podman run` ends with its server. */
  readonly stopContainer: boolean;
  /**
   * Whether a command `npx …` or `npm exec …` is replaced by the program it would run, where npm has installed that already
   * and it is known to be the version that is asked for.
   */
  readonly resolveNpx: boolean;
  /**
   * Where a process's stderr goes, beside the tail that is kept in memory. `ring`: nowhere; `file`: to a log, which errors
   * name in place of quoting the tail; `show`: to the host, or to the log where the host has no place for it.
   */
  readonly stderr: "ring" | "file" | "show";
  /** What a process inherits beside its own `env`: everything, or what no program can do without. */
  readonly inheritEnv: "all" | "safe";
  readonly lifecycle: Lifecycle;
  /** A connection that is not used for so long is ended, milliseconds; 0: never. */
  readonly idleTimeoutMs: number;
  /** A connection that is not used is checked so often, milliseconds; 0: never. */
  readonly healthCheckMs: number;
  readonly replay: ReplayRule;
  readonly retry: RetryPolicy;
  /**
   * Whether a connection on which anything failed (a call was answered with an error, an answer did not come in time, the
   * network broke) is replaced. Otherwise it is gone on with as long as it can be, and an HTTP session is taken up again
   * by its id.
   */
  readonly freshAfterFailure: boolean;
  readonly resultLimit: ResultLimit;
  /** How much of a list (of tools, of resources) is read; a list that is cut says so. */
  readonly listLimit: ListLimit;
  /** `patterns` also removes what merely looks like a secret from results; `values` only configured values. */
  readonly redactResults: "patterns" | "values";
  /** Whether the server may ask the host's model, where the host has a way to; a person confirms each time. */
  readonly offersSampling: boolean;
  /** Whether the server may ask which folders the session works in. Some then serve those instead of their arguments. */
  readonly offersRoots: boolean;
  /**
   * Where tools that are tools of their own come from when a session starts. `known`: from what is known of the server, if
   * it was ever listed, and it is connected with the first call; `connection`: it is connected at once.
   */
  readonly directFrom: "known" | "connection";
  readonly surface: Surface;
  /**
   * What happens when a tool is not as it was accepted, which is as it was listed first or as a person has said since.
   * `notice`: they are told. `strict`: it is also not called until they have accepted it. `off`: nothing is recorded.
   */
  readonly pin: "off" | "notice" | "strict";
  /** Whether listings show the command line or URL (masked), or the transport alone. */
  readonly showTarget: boolean;
  /** Whether a tool that says it is harmless is taken to be so, where a person would be asked otherwise. */
  readonly trustsHints: boolean;
}

/**
 * How a person signs in to a server, or a program does; `oauth` of an entry. Values are as written. All is optional: most
 * servers say themselves what they need.
 */
export interface OAuthSettings {
  /**
   * `authorization_code`: a person signs in. `client_credentials`: this program does, by its own secret or key.
   * `jwt-bearer`: by a token of the platform it runs on. `id-jag`: by a token of the organisation's identity provider.
   */
  readonly grantType?: "authorization_code" | "client_credentials" | "jwt-bearer" | "id-jag";
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Address of a Client ID Metadata Document, which is the client id where the authorization server knows such. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  readonly clientName?: string;
  readonly clientUri?: string;
  /** An http address of this computer with a port. */
  readonly redirectUri?: string;
  readonly callbackPort?: number;
  /** Instead of what the server says about where to sign in. */
  readonly authServerMetadataUrl?: string;
  /** Added to the address a person opens. */
  readonly authorizationParams?: Readonly<Record<string, string>>;
  readonly tokenEndpointAuthMethod?: string;
  /** A private key in PEM form (PKCS #8), or the path of a file with one, and its algorithm. */
  readonly privateKey?: string;
  readonly signingAlgorithm?: string;
  /** The platform's token for `jwt-bearer`, or a file that holds it, read anew each time. */
  readonly assertion?: string;
  readonly assertionFile?: string;
  /** For `id-jag`: where the identity provider changes tokens, who we are there, and a token of the person. */
  readonly idpTokenEndpoint?: string;
  readonly idpClientId?: string;
  readonly idpClientSecret?: string;
  readonly idpIdToken?: string;
  /** Tokens are bound to a key of this computer (RFC 9449). Without it: where the authorization server demands it. */
  readonly dpop?: boolean;
  /** Signs in where the authorization server does not say that it checks PKCE; a stolen code can then be used. */
  readonly allowMissingPkce?: boolean;
  /** Where tokens are kept: in a file of the person's own, or in the keyring of the system. */
  readonly credentialStore?: "file" | "keyring";
  /** Takes an answer without `iss` from an authorization server that says it sends one. */
  readonly allowMissingIssuer?: boolean;
}

/** Tools by name; `*` in a name stands for any characters. */
export interface ToolFilter {
  /** Only these; absent: all. */
  readonly include?: readonly string[];
  /** None of these, though they are included. */
  readonly exclude: readonly string[];
}

/** One enabled server. Disabled ones are dropped while reading; what is left of them is an `UnusedEntry`. */
export interface ServerConfig {
  readonly name: string;
  readonly origin: Origin;
  readonly source: FilePosition;
  readonly target: ServerTarget;
  readonly policy: ServerPolicy;
  /** Of the tools for which the two below say nothing. */
  readonly exposure: Exposure;
  /** Of tools by name or with `*`: the exact name before a pattern, and of patterns the first. */
  readonly toolExposure?: Readonly<Record<string, Exposure>>;
  /** `false`: a 401 is an error like any other [S3-33]. Absent: signed in to when the server asks for it. */
  readonly oauth?: OAuthSettings | false;
  /** Those that are tools of their own whatever the exposure is, by name or with `*`. */
  readonly directTools?: readonly string[];
  /** Where a person is there, a 401 asks them to sign in; otherwise nobody is asked unasked. */
  readonly autoAuth?: true;
  /** A run without a person in front of it ends with an error when this server cannot be used. */
  readonly isRequired?: true;
  /** Which of the server's tools there are, for everybody and everything; absent: all. */
  readonly tools?: ToolFilter;
  /** Its resources are none, likewise. */
  readonly hidesResources?: true;
  /**
   * What sets the limits of the start and of a call, for messages: fields of the entry, or variables where it stands in no
   * file. Absent where the defaults hold and could be changed by a field.
   */
  readonly limitFields?: { readonly start?: string; readonly call?: string };
  /** Of every field of the entry, under its usual name, where it was written; several files may have had a part in it. */
  readonly fields: Readonly<Record<string, FieldSource>>;
}

/** Something wrong in a configuration file. The rest of the file works. */
export interface ConfigProblem extends FilePosition {
  /** `error`: the named entry (or the whole file) is not used; `warning`: it is used, with a remark. */
  readonly severity: "error" | "warning";
  readonly server?: string;
  /** One sentence: what is wrong and what to write instead. Holds no configured value that may be secret. */
  readonly message: string;
}

/** A configured value that must not be shown, as written or as it is once variables are filled in. */
export interface ConfiguredSecret {
  readonly value: string;
  /** Whether it is a secret by its name or its looks: then it is hidden however short it is. */
  readonly isSecret: boolean;
}

/** An entry of a project file nobody has allowed: for showing, not for starting. */
export interface UntrustedServer {
  readonly name: string;
  readonly source: FilePosition;
  /**
   * What the entry would do if it were allowed: add a server, take the place of the person's own of that name, change
   * fields of it, or switch it off.
   */
  readonly effect: "adds" | "replaces" | "changes" | "disables";
  /** What would be run or reached, as written; absent for one that is switched off or wrong. */
  readonly target?: ServerTarget;
  /** What would be run for values of the target, as written. */
  readonly commands: readonly ValueCommand[];
  /**
   * Of an entry that names no transport and so changes another: its fields, as written, but those that `target` shows as
   * they are. What has no effect on the person's own entry of now has one once that is of another kind.
   */
  readonly sets?: Readonly<Record<string, unknown>>;
  /** Which of its tools there would be; absent: all. */
  readonly tools?: ToolFilter;
  /** What its process would inherit. */
  readonly inheritEnv: ServerPolicy["inheritEnv"];
}

/** A file of a project whose content is not allowed: no entry of it is among the servers or has changed one. */
export interface UntrustedFile {
  /** As it was found. */
  readonly file: string;
  /** Its path in the project's folder, which is named without symbolic links. With the hash the key of a consent. */
  readonly realPath: string;
  /** Of the bytes that were parsed, hexadecimal. */
  readonly sha256: string;
  /** `denied`: a person has said no to this very content. */
  readonly state: "waiting" | "denied";
  readonly servers: readonly UntrustedServer[];
  readonly problems: readonly ConfigProblem[];
}

/** An entry that stands in a file and gives no server, while no other entry of its name gives one. */
export type UnusedEntry =
  | {
      readonly reason: "disabled";
      readonly name: string;
      /** What switches it off. */
      readonly source: FilePosition;
      /** The command line that switches it on; absent for a file that is not edited from there. */
      readonly remedy?: string;
    }
  | {
      readonly reason: "wrong";
      readonly name: string;
      /** The first mistake. */
      readonly source: FilePosition;
      readonly message: string;
    };

/**
 * What is used without asking, from the loosest to the strictest. `yolo`: everything. `write`: everything that is no
 * command of a shell, so all of MCP. `ask`: what says itself that it is harmless. `plan`: only what says that it does
 * nothing but read, and nothing else at all.
 */
export type PermissionMode = "yolo" | "write" | "ask" | "plan";

/** What is used of a server. */
export type UseKind = "tool" | "resource" | "prompt";

/** Names of a server and of something of it, in each of which `*` stands for any characters. */
export interface UsePattern {
  readonly server: string;
  readonly kind: UseKind | "any";
  readonly name: string;
}

/** One rule of `permission` in a file. */
export interface PermissionRule {
  readonly effect: "allow" | "ask" | "deny";
  /** It is about what any of these means: a text without its parts named may be read in several ways. */
  readonly patterns: readonly UsePattern[];
  /** As it stands in the file, for messages. */
  readonly written: string;
  readonly source: FieldSource;
}

/** What a person has allowed for good when they were asked: one thing of one server, as that server was configured then. */
export interface KeptPermission {
  readonly server: string;
  /** Of what the server is; see `serverIdentity`. */
  readonly identity: string;
  readonly kind: UseKind;
  readonly name: string;
}

/** What may be used without asking, and what may not be used. */
export interface PermissionSettings {
  readonly mode: PermissionMode;
  /** What says so; absent where nothing does. */
  readonly modeSource?: FieldSource;
  readonly rules: readonly PermissionRule[];
  readonly kept: readonly KeptPermission[];
}

export interface LoadedConfig {
  readonly servers: readonly ServerConfig[];
  readonly problems: readonly ConfigProblem[];
  /** Absent when nothing is said about it: then nothing is asked. */
  readonly permission?: PermissionSettings;
  /** Absent when there are none. */
  readonly untrusted?: readonly UntrustedFile[];
  /** What is disabled or wrong, of the files that are allowed to count; by name. Absent when there is none. */
  readonly unused?: readonly UnusedEntry[];
}
