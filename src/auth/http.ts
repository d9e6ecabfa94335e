import { openConnections } from "../transport/dispatcher.ts";
import { contentTypeOf } from "../transport/http-response.ts";
import { TransportError } from "../transport/transport.ts";
import { CLIENT_INFO } from "../version.ts";
import { type Admission, reachOfAddress, safeUrl } from "./address.ts";
import { AuthError } from "./error.ts";

/**
 * An authorization server that takes longer is not there; no person waits for a machine that long. All that is read to find
 * out where to sign in has this time together, or each place where nothing answers would take it [E043].
 */
const LIMIT_MS = 30_000;
/** Metadata and tokens are a few kilobytes. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;

export interface AuthHttpOptions {
  /** Proxies and authorities are read from it. */
  readonly env: NodeJS.ProcessEnv;
  /** A file with an authority to trust beside the usual ones, as for the server. */
  readonly ca?: string | undefined;
  readonly admits: Admission;
}

export interface AuthRequest {
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface AuthResponse {
  readonly status: number;
  readonly type: string;
  header(name: string): string | undefined;
  /** All `WWW-Authenticate` values. */
  readonly challenges: readonly string[];
  readonly text: string;
}

/** Requests to authorization servers and for metadata. They never carry what belongs to another one. */
export interface AuthHttp {
  readonly admits: Admission;
  /** `what` names the address in errors. Rejects with AuthError: `refused` for the address, `transient` for the network. */
  request(url: URL, what: string, request: AuthRequest): Promise<AuthResponse>;
  /** One request to the server itself, whose address is the person's own word. */
  ask(url: URL, request: AuthRequest): Promise<AuthResponse>;
  close(): Promise<void>;
}

export async function openAuthHttp({ env, ca, admits }: AuthHttpOptions): Promise<AuthHttp> {
  const connections = await openConnections({
    env,
    tls: ca === undefined ? {} : { ca },
    background: false,
    admits: (address) => admits(reachOfAddress(address)),
  });

  let readingEnds: number | undefined;
  const limitOf = (method: "GET" | "POST"): number => {
    if (method === "POST") return LIMIT_MS;
    readingEnds ??= performance.now() + LIMIT_MS;
    return Math.max(1, Math.ceil(readingEnds - performance.now()));
  };

  async function once(url: URL, what: string, { method, headers, body }: AuthRequest): Promise<AuthResponse> {
    const signal = AbortSignal.timeout(limitOf(method));
    try {
      const response = await connections.request(url, {
        method,
        headers: {
          "user-agent": `${CLIENT_INFO.name}/${CLIENT_INFO.version}`,
          "accept-encoding": "identity",
          accept: "application/json",
          ...headers,
        },
        body,
        signal,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      // A stream would not end; nobody asked for one.
      if (contentTypeOf(response) === "text/event-stream") response.body.on("error", () => {}).destroy();
      else
        for await (const chunk of response.body as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          if (bytes > MAX_BODY_BYTES) throw new AuthError("refused", `${what} answered more than 1 MiB`);
          chunks.push(chunk);
        }
      return {
        status: response.statusCode,
        type: contentTypeOf(response),
        header: (name) => [response.headers[name]].flat()[0],
        challenges: [response.headers["www-authenticate"] ?? []].flat(),
        text: Buffer.concat(chunks).toString("utf8"),
      };
    } catch (error) {
      if (error instanceof AuthError) throw error;
      if (signal.aborted) throw new AuthError("transient", `${what} did not answer within 30 s`);
      throw networkError(error, what);
    }
  }

  return {
    admits,
    async request(first, what, request) {
      let url = safeUrl(first.href, what, admits);
      for (let hops = 0; ; hops++) {
        const response = await once(url, what, request);
        // Only what is read may be elsewhere: a code or a secret is never sent on.
        const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && request.method === "GET";
        const location = response.header("location");
        if (!isRedirect || location === undefined || hops === MAX_REDIRECTS) return response;
        if (!URL.canParse(location, url.href)) return response;
        url = safeUrl(new URL(location, url).href, `the address that ${what} redirects to`, admits);
      }
    },
    ask: (url, request) => once(url, "the server", request),
    close: () => connections.destroy(),
  };
}

function networkError(error: unknown, what: string): AuthError {
  if (error instanceof TransportError && /ADDRESS_NOT_ADMITTED/.test(error.message)) {
    const text = `the name of ${what} leads to an address of a private network or one that is reserved, so it is not used`;
    return new AuthError("refused", text, { cause: error });
  }
  const why =
    error instanceof TransportError ? error.message.replace(/^the server\b/, "it") : "the connection was lost";
  return new AuthError("transient", `${what} could not be asked: ${why}`, { cause: error });
}
