import { contentTypeOf, type HttpResponse, headerOf } from "./http-response.ts";
import { type HttpRefusal, TransportError } from "./transport.ts";

/** How much of a page is quoted [E080]. */
const EXCERPT_CHARS = 200;
/** A page tells what it is within its first part; more would only cost time. */
const EXCERPT_SOURCE_CHARS = 4_096;
/** Statuses that say the request was not executed; all others leave that open. */
const NOT_EXECUTED = new Set([401, 403, 404, 405, 406, 413, 415, 429, 503]);

/** The failure that a status which is no success means; `body` is the beginning of what came with it. */
export function statusFailure(response: HttpResponse, body: string): TransportError {
  const http = refusalOf(response);
  if (http.status === 401) {
    return new TransportError("unauthorized", "it requires authorization (HTTP 401)", "rejected", { http });
  }
  const delivery = NOT_EXECUTED.has(http.status) ? "rejected" : "unknown";
  return new TransportError("status", `it answered ${describeResponse(response, body)}`, delivery, { http });
}

function refusalOf(response: HttpResponse): HttpRefusal {
  const retryAfter = retryAfterMs(headerOf(response, "retry-after"), Date.now());
  const challenges = response.headers["www-authenticate"];
  return {
    status: response.statusCode,
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
    ...(challenges !== undefined && { challenges: [challenges].flat() }),
  };
}

/** RFC 9110 section 10.2.3: seconds, or a date; undefined when it is neither. */
export function retryAfterMs(value: string, now: number): number | undefined {
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes almost anything for a date; those of HTTP end so (RFC 9110 section 5.6.7).
  const date = /GMT\s*$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** `HTTP 502 (text/html): Bad Gateway`; the text is the server's. */
export function describeResponse(response: HttpResponse, body: string): string {
  const type = contentTypeOf(response);
  const text = /^(?:|text\/.*|application\/(?:.*\+)?(?:json|xml))$/.test(type) ? excerptOf(body) : "";
  return `HTTP ${response.statusCode}${type === "" ? "" : ` (${type})`}${text === "" ? "" : `: ${text}`}`;
}

/** What a person would read on the page, in one line. Addresses are left out: they may be ours, with all that is in them. */
export function excerptOf(page: string): string {
  const text = page
    .slice(0, EXCERPT_SOURCE_CHARS)
    .replace(/<(script|style)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->|<[^>]*>/gi, " ")
    .replace(/\p{Cc}\[[\d;]*[A-Za-z]/gu, "")
    .replace(/[\p{C}\s]+/gu, " ")
    .replace(/\bhttps?:\/\/[^\s"'<>]+/gi, "(address)")
    .trim();
  const characters = [...text];
  return characters.length <= EXCERPT_CHARS ? text : `${characters.slice(0, EXCERPT_CHARS).join("")}…`;
}

/**
 * A redirect that is not followed: headers made for one origin go to no other [E083], and a method that may turn into GET
 * would lose the message [E082]. The address it names is told, without what may be a key in it.
 */
export function redirectFailure(response: HttpResponse, target: URL | undefined, why: string): TransportError {
  const { statusCode: status } = response;
  const shown = target && `${target.origin}${target.pathname.replace(/[\w=-]{20,}/g, "***")}`.slice(0, EXCERPT_CHARS);
  const message =
    shown === undefined
      ? `it redirects (HTTP ${status}) without naming an address`
      : `it redirects (HTTP ${status}) to ${shown}, ${why}. If that is its right address, use it as \`url\``;
  return new TransportError("status", message, "rejected", { http: { status } });
}

/** Told by servers in their own words where the status does not tell it [E059]; only for a request with a session id. */
const SESSION_IS_GONE =
  /\bnot (?:yet )?initialized\b|\b(?:no valid|invalid|unknown|expired) (?:mcp[- ])?session\b|\bsession(?: ?id)?\b.{0,80}\b(?:not found|not valid|not exist|invalid|unknown|expired|terminated|closed|no longer)\b/i;

export function saysSessionIsGone(text: string): boolean {
  return SESSION_IS_GONE.test(text.slice(0, EXCERPT_SOURCE_CHARS));
}

export function sessionLost(): TransportError {
  return new TransportError("session-lost", "the server no longer knows the session", "rejected");
}

export function tooLarge(limitBytes: number): TransportError {
  const limit = limitBytes < 1024 * 1024 ? `${limitBytes} bytes` : `${Math.round(limitBytes / 1024 / 1024)} MiB`;
  return new TransportError("malformed", `a message of the server is larger than ${limit}`, "unknown");
}

/** A connection that had stood, or a body that broke off: what was sent may have been executed. */
export function lostConnection(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  const why = code || (error instanceof Error ? error.name : "no reason given");
  return new TransportError("ended", `the connection was lost (${why})`, "unknown", { cause: error });
}

/** The code of an error or of what caused it; empty when there is none. Their texts quote addresses. */
export function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return typeof code === "string" ? code : codeOf(cause);
}
