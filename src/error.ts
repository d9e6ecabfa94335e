/**
 * What went wrong with a server, in one word a caller can act on. The command line maps each to an exit code,
 * a model sees it beside the text.
 */
export type ErrorCategory =
  | "unknown-server"
  | "needs-auth"
  | "timeout"
  | "connection"
  | "unknown-tool"
  | "validation"
  | "cancelled"
  | "denied"
  | "other";

export interface McpServerErrorInit {
  /** How often the operation was tried, 1 when it was not repeated. */
  attempts?: number;
  /** What lies beneath. It may hold addresses, arguments or secrets: for logs, never for output. */
  cause?: unknown;
  diagnostics?: string;
}

/**
 * The one error that leaves the engine. `message` is a sentence for people that names the server and says what to do;
 * it holds no environment value, header, argument or address, so any host may show it anywhere.
 */
export class McpServerError extends Error {
  override readonly name = "McpServerError";
  readonly server: string;
  readonly category: ErrorCategory;
  readonly attempts: number;
  /**
   * The last lines the server wrote to stderr, cleaned and redacted, and what was odd on stdout under a heading of its own;
   * only when it failed to initialize [S1-16]. Hosts show it below the message.
   */
  readonly diagnostics: string;

  constructor(server: string, category: ErrorCategory, message: string, init: McpServerErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.server = server;
    this.category = category;
    this.attempts = init.attempts ?? 1;
    this.diagnostics = init.diagnostics ?? "";
  }
}

/** The text of anything thrown, for wrapping it into a sentence. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const STDERR_HEADING = "--- server stderr ---";
/** Stands in diagnostics before what is said of stdout, after the end of stderr if there is any. */
export const STDOUT_HEADING = "--- server stdout ---";

/** All that is to be said of anything thrown: the sentence, and below it what the server said before it failed. */
export function describeError(thrown: unknown): string {
  const diagnostics = thrown instanceof McpServerError ? thrown.diagnostics : "";
  return diagnostics === "" ? messageOf(thrown) : `${messageOf(thrown)}\n${withHeading(diagnostics)}`;
}

/** Diagnostics under a heading that says where they were written. */
export function withHeading(diagnostics: string): string {
  return diagnostics.startsWith(STDOUT_HEADING) ? diagnostics : `${STDERR_HEADING}\n${diagnostics}`;
}
