import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { CLIENT_INFO } from "../version.ts";
import { type Connections, type HttpMethod, openConnections } from "./dispatcher.ts";
import { headerOf, redirectFailure, tooLarge } from "./http-failure.ts";
import { basicCredentials } from "./proxy.ts";
import { type SendOptions, TransportError } from "./transport.ts";

/** A slash added, a host's own name: more than a few hops are a loop. */
const MAX_REDIRECTS = 3;
/** What a notification is answered with is thrown away, within limits. */
const DISCARD_LIMIT_MS = 1_000;
/** Enough of an error page to recognise it, and of an error that is JSON to be whole. */
const ERROR_BODY_BYTES = 64 * 1024;
const ERROR_BODY_LIMIT_MS = 300;
/** Over 64 MiB a message is a mistake, and a danger to the process. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Headers of the connection and of the message's framing, which the configuration cannot set. */
const OWN_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "expect", "content-length"]);

/** RFC 9110 section 5.5. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Where an HTTP server is and how to speak to it; files are paths, values are ready for use. */
export interface HttpTransportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Proxy variables, and those that name authorities (`NODE_EXTRA_CA_CERTS`), are read from it when connecting. */
  readonly env: NodeJS.ProcessEnv;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
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

  /** Throws a TransportError when the address or a header is none, which can be known only once variables are filled in. */
  constructor(options: HttpTransportOptions) {
    if (!URL.canParse(options.url) || !/^https?:$/.test(new URL(options.url).protocol)) {
      throw misconfigured("its `url` is no http or https address once variables are filled in");
    }
    this.#options = options;
    this.#url = new URL(options.url);
    const authorization = basicCredentials(this.#url);
    this.#headers = { ...(authorization && { authorization }), ...cleanHeaders(options.headers) };
  }

  get url(): URL {
    return this.#url;
  }

  async open(): Promise<void> {
    const { env, ca, cert, key } = this.#options;
    const tls = { ca, cert, key };
    const [foreground, background] = await Promise.all([
      openConnections({ env, tls, background: false }),
      openConnections({ env, tls, background: true }),
    ]);
    this.#connections = { foreground, background };
  }

  /** Follows what RFC 9110 lets repeat with its body (307, 308), inside the origin. Rejects with a TransportError. */
  async request(method: HttpMethod, request: ClientRequest): Promise<Dispatcher.ResponseData> {
    let url = request.url ?? this.#url;
    for (let hops = 0; ; hops++) {
      if (!this.#connections) throw new TransportError("ended", "the connection is closed", "not-sent");
      const connections = this.#connections[request.background ? "background" : "foreground"];
      const { body, signal } = request;
      const headers = { ...this.#headers, ...request.headers };
      const response = await connections.request(url, { method, headers, body, signal });
      const { statusCode: status } = response;
      if (status < 300 || status >= 400 || status === 304) {
        if (hops > 0 && !request.url) this.#url = url;
        return response;
      }
      discard(response);
      const location = headerOf(response, "location");
      const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (target?.origin !== url.origin) {
        throw redirectFailure(response, target, "where its headers must not go");
      }
      if (status !== 307 && status !== 308) {
        throw redirectFailure(response, target, "and a message does not survive that");
      }
      if (hops === MAX_REDIRECTS) throw redirectFailure(response, target, "again and again");
      url = target;
    }
  }

  async close(): Promise<void> {
    const connections = this.#connections;
    this.#connections = undefined;
    await Promise.all([connections?.foreground.destroy(), connections?.background.destroy()]);
  }
}

/** What is left of a response nobody needs, so that its connection can be used again; an endless one is cut. */
export function discard(response: Dispatcher.ResponseData): void {
  response.body.dump({ limit: 64 * 1024, signal: AbortSignal.timeout(DISCARD_LIMIT_MS) }).catch(() => {});
}

/** The whole body as text. Rejects with a TransportError over the limit at once, however much would follow [E284]. */
export function readText(response: Dispatcher.ResponseData, limitBytes: number): Promise<string> {
  const { body } = response;
  const length = Number(headerOf(response, "content-length") || Number.NaN);
  if (length <= limitBytes) return body.text();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => {
      body.destroy();
      reject(tooLarge(limitBytes));
    };
    body.on("error", reject);
    if (length > limitBytes) return stop();
    body.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limitBytes) stop();
    });
    body.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}

/** The first part of what came with an error, or as much of it as comes soon. */
export async function readErrorBody(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const limit = setTimeout(() => body.destroy(), ERROR_BODY_LIMIT_MS).unref();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ERROR_BODY_BYTES) break;
    }
  } catch {
    // An error in an error: the status alone says enough.
  }
  clearTimeout(limit);
  return Buffer.concat(chunks).toString("utf8");
}

function cleanHeaders(configured: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": `${CLIENT_INFO.name}/${CLIENT_INFO.version}` };
  for (const [name, value] of Object.entries(configured)) {
    // A variable read from a file or a command's output often ends with a line break.
    const clean = value.trim();
    if (!HEADER_VALUE.test(clean)) {
      throw misconfigured(
        "one of its `headers` holds a character that headers cannot carry, once variables are filled in",
      );
    }
    if (!OWN_HEADERS.has(name.toLowerCase())) headers[name.toLowerCase()] = clean;
  }
  return headers;
}

function misconfigured(message: string): TransportError {
  return new TransportError("unreachable", message, "not-sent");
}
