import type { IncomingMessage } from "node:http";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";

/** One request a proxy was given. */
export interface ProxiedRequest {
  readonly method: string;
  /** `http://host/path` as it was asked for, or `host:port` of a tunnel. */
  readonly target: string;
  readonly headers: IncomingMessage["headers"];
}

export interface RecordingProxy {
  readonly url: string;
  requests(): ProxiedRequest[];
  close(): Promise<void>;
}

/**
 * A forward proxy that leads every name, whatever it is, to one loopback port. With `credentials` it wants them as
 * `Proxy-Authorization` says (`user:password`); with `refuseTunnels` it answers CONNECT with 403.
 */
export async function recordingProxy(
  upstreamPort: number,
  { credentials, refuseTunnels = false }: { credentials?: string; refuseTunnels?: boolean } = {},
): Promise<RecordingProxy> {
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();
  const isAllowed = (request: IncomingMessage): boolean => {
    requests.push({ method: request.method ?? "", target: request.url ?? "", headers: request.headers });
    const wanted = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
    return !wanted || request.headers["proxy-authorization"] === wanted;
  };

  const server = createServer((request, response) => {
    if (!isAllowed(request)) return void response.writeHead(407).end("proxy authentication required");
    const { pathname, search } = new URL(request.url ?? "");
    const { "proxy-authorization": _, ...headers } = request.headers;
    const upstream = httpRequest(
      { host: "127.0.0.1", port: upstreamPort, method: request.method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => {});
    if (!isAllowed(request)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    if (refuseTunnels) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const upstream = connect(upstreamPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => [...requests],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
