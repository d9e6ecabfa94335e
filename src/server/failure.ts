import { maySignIn } from "../config/may-sign-in.ts";
import type { ServerConfig } from "../config/record.ts";
import type { Redactor } from "../content/redact.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import { type ErrorCategory, McpServerError, messageOf } from "../error.ts";
import { CODE, ProtocolError, RequestCancelled, RequestTimeout, RpcError } from "../protocol/errors.ts";
import { TransportError } from "../transport/transport.ts";
import { logName } from "./stderr.ts";

/** A server's own error text, for a sentence. */
const SERVER_TEXT_CHARS = 2_000;
/** What is shown of stderr: the last words, not the whole ring [E017]. */
const DIAGNOSTIC_CHARS = 4_096;

export interface FailureContext {
  readonly config: ServerConfig;
  readonly redactor: Redactor;
  /** `initialize`: the connection never stood. `request`: it did. */
  readonly during: "initialize" | "request";
  /** Raw text of the server's stderr. */
  readonly diagnostics?: string;
  /** Variables its configuration names and nobody has set. */
  readonly unset?: readonly string[];
  /** What the time limit was: that of a start or a listing, that of calls, or one this call was given. Default `start`. */
  readonly limit?: LimitKind;
}

export type LimitKind = "start" | "call" | "own";

/** Turns whatever a transport or the protocol threw into the one error people and hosts see. */
export function toServerError(thrown: unknown, context: FailureContext): McpServerError {
  if (thrown instanceof McpServerError) return thrown;
  const { config, redactor, during, unset = [] } = context;
  const { category, text } = explain(thrown, context);
  const isStart = during === "initialize" && category !== "cancelled";
  const hint = isStart && unset.length > 0 ? `. Not set in the environment: ${unset.join(", ")}` : "";
  const said = `MCP server \`${config.name}\`${isStart ? " failed to initialize" : ""}: ${text}${hint}`;
  const words = isStart ? lastWords(context.diagnostics ?? "", redactor) : "";
  // A log is not quoted: what reads the error may be somebody else than who may read the log.
  const isLogged = config.policy.stderr === "file";
  const log = isLogged && words !== "" ? `. What it wrote before is in its log, ${logName(config.name)}` : "";
  const diagnostics = isLogged ? "" : words;
  return new McpServerError(config.name, category, redactor.text(said) + log, { cause: thrown, diagnostics });
}

export function cancelled({ name }: ServerConfig): McpServerError {
  return new McpServerError(name, "cancelled", `MCP server \`${name}\`: the request was cancelled`);
}

/**
 * The error as it is told when no further try follows: how often it was tried, and how many tries were sent without an
 * answer, for then the request may have run.
 */
export function triedInVain(
  error: McpServerError,
  attempts: number,
  unanswered: number,
  { source }: ServerConfig,
): McpServerError {
  if (attempts === 1 && unanswered === 0) return error;
  const { server, category, cause, diagnostics } = error;
  const tried = attempts === 1 ? "" : ` (tried ${attempts} times)`;
  // What we refuse ourselves says what to do, and an answer is no matter of the configuration.
  const isBroken = attempts > 1 && cause instanceof TransportError && !error.message.includes("Check ");
  const advice = isBroken ? `. Check its entry in ${source.file}:${source.line}` : "";
  const message = `${error.message}${mayHaveRun(attempts, unanswered)}${tried}${advice}`;
  return new McpServerError(server, category, message, { cause, diagnostics, attempts });
}

function mayHaveRun(attempts: number, unanswered: number): string {
  if (unanswered === 0) return "";
  if (attempts === 1) return ". The request may have run; it was not repeated";
  return unanswered === 1 ? ". The request may have run" : `. The request may have run up to ${unanswered} times`;
}

interface Explanation {
  category: ErrorCategory;
  text: string;
}

