import { lookup } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import type { buildConnector } from "undici";
import { codeOf, lostConnection } from "./http-failure.ts";
import type { HttpResponse } from "./http-response.ts";
import { type ForwardProxy, proxyFor } from "./proxy.ts";
import { secureContextOf, type TlsFiles } from "./tls.ts";
import { TransportError } from "./transport.ts";

/** Limit of a connection's set-up, and of a proxy's answer to CONNECT: an address that takes longer is not there. */
const CONNECT_LIMIT_MS = 10_000;
/** After this long without an answer the next address of a host is tried as well (RFC 8305 section 5) [E089]. */
const NEXT_ADDRESS_MS = 250;
const PROXY_WANTS_CREDENTIALS = 407;
/** The code of a failed connection to a name of which no address is admitted. */
const ADDRESS_NOT_ADMITTED = "ADDRESS_NOT_ADMITTED";

export interface ConnectionOptions {
  /** Proxies and authorities are read from it. */
  readonly env: NodeJS.ProcessEnv;
  readonly tls: TlsFiles;
  /** Connections that do not keep the process alive, also while they are in use. */
  readonly background: boolean;
  /**
   * Which IP addresses may be connected to; any when absent. Asked after a name was looked up, with what is then connected
   * to, so that no second look-up can say something else. Where a proxy looks up names, it is not asked.
   */
  readonly admits?: ((address: string) => boolean) | undefined;
}

export type HttpMethod = "GET" | "POST" | "DELETE";

export interface HttpRequest {
  readonly method: HttpMethod;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Connections to any address: proxies, authorities, both address families. Redirects are not followed. */
export interface Connections {
  /** Rejects with a TransportError. */
  request(url: URL, request: HttpRequest): Promise<HttpResponse>;
  /** Cuts all connections; requests in flight reject. */
  destroy(): Promise<void>;
}

/**
 * Connections made of one undici agent. Its clocks are off: they belong to the protocol, and an agent with limits of its
 * own ends long calls at its own time [E073]. Each connection is made for one request at a time, in any number.
 */
export async function openConnections({ env, tls, background, admits }: ConnectionOptions): Promise<Connections> {
  const undici = await import("undici");
  const settings = {
    timeout: CONNECT_LIMIT_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ...(admits && { lookup: guardedLookup(admits) }),
  };
  const plain = undici.buildConnector(settings);
  const secure = new Map<"server" | "proxy", Promise<buildConnector.connector>>();
  /** Their origins, once they are used. */
  const proxies = new Set<string>();
  const connecting = new Set<Socket>();

  /** Made with the first TLS connection: reading the authorities takes time. A proxy is not shown who we are to a server. */
  function secureConnector(to: "server" | "proxy"): Promise<buildConnector.connector> {
    const made =
      secure.get(to) ??
      secureContextOf(to === "server" ? tls : { ca: tls.ca }, env).then((secureContext) =>
        // Said outright, because an environment variable of Node's could say otherwise: TLS is never silently insecure.
        undici.buildConnector({ ...settings, rejectUnauthorized: true, ...(secureContext && { secureContext }) }),
      );
    secure.set(to, made);
    return made;
  }

  /** Straight to the address, or through a tunnel that stands. */
  async function direct(options: buildConnector.Options): Promise<Socket> {
    const isProxy = options.httpSocket === undefined && proxies.has(`${options.protocol}//${options.host}`);
    const connect = options.protocol === "https:" ? await secureConnector(isProxy ? "proxy" : "server") : plain;
    return new Promise((resolve, reject) => {
      const settle: buildConnector.Callback = (error, connected) => {
        connecting.delete(socket);
        if (error) reject(new NotConnected(error));
        else resolve(connected);
      };
      // It returns the socket, which its type keeps quiet about.
      // A proxy's certificate names the proxy; undici would take the name from the header `host`, which is the server's.
      const socket = connect(isProxy ? { ...options, servername: "" } : options, settle) as unknown as Socket;
      connecting.add(socket);
      if (background) detach(socket);
    });
  }

  async function tunnel(options: buildConnector.Options, target: URL, proxy: ForwardProxy): Promise<Socket> {
    const path = `${target.hostname}:${target.port || "443"}`;
    const headers = { host: path, ...proxyHeaders(proxy) };
    const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
    proxies.add(proxy.url.origin);
    const opened = await agent.connect({ origin: proxy.url.origin, path, headers, signal }).catch((error: unknown) => {
      throw unreachable(error, proxy);
    });
    const socket = opened.socket as Socket;
    if (opened.statusCode === 200) return direct({ ...options, httpSocket: socket });
    socket.on("error", () => {}).destroy();
    throw proxyRefusal(proxy, opened.statusCode);
  }

  const agent = new undici.Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      // Requests to http addresses have been given to their proxy before; what arrives here goes to the address itself.
      const target = new URL(`${options.protocol}//${options.host}`);
      const route = async () => {
        const proxy = target.protocol === "https:" ? proxyFor(target, env) : undefined;
        if (!proxy || proxy.url.origin === target.origin) return direct(options);
        return tunnel(options, target, proxy);
      };
      route().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });

  async function request(url: URL, { method, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
    const rest = { method, body: body ?? null, ...(signal && { signal }) };
    const path = `${url.pathname}${url.search}`;
    const proxy = url.protocol === "http:" ? proxyFor(url, env) : undefined;
    if (proxy) proxies.add(proxy.url.origin);
    const sending = proxy
      ? agent.request({
          origin: proxy.url.origin,
          path: `${url.origin}${path}`,
          headers: { host: url.host, ...headers, ...proxyHeaders(proxy) },
          ...rest,
        })
      : agent.request({ origin: url.origin, path, headers, ...rest });
    const response = await untilAborted(sending, signal).catch((error: unknown) => {
      throw error instanceof NotConnected ? unreachable(error, proxy) : lostConnection(error);
    });
    if (!proxy || response.statusCode !== PROXY_WANTS_CREDENTIALS) return response;
    response.body.on("error", () => {}).destroy();
    throw proxyRefusal(proxy, response.statusCode);
  }

  async function destroy(): Promise<void> {
    // The agent waits for these to fail by themselves, and they would hold the process meanwhile.
    for (const socket of connecting) socket.destroy();
    await agent.destroy();
  }

  return { request, destroy };
}

