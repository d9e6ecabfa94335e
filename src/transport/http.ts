import { setTimeout as sleep } from "node:timers/promises";
import { discard, readErrorBody, readText } from "./http-body.ts";
import { HttpClient, type HttpTransportOptions } from "./http-client.ts";
import { describeResponse, saysSessionIsGone, sessionLost, statusFailure } from "./http-failure.ts";
import { contentTypeOf, type HttpResponse, headerOf, isEventStream } from "./http-response.ts";
import { type JsonRpcMessage, MAX_MESSAGE_BYTES } from "./message.ts";
import { toMessages } from "./parse.ts";
import { readEvents, type StreamPosition } from "./sse.ts";
import { type SendOptions, type Transport, TransportError, type TransportEvents } from "./transport.ts";

const SESSION_HEADER = "mcp-session-id";
/** What a session id may consist of (2025-03-26, transports, session management). */
const SESSION_ID = /^[\x21-\x7e]+$/;
/** Telling the server that the session is over is a courtesy: it may not delay an exit. */
const DELETE_LIMIT_MS = 1_000;
/** Statuses that say more than a JSON-RPC error beside them: who may ask, and when. */
const STATUS_COUNTS = new Set([401, 403, 429, 503]);
/** JSON-RPC errors with which servers tell the loss of a session without saying so in the status [E059]. */
const SESSION_ERRORS = new Set([-32600, -32001]);
/** A stream whose answer has been given ends by itself; one that does not is cut, for it holds the process. */
const AFTER_ANSWER_MS = 1_000;
/** Wait before a stream is taken up again, when the server names none. */
const RETRY_MS = 1_000;
/** Below that, waiting is no waiting. */
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 10 * 60_000;
/** How often a connection for the rest of an answer is tried in a row. */
const RESUME_ATTEMPTS = 3;
/** Attempts in a row that bring nothing, before the server's own stream is given up. */
const LISTEN_ATTEMPTS = 5;
/** A stream that lasted this long counts as fruitful, though nothing came on it. */
const STEADY_MS = 10_000;

/** A stream that does not open may not hold up anything for longer. */
const STREAM_PATIENCE_MS = 250;

/**
 * Streamable HTTP (2025-03-26 and later): each message is a POST, its answer a JSON body or an event stream. The session
 * id the server names is carried on every later request. There are no clocks here: the signal of a request covers its
 * headers and its body [E074].
 */
