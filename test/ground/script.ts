/**
 * What a fake server is told to do. A script is plain JSON, because the stdio server is another process and reads it
 * from a file; the HTTP server takes the same script.
 */

export type JsonObject = { readonly [key: string]: unknown };

/** A JSON-RPC message as it stands on the wire, right or wrong. */
export interface WireMessage {
  readonly jsonrpc?: string;
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/**
 * Bytes to write, in order. `{{id}}` in a string stands for the id of the request that is being answered, as JSON.
 * A pause flushes what was written so far; a repeat makes a flood without a large script.
 */
export type Raw = string | readonly RawPart[];
export type RawPart =
  | string
  | { readonly base64: string }
  | { readonly pauseMs: number }
  | { readonly repeat: string; readonly times: number };

/**
 * What happens when one request (or notification) arrives. Everything is done in the order of the fields below: first
 * what comes before the answer, then the answer, then the end. Which answer: the one that is named; else none if `raw`,
 * `silent`, `exit`, `signal` or one of HTTP's own endings is named; else the usual one.
 */
export interface Step {
  /** Written to stderr (stdio). */
  readonly stderr?: Raw;
  /** Messages sent before the answer: notifications, or requests with an id of their own. */
  readonly notify?: readonly WireMessage[];
  /** `notifications/progress` with the token of the request; nothing if the request carried none. */
  readonly progress?: readonly (number | { progress: number; total?: number; message?: string })[];
  /** Pause before each message of `notify` and `progress`. */
  readonly everyMs?: number;
  /** A request to the client; the answer waits for the client's response to it. */
  readonly ask?: { readonly method: string; readonly params?: JsonObject };
  /** Bytes outside any framing: on stdout, or in the body of an event stream. */
  readonly raw?: Raw;
  /** Pause before the answer. A request that was cancelled meanwhile is not answered, unless `lateAnswer`. */
  readonly delayMs?: number;
  readonly lateAnswer?: true;

  /** The answer: at most one of these. */
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** A tool result of one text block. */
  readonly text?: string;
  /** With `text`: the result says that the tool failed. */
  readonly isError?: true;
  /** A tool result with the arguments of the call as JSON. */
  readonly echo?: true;
  /** A tool result with the value of this environment variable of the server (stdio). */
  readonly env?: string;
  /** The usual answer, where another field would leave it out. */
  readonly usual?: true;
  /** Never answers. */
  readonly silent?: true;

  /** The process exits with this code, after the answer if there is one (stdio). */
  readonly exit?: number;
  /** The process kills itself with this signal (stdio). */
  readonly signal?: "SIGKILL" | "SIGTERM" | "SIGABRT";

  /** HTTP only. `status` without `body` keeps the answer, if one is named. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Answers as `text/event-stream`. Also chosen by `notify`, `progress`, `ask`, `raw` and `endStream`. */
  readonly sse?: true;
  /** The stream ends without the answer. */
  readonly endStream?: true;
  /** The connection is reset instead of the answer. */
  readonly destroy?: true;
}

/** What a stdio server does before it reads anything. */
export interface Startup {
  /** Starts a child that sleeps for minutes, holds none of the server's streams and stays in its process group. */
  readonly spawnGrandchild?: boolean;
  /** Does not end when stdin ends. */
  readonly ignoreEof?: boolean;
  readonly ignoreSigterm?: boolean;
  readonly stderr?: Raw;
  readonly stdout?: Raw;
  /** Exits with code 1 when it reads a line that is no JSON. */
  readonly exitOnJunk?: boolean;
  readonly delayMs?: number;
  readonly exit?: number;
}

export interface ToolScript {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly [key: string]: unknown;
}

export interface ServerScript {
  /** The tools the server lists and can call; one named `echo` when absent. */
  readonly tools?: readonly ToolScript[];
  /**
   * Steps by method (`tools/call`), by tool (`tools/call echo`), by HTTP method (`GET`, `DELETE`), or `*` for every
   * message that has no other entry. A list is consumed one per message, over all starts of the server; its last step
   * repeats.
   */
  readonly on?: Readonly<Record<string, Step | readonly Step[]>>;
  /** Answered to `initialize` instead of the revision that was asked for. */
  readonly protocolVersion?: string;
  readonly capabilities?: JsonObject;
  readonly serverInfo?: JsonObject;
  readonly instructions?: string;
  /** Tools on one page of `tools/list`; all of them when absent. */
  readonly pageSize?: number;
  /** Every page of `tools/list` holds one tool and names a next page. */
  readonly endlessCursor?: boolean;
  /** stdio: which frames it reads and writes. A newline server skips lines that are no JSON, as real ones do. */
  readonly framing?: "newline" | "content-length";
  /** stdio: one for every start, or a list consumed one per start whose last repeats. */
  readonly startup?: Startup | readonly Startup[];
  /** HTTP: gives out and demands `Mcp-Session-Id`; true when absent. */
  readonly sessions?: boolean;
  /** HTTP: GET opens an event stream; 405 when absent. */
  readonly getStream?: boolean;
  /** HTTP: every answer is an event stream. */
  readonly sse?: boolean;
}

/** A tool definition with a schema that takes any object. */
export function tool(name: string, definition: Omit<ToolScript, "name"> = {}): ToolScript {
  return { name, description: `The tool ${name}.`, inputSchema: { type: "object" }, ...definition };
}

/** The element a counter points at; the last one repeats. */
export function nth<T>(list: T | readonly T[], index: number): T | undefined {
  if (!Array.isArray(list)) return list as T;
  return list[Math.min(index, list.length - 1)];
}
