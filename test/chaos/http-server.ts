import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type HttpFate, httpFate, runsCall } from "./fate.ts";
import { Ledger } from "./ledger.ts";
import { answer, failure, type Message, textResult, usualAnswer } from "./mcp.ts";

export interface ChaosHttp {
  readonly url: string;
  /** Refuses connections for so long, and ends those there are. */
  refuse(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A server that does to each call what the seed says, over HTTP with sessions. */
export async function chaosHttp(seed: string, file: string, limitMs: number): Promise<ChaosHttp> {
  const ledger = new Ledger(file);
  const sessions = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    request.on("error", () => {});
    response.on("error", () => {});
    handle(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return void response.writeHead(405).end();
    const id = String(request.headers["mcp-session-id"] ?? "");
    if (request.method === "DELETE") return void response.writeHead(sessions.delete(id) ? 200 : 404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    if (message.method === "initialize") {
      const session = randomUUID();
      sessions.add(session);
      return json(response, usualAnswer(message), { "mcp-session-id": session });
    }
    if (message.method === "server/discover") return json(response, usualAnswer(message));
    if (!sessions.has(id)) return void response.writeHead(404).end("no such session");
    if (message.method !== "tools/call") {
      const usual = usualAnswer(message);
      return usual ? json(response, usual) : void response.writeHead(202).end();
    }
    await serve(message.id, message.params?.arguments?.call ?? "", id, response);
  }

  async function serve(id: unknown, call: string, session: string, response: ServerResponse): Promise<void> {
    const right = answer(id, textResult(call));
    const refuse = (status: number) => void response.writeHead(status, { "retry-after": "0" }).end("out of order");
    const stream = (text: string) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(text);
    };
    const then: Readonly<Record<HttpFate, () => Promise<void> | void>> = {
      answers: () => json(response, right),
      "answers in a stream": () => stream(`: hello\n\ndata: ${JSON.stringify(right)}\n\n`),
      "answers with an error": () => json(response, failure(id, -32000, "it did not work")),
      "answers late": () => sleep(limitMs + 50).then(() => json(response, right)),
      "runs and is silent": () => {},
      "runs and resets": () => void response.destroy(),
      "runs and answers garbage": () => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end("<html>");
      },
      "runs and ends the stream": () => stream(`data: ${JSON.stringify(right).slice(0, 20)}`),
      "is silent": () => {},
      resets: () => void response.destroy(),
      "refuses with 500": () => refuse(500),
      "refuses with 503": () => refuse(503),
      "refuses with 429": () => refuse(429),
      "loses the session": () => {
        sessions.delete(session);
        refuse(404);
      },
    };
    const fate = httpFate(seed, call, ledger.seen(call));
    if (runsCall(fate)) ledger.ran(call);
    await then[fate]();
  }

  return {
    url: `http://127.0.0.1:${port}/mcp`,
    refuse: async (ms) => {
      await stop();
      await sleep(ms);
      await listen(port);
    },
    close: stop,
  };
}

function json(response: ServerResponse, message: object | undefined, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(message));
}
