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
  readonly attempts?: number;
}

/** Turns whatever a transport or the protocol threw into the one error people and hosts see. */
export function toServerError(thrown: unknown, context: FailureContext): McpServerError {
  if (thrown instanceof McpServerError) return thrown;
  const { config, redactor, during, unset = [], attempts = 1 } = context;
  const { category, text } = explain(thrown, context);
  const isStart = during === "initialize" && category !== "cancelled";
  const hint = isStart && unset.length > 0 ? `. Not set in the environment: ${unset.join(", ")}` : "";
  const tried = attempts > 1 ? ` (tried ${attempts} times)` : "";
  const said = `MCP server \`${config.name}\`${isStart ? " failed to initialize" : ""}: ${text}${tried}${hint}`;
  const words = isStart ? lastWords(context.diagnostics ?? "", redactor) : "";
  // A log is not quoted: what reads the error may be somebody else than who may read the log.
  const isLogged = config.policy.stderr === "file";
  const log = isLogged && words !== "" ? `. What it wrote before is in its log, ${logName(config.name)}` : "";
  const diagnostics = isLogged ? "" : words;
  return new McpServerError(config.name, category, redactor.text(said) + log, { cause: thrown, diagnostics, attempts });
}

interface Explanation {
  category: ErrorCategory;
  text: string;
}

function explain(thrown: unknown, { config, during, redactor }: FailureContext): Explanation {
  // Redacted before it is cut, or the cut would leave half a secret that nobody recognises.
  const clean = (text: string) => sanitizeLine(redactor.text(sanitizeText(text)), SERVER_TEXT_CHARS);
  const where = `${config.source.file}:${config.source.line}`;
  if (thrown instanceof RequestCancelled) return { category: "cancelled", text: "the request was cancelled" };
  if (thrown instanceof RequestTimeout) {
    return {
      category: "timeout",
      text: `${thrown.message}. If it needs longer, raise \`requestTimeoutMs\` in ${where}`,
    };
  }
  if (thrown instanceof RpcError) {
    const text = clean(thrown.message);
    if (during === "initialize") return { category: "connection", text: `it refused (${thrown.code}): ${text}` };
    return { category: categoryOfRpcError(thrown), text: `it answered with error ${thrown.code}: ${text}` };
  }
  if (thrown instanceof ProtocolError) {
    return { category: during === "initialize" ? "connection" : "other", text: clean(thrown.message) };
  }
  if (thrown instanceof TransportError) return explainTransport(thrown, clean(thrown.message), where, during);
  return { category: "other", text: clean(messageOf(thrown)) };
}

function explainTransport(
  error: TransportError,
  text: string,
  where: string,
  during: FailureContext["during"],
): Explanation {
  switch (error.failure) {
    case "unauthorized":
      return { category: "needs-auth", text: `it requires authorization (HTTP 401). Check \`headers\` in ${where}` };
    case "unreachable":
      return { category: "connection", text: `${text}. Check its entry in ${where}` };
    case "status":
    case "malformed":
      if (error.http?.status === 403) {
        return { category: "needs-auth", text: `it refuses access (HTTP 403). Check \`headers\` in ${where}` };
      }
      if (during === "initialize") return { category: "connection", text: `${text}. Check its entry in ${where}` };
      return afterSending(error, text, during);
    default:
      return afterSending(error, text, during);
  }
}

/** A request that was sent and has no answer may have run. */
function afterSending(error: TransportError, text: string, during: FailureContext["during"]): Explanation {
  const mayHaveRun = during === "request" && error.delivery === "unknown";
  return { category: "connection", text: mayHaveRun ? `${text}. The request may have run; it was not repeated` : text };
}
/** MCP has no code of its own for an unknown tool: servers answer "invalid params" and say it in words. */
function categoryOfRpcError(error: RpcError): ErrorCategory {
  if (error.code !== CODE.invalidParams) return "other";
  return /\b(unknown tool|tool\b.*\bnot found|no such tool)\b/i.test(error.message) ? "unknown-tool" : "validation";
}

function lastWords(raw: string, redactor: Redactor): string {
  const text = redactor.text(sanitizeText(raw)).trim();
  if (text.length <= DIAGNOSTIC_CHARS) return text;
  const tail = text.slice(-DIAGNOSTIC_CHARS);
  return tail.slice(tail.indexOf("\n") + 1);
}
