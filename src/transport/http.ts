import type { Dispatcher } from "undici";
import { messageOf } from "../error.ts";
import type { JsonRpcMessage } from "./message.ts";
import { toMessages } from "./parse.ts";
import { readEvents } from "./sse.ts";
import {
  type SendOptions,
  type Transport,
  TransportError,
  type TransportEvents,
  type TransportFailure,
} from "./transport.ts";

const SESSION_HEADER = "mcp-session-id";
/** Telling the server that the session is over is a courtesy: it may not delay an exit. */
const DELETE_LIMIT_MS = 1_000;
/** Enough of an error page to recognise it. */
const ERROR_BODY_BYTES = 4_096;
/** Statuses that say the request was not executed; all others leave that open. */
const NOT_EXECUTED = new Set([401, 403, 429, 503]);

export interface HttpTransportOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * Streamable HTTP (2025-03-26 and later): each message is a POST, its answer a JSON body or an event stream. The session
 * id the server names is carried on every later request. Connection limits are off: clocks belong to the protocol,
 * and a dispatcher with limits of its own ends long calls at its own time [E073].
 */
export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly pid = undefined;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #events: TransportEvents | undefined;
  #agent: Dispatcher | undefined;
  #sessionId: string | undefined;
  /** What the protocol sent along last; DELETE has to carry the revision too. */
  #lastHeaders: Readonly<Record<string, string>> = {};
  readonly #closed = new AbortController();

  constructor(options: HttpTransportOptions) {
    if (!URL.canParse(options.url)) {
      throw new TransportError("unreachable", "its `url` is no address once variables are filled in", "not-sent");
    }
    this.#url = new URL(options.url);
    this.#headers = options.headers;
  }

  async open(events: TransportEvents): Promise<void> {
    this.#events = events;
    const { Agent } = await import("undici");
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    const sessionId = this.#sessionId;
    this.#lastHeaders = options.headers ?? {};
    const response = await this.#request("POST", options, JSON.stringify(message));
    const status = response.statusCode;
    if (status >= 200 && status < 300) {
      const named = response.headers[SESSION_HEADER];
      if (typeof named === "string") this.#sessionId = named;
      await this.#answer(message, response);
      return;
    }
    const body = await readStart(response.body);
    // An error may come as a JSON-RPC answer to this very request: then the status says nothing more.
    const answers = (toMessages(body) ?? []).filter((candidate) => isAnswerTo(candidate, message));
    if (answers.length > 0 && status !== 401 && !(status === 404 && sessionId)) {
      for (const answer of answers) this.#events?.message(answer);
      return;
    }
    if (status === 404 && sessionId !== undefined) {
      if (this.#sessionId === sessionId) this.#sessionId = undefined;
      throw new TransportError("session-lost", "the server no longer knows the session", "rejected");
    }
    const failure: TransportFailure = status === 401 ? "unauthorized" : "status";
    const delivery = NOT_EXECUTED.has(status) ? "rejected" : "unknown";
    throw new TransportError(failure, describeStatus(response), delivery, { http: { status } });
  }

  async close(): Promise<void> {
    const agent = this.#agent;
    if (!agent || this.#closed.signal.aborted) return;
    this.#closed.abort();
    if (this.#sessionId !== undefined) {
      const signal = AbortSignal.timeout(DELETE_LIMIT_MS);
      await agent
        .request({ ...this.#address(), method: "DELETE", headers: this.#requestHeaders(), signal })
        .then((response) => response.body.dump())
        .catch(() => {});
    }
    await agent.destroy();
  }

  listen(): void {}

  diagnostics(): string {
    return "";
  }

  async #request(method: "POST", options: SendOptions, body: string): Promise<Dispatcher.ResponseData> {
    if (!this.#agent || this.#closed.signal.aborted) {
      throw new TransportError("ended", "the connection is closed", "not-sent");
    }
    const signal = options.signal ? AbortSignal.any([options.signal, this.#closed.signal]) : this.#closed.signal;
    try {
      return await this.#agent.request({
        ...this.#address(),
        method,
        body,
        signal,
        headers: {
          ...this.#requestHeaders(),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
      });
    } catch (error) {
      throw requestFailure(error);
    }
  }

  #address(): { origin: string; path: string } {
    return { origin: this.#url.origin, path: `${this.#url.pathname}${this.#url.search}` };
  }

  #requestHeaders(): Record<string, string> {
    const session = this.#sessionId === undefined ? {} : { [SESSION_HEADER]: this.#sessionId };
    return { ...this.#headers, ...this.#lastHeaders, ...session };
  }

  /** Delivers what a success carried; a request whose answer was not in it is lost. */
  async #answer(message: JsonRpcMessage, response: Dispatcher.ResponseData): Promise<void> {
    const isRequest = "id" in message && "method" in message;
    if (!isRequest) {
      // 202 by the specification; 200, 204, `null` or text are seen and mean the same [E077].
      await response.body.dump();
      return;
    }
    let answered = false;
    const deliver = (text: string) => {
      for (const received of toMessages(text) ?? []) {
        answered ||= isAnswerTo(received, message);
        this.#events?.message(received);
      }
    };
    const type = contentType(response);
    try {
      if (type === "text/event-stream") {
        for await (const event of readEvents(response.body)) deliver(event.data);
      } else deliver(await response.body.text());
    } catch (error) {
      throw new TransportError("ended", `the response broke off (${reasonOf(error)})`, "unknown", { cause: error });
    }
    if (answered) return;
    const what = type === "text/event-stream" ? "its response stream ended" : `it answered ${describeStatus(response)}`;
    throw new TransportError("ended", `${what} without the answer`, "unknown");
  }
}

function isAnswerTo(candidate: JsonRpcMessage, message: JsonRpcMessage): boolean {
  return !("method" in candidate) && "id" in message && String(candidate.id) === String(message.id);
}

function contentType(response: Dispatcher.ResponseData): string {
  const value = response.headers["content-type"];
  return (typeof value === "string" ? value : "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function describeStatus(response: Dispatcher.ResponseData): string {
  const type = contentType(response);
  return `HTTP ${response.statusCode}${type === "" ? "" : ` (${type})`}`;
}

async function readStart(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      parts.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= ERROR_BODY_BYTES) break;
    }
  } catch {
    // The status alone says enough.
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Codes of failures before the connection stood: no byte of the request was sent. */
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function requestFailure(error: unknown): TransportError {
  const code = codeOf(error);
  if (NEVER_CONNECTED.has(code)) {
    return new TransportError("unreachable", `the server is not reachable (${code})`, "not-sent", { cause: error });
  }
  return new TransportError("ended", `the connection was lost (${reasonOf(error)})`, "unknown", { cause: error });
}

function codeOf(error: unknown): string {
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  if (typeof code === "string") return code;
  return cause === undefined ? "" : codeOf(cause);
}

/** A code where there is one: error texts of libraries quote addresses. */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return code === "" ? (error instanceof Error ? error.name : messageOf(error)) : code;
}
