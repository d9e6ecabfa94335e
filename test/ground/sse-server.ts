import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createBrain, writeRaw } from "./brain.ts";
import type { Observed, Received } from "./observed.ts";
import { observe } from "./observed.ts";
import type { ServerScript, WireMessage } from "./script.ts";

/** A fake server of the transport of 2024-11-05: a stream at `/sse`, and an endpoint of its own for each stream. */
export interface FakeSse extends Observed {
  readonly url: string;
  entry(name: string, more?: object): { name: string; type: string; url: string };
  /** Sends a message on every open stream; gives their number. */
  push(message: WireMessage): number;
  /** Ends every stream; its endpoint is unknown from now on. */
  endStreams(): void;
  close(): Promise<void>;
}

/**
 * Of a step it plays what is before the answer, the answer, and `status`, `headers` and `body` for the POST itself. Steps
 * for `GET` answer the request for the stream. `endpoint` is what the first event names, with `{session}` filled in.
 */
export async function fakeSse(
  script: ServerScript = {},
  { endpoint = "/messages?session={session}" }: { endpoint?: string } = {},
): Promise<FakeSse> {
  const brain = createBrain(script);
  const received: Received[] = [];
  const streams = new Map<string, ServerResponse>();

  const write = (session: string, bytes: string | Buffer): Promise<void> =>
    new Promise((resolve) => {
      const stream = streams.get(session);
      if (stream?.writable) stream.write(bytes, () => resolve());
      else resolve();
    });
  const send = (session: string, message: WireMessage): Promise<void> =>
    write(session, `event: message\ndata: ${JSON.stringify(message)}\n\n`);

  async function open(response: ServerResponse): Promise<void> {
    const step = brain.stepOf("GET");
    if (step?.status !== undefined) return void response.writeHead(step.status, { ...step.headers }).end(step.body);
    const session = randomUUID();
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.set(session, response);
    response.on("close", () => streams.delete(session));
    if (step?.raw !== undefined) await writeRaw(step.raw, null, (bytes) => write(session, bytes));
    if (!step?.silent) await write(session, `event: endpoint\ndata: ${endpoint.replace("{session}", session)}\n\n`);
  }

  async function post(session: string, body: string, response: ServerResponse): Promise<void> {
    if (!streams.has(session)) return void response.writeHead(404).end("Could not find session");
    const message = JSON.parse(body) as WireMessage;
    brain.hear(message);
    const step = brain.stepFor(message);
    response.writeHead(step.status ?? 202, { ...step.headers }).end(step.body ?? "Accepted");
    if (step.status !== undefined) return;
    const outlet = { send: (each: WireMessage) => send(session, each), bytes: (part: Buffer) => write(session, part) };
    await brain.play(message, step, outlet);
  }

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    response.on("error", () => {});
    const { method: httpMethod = "", url: path = "", headers } = request;
    const body = await text(request).catch(() => "");
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]));
    const message = httpMethod === "POST" && body.startsWith("{") ? (JSON.parse(body) as WireMessage) : undefined;
    received.push({ at: Date.now(), httpMethod, path, headers: flat, ...(message && { message }) });
    const { pathname, searchParams } = new URL(path, "http://127.0.0.1");
    if (httpMethod === "GET" && pathname === "/sse") await open(response);
    else if (httpMethod === "POST" && pathname === "/messages")
      await post(searchParams.get("session") ?? "", body, response);
    else response.writeHead(pathname === "/sse" ? 405 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
  return {
    ...observe(() => [...received]),
    url,
    entry: (name, more) => ({ name, type: "sse", url, ...more }),
    push: (message) => {
      for (const session of streams.keys()) void send(session, message);
      return streams.size;
    },
    endStreams: () => {
      for (const stream of streams.values()) stream.end();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
