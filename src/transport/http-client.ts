import { CLIENT_INFO } from "../version.ts";
import { type Connections, type HttpMethod, openConnections, untilAborted } from "./dispatcher.ts";
import type { AuthRefusal, HttpAuth } from "./http-auth.ts";
import { discard } from "./http-body.ts";
import { redirectFailure } from "./http-failure.ts";
import { type HttpResponse, headerOf } from "./http-response.ts";
import { basicCredentials } from "./proxy.ts";
import type { TlsFiles } from "./tls.ts";
import { type SendOptions, TransportError } from "./transport.ts";

/** A token that has expired, a nonce, one scope more: what is refused after that is refused. */
const MAX_AUTH_ATTEMPTS = 4;

/** A slash added, a host's own name: more than a few hops are a loop. */
const MAX_REDIRECTS = 3;

/** Headers of the connection and of the message's framing, which the configuration cannot set. */
const OWN_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "expect", "content-length"]);

/** RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 section 5.5. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Where an HTTP server is and how to speak to it; files are paths, values are ready for use. */
export interface HttpTransportOptions extends TlsFiles {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Proxy variables, and those that name authorities (`NODE_EXTRA_CA_CERTS`), are read from it when connecting. */
  readonly env: NodeJS.ProcessEnv;
  /** Credentials that are not configured, and what to do when the server wants others. */
  readonly auth?: HttpAuth | undefined;
  /** Limit of one message, and of one event of a stream; 64 MiB when absent. */
  readonly maxMessageBytes?: number | undefined;
}

export interface ClientRequest extends SendOptions {
  /** Another address of the same origin. */
  readonly url?: URL;
  readonly body?: string;
}

/** The requests of one server's transport: its address, its headers, its connections. */
export class HttpClient {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #options: HttpTransportOptions;
  /** Moves with a redirect, so that a server behind one costs two requests once and not each time. */
  #url: URL;
  #connections: { foreground: Connections; background: Connections } | undefined;
  #opening: Promise<void> | undefined;
  #isClosed = false;
  #resting = false;

  /** Throws a TransportError when the address or a header is none, which can be known only once variables are filled in. */
  constructor(options: HttpTransportOptions) {
    if (!URL.canParse(options.url) || !/^https?:$/.test(new URL(options.url).protocol)) {
      throw misconfigured("its `url` is not an http or https address once variables are filled in");
    }
    this.#options = options;
    this.#url = new URL(options.url);
    const authorization = basicCredentials(this.#url);
    this.#headers = { ...(authorization && { authorization }), ...cleanHeaders(options.headers) };
  }

  get url(): URL {
    return this.#url;
  }

  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { env } = this.#options;
    const tls: TlsFiles = this.#options;
    const [foreground, background] = await Promise.all([
      openConnections({ env, tls, background: false }),
      openConnections({ env, tls, background: true }),
    ]);
    this.#connections = { foreground, background };
    this.#resting = false;
    if (!this.#isClosed) return;
    await this.close();
    throw new TransportError("ended", "the connection is closed", "not-sent");
  }

  /** Follows what RFC 9110 lets repeat with its body (307, 308), inside the origin. Rejects with a TransportError. */
  async request(method: HttpMethod, request: ClientRequest): Promise<HttpResponse> {
    let url = request.url ?? this.#url;
    for (let hops = 0; ; hops++) {
      if (this.#resting) await this.open();
      if (!this.#connections) throw new TransportError("ended", "the connection is closed", "not-sent");
      const connections = this.#connections[request.background ? "background" : "foreground"];
      const response = await this.#authorized(connections, url, method, request);
      const { statusCode: status } = response;
      if (status < 300 || status >= 400 || status === 304) {
        if (hops > 0 && !request.url) this.#url = url;
        return response;
      }
      discard(response);
      const location = headerOf(response, "location");
      const target = location !== "" && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (target?.origin !== url.origin) {
        throw redirectFailure(response, target, "another origin, to which its headers must not be sent");
      }
      if (status !== 307 && status !== 308) {
        throw redirectFailure(response, target, "with a status that would lose the message");
      }
      if (hops === MAX_REDIRECTS) throw redirectFailure(response, target, "after too many redirects");
      url = target;
    }
  }

  /** Sends a request, and again as long as it was refused for want of credentials and there are others. */
  async #authorized(
    connections: Connections,
    url: URL,
    method: HttpMethod,
    { body, signal, headers: given }: ClientRequest,
  ): Promise<HttpResponse> {
    const { auth } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const sent = (await auth?.headers({ method, url, body })) ?? {};
      // What the protocol says comes last: no credentials may replace it.
      const headers = { ...this.#headers, ...sent, ...given };
      const response = await connections.request(url, { method, headers, body, signal });
      const { statusCode: status } = response;
      if (!auth || (status !== 401 && status !== 403) || attempt === MAX_AUTH_ATTEMPTS) return response;
      const refusal: AuthRefusal = {
        ...{ method, url, status, sent, attempt, signal },
        challenges: [response.headers["www-authenticate"] ?? []].flat(),
        nonce: headerOf(response, "dpop-nonce"),
      };
      if (!(await untilAborted(auth.refused(refusal), signal))) return response;
      discard(response);
    }
  }

  /** Cuts all connections; the next request opens them anew. */
  async rest(): Promise<void> {
    if (this.#isClosed || this.#resting) return;
    this.#resting = true;
    this.#opening = undefined;
    await this.#cut();
  }

  /** Also ends what is only being opened. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#cut();
  }

  async #cut(): Promise<void> {
    const connections = this.#connections;
    this.#connections = undefined;
    await Promise.all([connections?.foreground.destroy(), connections?.background.destroy()]);
  }
}

export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name.toLowerCase());
}

export function isHeaderName(text: string): boolean {
  return HEADER_NAME.test(text);
}

function cleanHeaders(configured: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": `${CLIENT_INFO.name}/${CLIENT_INFO.version}`,
    // Without it any coding is acceptable (RFC 9110, section 12.5.3), and none is undone here.
    "accept-encoding": "identity",
  };
  for (const [name, value] of Object.entries(configured)) {
    // A variable read from a file or a command's output often ends with a line break.
    const clean = value.trim();
    if (!isHeaderName(name) || !HEADER_VALUE.test(clean)) {
      throw misconfigured(
        "one of its `headers` holds a character that headers cannot carry, once variables are filled in",
      );
    }
    if (!isOwnHeader(name)) headers[name.toLowerCase()] = clean;
  }
  return headers;
}

function misconfigured(message: string): TransportError {
  return new TransportError("unreachable", message, "not-sent");
}
