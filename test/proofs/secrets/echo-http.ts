import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answers, type Mode } from "./answers.ts";
import { encodings } from "./planted.ts";

/** Where a request is answered badly: with it, or with the calls alone. */
export interface Fault {
  readonly on: "initialize" | "tools/list" | "tools/call";
  readonly status?: number;
  /** Instead of everything that was sent. */
  readonly body?: "not json" | "stream" | "broken off";
  readonly type?: string;
  /** Leads there. */
  readonly location?: string;
  readonly challenge?: string;
}

/** A server over HTTP that tells everything it was sent: the address and all headers. */
export async function echoHttp(
  mode: Mode,
  fault?: Fault,
): Promise<{ port: number; seen(): string; close(): Promise<void> }> {
  let seen = "";
  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString();
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const all = encodings({
      url: request.url,
      ...Object.fromEntries(new URL(request.url ?? "/", "http://h").searchParams),
      ...request.headers,
      ...(basic !== undefined && { basic: Buffer.from(basic, "base64").toString() }),
    });
    seen += all;
    if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end(all);
    const {
      id,
      method = "",
      params,
    } = JSON.parse(body) as { id?: number; method?: string; params?: Record<string, unknown> };
    if (method === "server/discover") return void response.writeHead(400, { "x-all": "1" }).end(all);
    if (fault?.on === method) return fail(fault, all, response);
    if (id === undefined) return void response.writeHead(202).end();
    const { answer, before } = answers(mode, all);
    const given = answer(method, params);
    if (given === undefined) return;
    response.writeHead(200, { "content-type": "text/event-stream", "x-all": encodeURIComponent(all).slice(0, 4000) });
    for (const message of [...before(method, params), { id, ...given }]) {
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    }
    response.end();
  }

  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen: () => seen,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function fail({ status = 200, body, type, location, challenge }: Fault, all: string, response: ServerResponse): void {
  const line = all.replace(/[^\x20-\x7e]/g, " ").slice(0, 6000);
  const headers = {
    "content-type": type ?? (body === "stream" || body === "broken off" ? "text/event-stream" : "application/json"),
    "x-all": line,
    ...(location !== undefined && { location: location + encodeURIComponent(line) }),
    ...(challenge !== undefined && { "www-authenticate": `${challenge} realm="${line.replace(/["\\]/g, "'")}"` }),
  };
  response.writeHead(status, headers);
  if (body === "not json") response.end(`{"jsonrpc": ${all}`);
  else if (body === "stream") response.end(`event: ${line}\ndata: ${all.replaceAll("\n", "\ndata: ")}\n\n`);
  else if (body === "broken off") response.write(`data: {"all": "${line}\n`, () => response.destroy());
  else response.end(JSON.stringify({ error: { code: -32000, message: all, all }, message: all }));
}