export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly pid = undefined;
  readonly #client: HttpClient;
  readonly #limitBytes: number;
  #events: TransportEvents | undefined;
  #sessionId: string | undefined;
  /** The server has forgotten the session: requests of it fail from now on and nothing of it is sent. */
  #isLost = false;
  /** What the session's messages are sent with; its end has to name the revision too. */
  #sessionHeaders: Readonly<Record<string, string>> = {};
  /** Counts the openings of the server's own stream: an earlier one ends when there is a later. */
  #listening = 0;
  /** What that stream was opened with, while it is cut. */
  #resting: Readonly<Record<string, string>> | undefined;
  #listenHeaders: Readonly<Record<string, string>> | undefined;
  /** Until then requests wait: what a server asks on its own stream is lost while that is not open. */
  #streamReady: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** Throws a TransportError when the options cannot be used. */
  constructor(options: HttpTransportOptions) {
    this.#client = new HttpClient(options);
    this.#limitBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  }

  open(events: TransportEvents): Promise<void> {
    this.#events = events;
    return this.#client.open();
  }

  get hasSession(): boolean {
    return this.#sessionId !== undefined && !this.#isLost;
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#resting) this.listen(this.#resting);
    await this.#streamReady;
    const sessionId = options.sessionless ? undefined : this.#sessionId;
    if (this.#isLost && sessionId !== undefined) throw sessionLost();
    const response = await this.#client.request("POST", {
      ...options,
      body: JSON.stringify(message),
      headers: {
        ...this.#headers(options),
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
    });
    if (response.statusCode < 200 || response.statusCode >= 300) return this.#refused(message, response, sessionId);

    const named = headerOf(response, SESSION_HEADER);
    if (!options.sessionless && SESSION_ID.test(named)) this.#sessionId = named;
    if (sessionId !== undefined) this.#sessionHeaders = options.headers ?? {};
    if (!("method" in message && "id" in message)) {
      // 202 by the specification; 200, 204, `null`, text, and a stream that stays open are seen and mean the same [E077].
      discard(response);
      return;
    }
    try {
      await this.#readAnswer(message, response, options, sessionId);
    } catch (error) {
      // A session that was named beside an answer nobody got is not ours.
      if (sessionId === undefined) this.#sessionId = undefined;
      throw error;
    }
  }

  async #readAnswer(
    message: JsonRpcMessage,
    response: HttpResponse,
    options: SendOptions,
    sessionId: string | undefined,
  ): Promise<void> {
    const answer = { given: false };
    let hasBegun = false;
    const take = (text: string) => {
      for (const received of toMessages(text) ?? []) {
        const own = asAnswerTo(message, received);
        // A server that has begun to work on the request knew its session: then the words are about something else.
        if (own && sessionId !== undefined && !hasBegun && isSessionLoss(own)) throw this.#forget();
        hasBegun = true;
        answer.given ||= own !== undefined;
        this.#deliver(own ?? received);
      }
    };
    if (contentTypeOf(response) === "text/event-stream") return this.#readStream(response, options, answer, take);
    const text = await readText(response, this.#limitBytes);
    take(text);
    if (answer.given) return;
    const http = { status: response.statusCode };
    const what = `it answered ${describeResponse(response, text)} instead of a message`;
    throw new TransportError("malformed", what, "unknown", { http });
  }

  /**
   * The GET stream of revisions from 2025-03-26 to 2025-11-25. Whatever is no event stream means that there is none
   * [E064] [E065]. One that breaks is taken up where it ended, ever more slowly while nothing comes of it.
   */
  listen(headers: Readonly<Record<string, string>>): void {
    if (this.#listening > 0 && !this.#resting) return;
    this.#resting = undefined;
    const turn = ++this.#listening;
    this.#listenHeaders = headers;
    this.#streamReady = new Promise((resolve) => {
      const patience = setTimeout(resolve, STREAM_PATIENCE_MS);
      const opened = () => {
        clearTimeout(patience);
        resolve();
      };
      this.#listen({ headers, background: true }, turn, opened).catch(() => {});
    });
  }

  /** A stream of the server's own that was open is opened again with the next message. */
  async rest(): Promise<void> {
    if (this.#closing) return;
    if (this.#listenHeaders) {
      this.#resting = this.#listenHeaders;
      this.#listening++;
    }
    await this.#client.rest();
  }

  /** Ends the session at the server, then all connections. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  diagnostics(): string {
    return "";
  }

  #headers({ headers, sessionless }: SendOptions): Record<string, string> {
    const session = sessionless || this.#sessionId === undefined ? {} : { [SESSION_HEADER]: this.#sessionId };
    return { ...headers, ...session };
  }

  #deliver(message: JsonRpcMessage): void {
    if (!this.#closing) this.#events?.message(message);
  }

  /** A status that is no success: the loss of the session, a JSON-RPC error beside it, or a failure of its own. */
  async #refused(message: JsonRpcMessage, response: HttpResponse, sessionId: string | undefined) {
    const { statusCode: status } = response;
    const body = await readErrorBody(response.body);
    // An error without an id answers the request it came back for, but only 400 is about the message itself.
    const answer = (toMessages(body) ?? [])
      .filter((received) => status === 400 || ("id" in received && received.id !== null))
      .map((received) => asAnswerTo(message, received))
      .find((own) => own !== undefined);
    // 404 is the loss of the session (2025-11-25, transports), unless it comes with an answer about something else.
    const isGone = saysSessionIsGone(body) || (answer !== undefined && isSessionLoss(answer));
    if (sessionId !== undefined && (status === 404 ? isGone || !answer : status === 400 && isGone)) {
      throw this.#forget();
    }
    if (answer === undefined || STATUS_COUNTS.has(status)) throw statusFailure(response, body);
    this.#deliver(answer);
  }

  #forget(): TransportError {
    this.#isLost = true;
    return sessionLost();
  }

  /**
   * Reads the answer from an event stream. One that ends before it has lost the answer [E071], unless the server gave an
   * event id to come back with: then the rest is fetched, as often as the server likes (2025-11-25, transports,
   * resumability). Whoever waits for the answer keeps the time.
   */
  async #readStream(
    first: HttpResponse,
    options: SendOptions,
    answer: { readonly given: boolean },
    take: (text: string) => void,
  ): Promise<void> {
    const position: StreamPosition = {};
    for (let response = first; ; response = await this.#resume(position, options)) {
      let cut: NodeJS.Timeout | undefined;
      try {
        await readEvents(response.body, this.#limitBytes, position, ({ data }) => {
          take(data);
          if (answer.given) cut ??= setTimeout(() => response.body.destroy(), AFTER_ANSWER_MS).unref();
        });
      } catch (error) {
        if (!answer.given && !(error instanceof TransportError && error.failure === "ended")) throw error;
      } finally {
        clearTimeout(cut);
      }
      if (answer.given) return;
      if (position.lastEventId === undefined || options.sessionless) throw answerLost();
    }
  }

  async #resume(position: StreamPosition, options: SendOptions): Promise<HttpResponse> {
    const { signal } = options;
    for (let attempt = 1; ; attempt++) {
      await sleep(waitMs(position), undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
      try {
        const response = await this.#get(position, options);
        if (isEventStream(response)) return response;
        discard(response);
      } catch (error) {
        if (attempt < RESUME_ATTEMPTS && !signal?.aborted && !this.#closing) continue;
        throw answerLost(error);
      }
      throw answerLost();
    }
  }

  async #listen(options: SendOptions, turn: number, opened: () => void): Promise<void> {
    const position: StreamPosition = {};
    let wasOpen = false;
    for (let fruitless = 0; fruitless < LISTEN_ATTEMPTS && turn === this.#listening && !this.#closing; ) {
      const startedAt = performance.now();
      const { lastEventId } = position;
      let isFruitful = false;
      try {
        const response = await this.#get(position, options).finally(opened);
        if (isEventStream(response)) {
          wasOpen = true;
          await readEvents(response.body, this.#limitBytes, position, ({ data }) => {
            isFruitful = true;
            for (const message of toMessages(data) ?? []) this.#deliver(message);
          });
        } else {
          discard(response);
          // A server that is being restarted says so for a while.
          if (!wasOpen || response.statusCode < 500) return;
        }
      } catch {
        // Broken, or not reachable: both may pass.
      }
      isFruitful ||= position.lastEventId !== lastEventId || performance.now() - startedAt > STEADY_MS;
      fruitless = isFruitful ? 0 : fruitless + 1;
      await sleep(waitMs(position, fruitless), undefined, { ref: false });
    }
  }

  #get(position: StreamPosition, options: SendOptions): Promise<HttpResponse> {
    const { lastEventId } = position;
    const headers = {
      ...this.#headers(options),
      accept: "text/event-stream",
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    return this.#client.request("GET", { ...options, headers });
  }

  async #end(): Promise<void> {
    if (this.#sessionId !== undefined && !this.#isLost) {
      const headers = this.#headers({ headers: this.#sessionHeaders });
      const signal = AbortSignal.timeout(DELETE_LIMIT_MS);
      await this.#client.request("DELETE", { headers, signal }).then(discard, () => {});
    }
    await this.#client.close();
  }
}

/** The message as the answer to the request it came back for: with its own id, or an error that could not name one. */
function asAnswerTo(request: JsonRpcMessage, received: JsonRpcMessage): JsonRpcMessage | undefined {
  if ("method" in received || !("method" in request) || !("id" in request)) return undefined;
  if (received.id === null) return { ...received, id: request.id };
  return String(received.id) === String(request.id) ? received : undefined;
}

function isSessionLoss(answer: JsonRpcMessage): boolean {
  return "error" in answer && SESSION_ERRORS.has(answer.error.code) && saysSessionIsGone(String(answer.error.message));
}

function answerLost(cause?: unknown): TransportError {
  return new TransportError("ended", "its response stream ended without the answer", "unknown", { cause });
}

/** At least what the server asked for, twice as long after each attempt that brought nothing. */
function waitMs({ retryMs = RETRY_MS }: StreamPosition, fruitless = 0): number {
  return Math.min(Math.max(retryMs, MIN_RETRY_MS) * 2 ** fruitless, MAX_RETRY_MS);
}
