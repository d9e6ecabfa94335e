import { discard, readErrorBody } from "./http-body.ts";
import { HttpClient, type HttpTransportOptions } from "./http-client.ts";
import { describeResponse, saysSessionIsGone, sessionLost, statusFailure } from "./http-failure.ts";
import { isEventStream } from "./http-response.ts";
import { type JsonRpcMessage, MAX_MESSAGE_BYTES } from "./message.ts";
import { toMessages } from "./parse.ts";
import { readEvents } from "./sse.ts";
import { type SendOptions, type Transport, TransportError, type TransportEvents } from "./transport.ts";

/** The server has to name its endpoint at once; one that holds the stream open in silence is another kind of server. */
const ENDPOINT_LIMIT_MS = 30_000;

/**
 * HTTP with server-sent events (2024-11-05, transports): one stream for all that the server says, whose first event names
 * the address messages are posted to. One peer, with both directions open as long as it lives: a `stream`, and legacy
 * alone. The stream does not keep the process alive.
 */
export class LegacySseTransport implements Transport {
  readonly kind = "stream";
  readonly pid = undefined;
  readonly #client: HttpClient;
  readonly #limitBytes: number;
  #endpoint: URL | undefined;
  #isClosed = false;

  /** Throws a TransportError when the options cannot be used. */
  constructor(options: HttpTransportOptions) {
    this.#client = new HttpClient(options);
    this.#limitBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  }

  async open(events: TransportEvents): Promise<void> {
    await this.#client.open();
    let isLate = false;
    // It also holds the process, which the stream does not.
    const limit = setTimeout(() => {
      isLate = true;
      void this.#client.close();
    }, ENDPOINT_LIMIT_MS);
    try {
      await this.#connect(events);
    } catch (error) {
      const late = `it named no endpoint within ${ENDPOINT_LIMIT_MS / 1_000} s`;
      throw isLate ? new TransportError("malformed", late, "not-sent") : error;
    } finally {
      clearTimeout(limit);
    }
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (!this.#endpoint) throw new TransportError("ended", "the connection is closed", "not-sent");
    const response = await this.#client.request("POST", {
      ...options,
      url: this.#endpoint,
      body: JSON.stringify(message),
      headers: { ...options.headers, "content-type": "application/json", accept: "application/json" },
    });
    const { statusCode: status } = response;
    if (status >= 200 && status < 300) return discard(response);
    const body = await readErrorBody(response.body);
    // The endpoint's address is the session's.
    if (status === 404 || (status === 400 && saysSessionIsGone(body))) throw sessionLost();
    throw statusFailure(response, body);
  }

  listen(): void {}

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  diagnostics(): string {
    return "";
  }

  /** Resolves when the endpoint is known, and reads on. */
  async #connect(events: TransportEvents): Promise<void> {
    const response = await this.#client.request("GET", { headers: { accept: "text/event-stream" }, background: true });
    if (response.statusCode !== 200) throw statusFailure(response, await readErrorBody(response.body));
    if (!isEventStream(response)) {
      const what = describeResponse(response, await readErrorBody(response.body));
      throw new TransportError("malformed", `it answered ${what} instead of an event stream`, "not-sent");
    }
    await new Promise<void>((resolve, reject) => {
      const ended = (error?: TransportError) => {
        const reason = error ?? new TransportError("ended", "its event stream ended", "unknown");
        if (!this.#endpoint) return reject(reason);
        this.#endpoint = undefined;
        if (!this.#isClosed) events.closed(reason);
      };
      readEvents(response.body, this.#limitBytes, {}, ({ name, data }) => {
        if (name === "endpoint") {
          this.#endpoint = this.#endpointAt(data);
          resolve();
        } else if (!this.#isClosed) {
          for (const message of toMessages(data) ?? []) events.message(message);
        }
      }).then(() => ended(), ended);
    });
  }

  /** The endpoint gets our headers, so it has to be of the same origin. */
  #endpointAt(written: string): URL {
    const base = this.#client.url;
    const endpoint = URL.canParse(written, base.href) ? new URL(written, base) : undefined;
    if (endpoint?.origin === base.origin) return endpoint;
    const what = endpoint ? `at another origin (${endpoint.origin})` : "that is not an address";
    throw new TransportError("malformed", `it names an endpoint ${what}`, "not-sent");
  }
}