function explain(thrown: unknown, { config, during, redactor, limit = "start" }: FailureContext): Explanation {
  // Redacted before it is cut, or the cut would leave half a secret that nobody recognises.
  const clean = (text: string) => sanitizeLine(redactor.text(sanitizeText(text)), SERVER_TEXT_CHARS);
  const where = `${config.source.file}:${config.source.line}`;
  if (thrown instanceof RequestCancelled) return { category: "cancelled", text: "the request was cancelled" };
  if (thrown instanceof RequestTimeout) {
    return { category: "timeout", text: `${thrown.message}. ${howToWait(config, limit, where)}` };
  }
  if (thrown instanceof RpcError) {
    const text = clean(thrown.message);
    if (during === "initialize") return { category: "connection", text: `it refused (${thrown.code}): ${text}` };
    return { category: categoryOfRpcError(thrown), text: `it answered with error ${thrown.code}: ${text}` };
  }
  if (thrown instanceof ProtocolError) {
    return { category: during === "initialize" ? "connection" : "other", text: clean(thrown.message) };
  }
  if (thrown instanceof TransportError) {
    if (thrown.failure === "unauthorized") return explainUnauthorized(thrown, clean(thrown.message), config, where);
    return explainTransport(thrown, clean(thrown.message), where, during);
  }
  return { category: "other", text: clean(messageOf(thrown)) };
}

function howToWait({ fields, limitFields }: ServerConfig, limit: LimitKind, where: string): string {
  if (limit === "own") return "That limit came with the call (on the command line: `--timeout`)";
  const field = limitFields?.[limit];
  if (field === undefined) return `If it needs longer, set \`requestTimeoutMs\` in ${where}`;
  // The entry's fields may stand in several files.
  const place = fields[field];
  return `If it needs longer, raise \`${field}\` in ${place === undefined ? "the environment" : `${place.file}:${place.line}`}`;
}

/** Whether a person can do something about it by signing in, or has to look into the entry. */
function explainUnauthorized(error: TransportError, text: string, config: ServerConfig, where: string): Explanation {
  if (config.oauth === false) {
    return {
      category: "connection",
      text: `it answered HTTP 401 (\`oauth\` is false in ${where}, so it is not signed in to)`,
    };
  }
  if (!maySignIn(config)) {
    const isCommanded = config.target.kind !== "stdio" && config.target.headersCommand !== undefined;
    const field = isCommanded ? "headersCommand" : "headers";
    return { category: "needs-auth", text: `it requires authorization (HTTP 401). Check \`${field}\` in ${where}` };
  }
  // Anything that was tried is told; what was not is the usual case.
  const isMore = error.http?.status === 403 || error.cause !== undefined;
  const what = isMore ? `: ${text}` : " requires authentication";
  const login = `Run /mcp-auth login ${config.name} to start the OAuth flow (in a shell: pi-mcp auth login ${config.name}).`;
  return { category: "needs-auth", text: `Server "${config.name}"${what}. ${login}` };
}

function explainTransport(
  error: TransportError,
  text: string,
  where: string,
  during: FailureContext["during"],
): Explanation {
  switch (error.failure) {
    case "unreachable":
      return { category: "connection", text: `${text}. Check its entry in ${where}` };
    case "status":
    case "malformed":
      if (error.http?.status === 403) {
        return { category: "needs-auth", text: `it refuses access (HTTP 403). Check \`headers\` in ${where}` };
      }
      if (during === "initialize") return { category: "connection", text: `${text}. Check its entry in ${where}` };
      return { category: "connection", text };
    default:
      return { category: "connection", text };
  }
}

/** MCP has no code of its own for an unknown tool: servers answer "invalid params" and say it in words. */
function categoryOfRpcError(error: RpcError): ErrorCategory {
  if (error.code === CODE.resourceNotFound) return "validation";
  if (error.code !== CODE.invalidParams) return "other";
  return /\b(unknown tool|tool\b.*\bnot found|no such tool)\b/i.test(error.message) ? "unknown-tool" : "validation";
}

/** The end of what a server has said on stderr, clean and without secrets. */
export function lastWords(raw: string, redactor: Redactor): string {
  const text = redactor.text(sanitizeText(raw)).trim();
  if (text.length <= DIAGNOSTIC_CHARS) return text;
  const tail = text.slice(-DIAGNOSTIC_CHARS);
  return tail.slice(tail.indexOf("\n") + 1);
}
