import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AuthError } from "./error.ts";
import { PORT_VARIABLE, type Redirect } from "./redirect.ts";

/** Both, since a browser may take either for `localhost`. No other interface: the answer is nobody else's. */
const ADDRESSES = ["127.0.0.1", "::1"];
/** For the page that is being sent, after which connections that a browser opened and did not use are cut. */
const LINGER_MS = 1_000;
/** An answer is a short address. */
const MAX_HEADER_BYTES = 16 * 1024;

export interface Callback {
  readonly port: number;
  close(): void;
}

/** What to say to whoever came, once it is known; undefined when it is none of our answers: then the next one is waited for. */
export type TakeAnswer = (
  parameters: URLSearchParams,
) => Promise<{ readonly title: string; readonly text: string }> | undefined;

/**
 * Listens for the answer of a sign-in. Rejects with AuthError when the port is taken, for which a person can complete it by
 * hand. It does not hold the process by itself.
 */
export async function listenForAnswer(redirect: Redirect, take: TakeAnswer): Promise<Callback> {
  let said: Promise<void> = Promise.resolve();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    said = respond(redirect, take, request, response);
  };
  const wanted = redirect.isFixed || redirect.port === 0 ? [redirect.port] : [redirect.port, 0];
  for (const port of wanted) {
    const servers = await listenAll(port, answer);
    if (servers === undefined) continue;
    const [first] = servers as [Server];
    return {
      port: (first.address() as AddressInfo).port,
      close: () => {
        for (const server of servers) server.close();
        const cut = () => {
          for (const server of servers) server.closeAllConnections();
        };
        // The one that has the answer is only about to be told what came of it.
        queueMicrotask(() => void said.then(() => setTimeout(cut, LINGER_MS).unref()));
      },
    };
  }
  const { port } = redirect;
  const text = `OAuth callback port ${port} is already in use. Set ${PORT_VARIABLE} or free port ${port}`;
  throw new AuthError("refused", text);
}

/** On the same port of all addresses this computer has, or on none. */
async function listenAll(
  port: number,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server[] | undefined> {
  const servers: Server[] = [];
  const give = () => {
    for (const server of servers) server.close();
    return undefined;
  };
  for (const address of ADDRESSES) {
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, answer);
    // A browser opens some in case it needs them; a program that is done does not wait for those.
    server.on("connection", (socket) => void socket.unref());
    const code = await new Promise<string | undefined>((resolve) => {
      server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
      server.listen({ host: address, port: servers[0] ? (servers[0].address() as AddressInfo).port : port }, () =>
        resolve(undefined),
      );
    });
    if (code === undefined) servers.push(server.unref());
    // A computer without IPv6, or without IPv4.
    else if (code !== "EADDRNOTAVAIL" && code !== "EAFNOSUPPORT") return give();
  }
  return servers.length === 0 ? undefined : servers;
}

/** Never rejects. */
async function respond(
  redirect: Redirect,
  take: TakeAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = request.url ?? "/";
  // Whoever can reach this port can send anything.
  if (!text.startsWith("/") || !URL.canParse(text, "http://localhost"))
    return page(response, 400, "Not an address", "");
  const url = new URL(text, "http://localhost");
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  // A name that leads here by a trick of the DNS is not the one we gave.
  if (!["localhost", "127.0.0.1", "[::1]"].includes(host)) page(response, 403, "Not here", "");
  else if (url.pathname !== redirect.path) page(response, 404, "Not found", "");
  else if (request.method !== "GET") page(response, 405, "Not this way", "");
  else {
    const said = await take(url.searchParams);
    if (said) page(response, 200, said.title, said.text);
    else page(response, 400, "This is no answer to a sign-in that waits", "Start it again where you began.");
  }
}

const STYLE =
  ":root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem}";
/** The answer leaves the address bar, and so the history. */
const SCRIPT = 'history.replaceState(null,"",location.pathname)';

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  ...["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`),
].join("; ");

function page(response: ServerResponse, status: number, title: string, text: string): void {
  const html = [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title><style>${STYLE}</style><script>${SCRIPT}</script>`,
    `<h1>${escaped(title)}</h1><p>${escaped(text)}</p>`,
  ].join("\n");
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(`${html}\n`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