/** Looks names up as usual and leaves out the addresses that are not admitted. */
function guardedLookup(admits: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const admitted = addresses.filter(({ address }) => admits(address));
      const [first] = admitted;
      if (first === undefined) {
        return callback(Object.assign(new Error("no admitted address"), { code: ADDRESS_NOT_ADMITTED }), "", 0);
      }
      if (options.all) callback(null, admitted);
      else callback(null, first.address, first.family);
    });
  };
}

/** What sees to no signal itself goes on behind one that waits no longer. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new DOMException("The request was given up.", "AbortError"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The agent holds and lets go of the event loop with each request; this connection never holds it. */
function detach(socket: Socket): void {
  socket.unref();
  socket.ref = () => socket;
}

function proxyHeaders(proxy: ForwardProxy): Record<string, string> {
  return proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization };
}

function proxyRefusal({ variable }: ForwardProxy, status: number): TransportError {
  const why = status === PROXY_WANTS_CREDENTIALS ? "wants a user and a password" : "refused the connection";
  return new TransportError("unreachable", `the proxy in ${variable} ${why} (HTTP ${status})`, "not-sent");
}

/** A connection that never stood: no byte of a request was sent on it. */
class NotConnected extends Error {
  constructor(cause: unknown) {
    super("not connected", { cause });
  }
}

/** Texts of libraries quote addresses, so only codes are told. */
function unreachable(error: unknown, proxy: ForwardProxy | undefined): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  const who = proxy ? `the proxy in ${proxy.variable}` : "the server";
  return new TransportError("unreachable", unreachableText(who, code), "not-sent", { cause: error });
}

function unreachableText(who: string, code: string): string {
  if (/SIGNATURE|ISSUER|SELF_SIGNED/.test(code)) {
    return `the certificate of ${who} comes from an authority that is not trusted (${code}). If it is one of your own, name its file in \`ca\``;
  }
  if (code.includes("CERT")) return `the certificate of ${who} is not valid (${code})`;
  return `${who} is not reachable (${code || "no reason given"})`;
}
