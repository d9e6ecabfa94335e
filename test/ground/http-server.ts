import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TlsOptions } from "node:tls";
import type { Outlet } from "./brain.ts";
import { createBrain, namesAnswer, pause, writeRaw } from "./brain.ts";
import type { Observed, Received } from "./observed.ts";
import { observe } from "./observed.ts";
import type { ServerScript, Step, WireMessage } from "./script.ts";

/** Revisions a client may name in `MCP-Protocol-Version` (2025-06-18, transports, protocol version header). */
const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** A fake server that listens on a loopback port of this process. */
export interface FakeHttp extends Observed {
  readonly url: string;
  readonly port: number;
  /** An entry of an `mcpServers` array. */
  entry(name: string, more?: object): { name: string; url: string };
  /** The session ids it knows. */
  sessions(): string[];
  /** As after a restart: every session id it gave out is unknown from now on. */
  forgetSessions(): void;
  /** Sends a message on every open GET stream; gives their number. */
  push(message: WireMessage): number;
  /** Cuts all connections and stops listening. */
  close(): Promise<void>;
}

export interface HttpOptions {
  /** Where an earlier server was closed; a free one when absent. */
  readonly port?: number;
  /** Makes it an https server. */
  readonly tls?: TlsOptions;
}

export async function fakeHttp(script: ServerScript = {}, { port = 0, tls }: HttpOptions = {}): Promise<FakeHttp> {
  refuseStdioFields(script);
  const brain = createBrain(script);
  const received: Received[] = [];
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();

  async function post(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const message = parse(body);
    const rejection = message === undefined ? rpcError(400, -32700, "Parse error") : refuse(request, message);
    if (rejection !== undefined || message === undefined) return reply(response, rejection ?? {});
    brain.hear(message);
    const step = brain.stepFor(message);
    if (message.id === undefined || message.method === undefined) return acknowledge(request, step, response);

    const headers: Record<string, string> = {};
    if (message.method === "initialize" && script.sessions !== false && (step.status ?? 200) < 300) {
      const session = randomUUID();
      sessions.add(session);
      headers["mcp-session-id"] = session;
    }
    Object.assign(headers, step.headers);
    if ((step.status !== undefined || step.body !== undefined) && step.raw === undefined && !namesAnswer(step)) {
      await pause(step.delayMs ?? 0);
      return reply(response, { ...step, headers });
    }
    const outlet = asStream(step, script)
      ? eventStream(response, step.status, headers)
      : single(response, step, headers);
    await brain.play(message, step, outlet);
    if (step.destroy) request.socket.resetAndDestroy();
    else if (!step.silent) response.end();
  }

  /** 202 for what needs no answer, unless a step says otherwise. */
  async function acknowledge(request: IncomingMessage, step: Step, response: ServerResponse): Promise<void> {
    if (step.delayMs !== undefined) await pause(step.delayMs);
    if (step.raw !== undefined) return stream(request, step, response);
    if (step.destroy) request.socket.resetAndDestroy();
    else if (!step.silent) reply(response, { status: 202, ...step });
  }

  /** Writes what is raw in the step; `silent` leaves the stream open for `push`. */
  async function stream(request: IncomingMessage, step: Step, response: ServerResponse): Promise<void> {
    const outlet = eventStream(response, step.status, { ...step.headers });
    await writeRaw(step.raw ?? [], null, outlet.bytes);
    if (step.destroy) request.socket.resetAndDestroy();
    else if (step.silent) hold(response);
    else response.end();
  }

  const isScripted = script.on?.["server/discover"] !== undefined;

  function refuse(request: IncomingMessage, message: WireMessage): Step | undefined {
    const accept = request.headers.accept ?? "";
    if (!accept.includes("application/json") || !accept.includes("text/event-stream"))
      return rpcError(406, -32000, "Not Acceptable: Client must accept both application/json and text/event-stream");
    if (!request.headers["content-type"]?.startsWith("application/json"))
      return rpcError(415, -32000, "Unsupported Media Type: Content-Type must be application/json");
    // What comes before a session asks for none; a script that answers `server/discover` means its own answer.
    const isFirst = message.method === "initialize" || (message.method === "server/discover" && isScripted);
    return isFirst ? undefined : refuseSession(request);
  }

  function refuseSession(request: IncomingMessage): Step | undefined {
    const revision = request.headers["mcp-protocol-version"];
    const isKnown = REVISIONS.includes(String(revision)) || (isScripted && revision === "2026-07-28");
    if (revision !== undefined && !isKnown) return rpcError(400, -32000, "Bad Request: Unsupported protocol version");
    if (script.sessions === false) return undefined;
    const session = request.headers["mcp-session-id"];
    if (session === undefined) return rpcError(400, -32000, "Bad Request: Mcp-Session-Id header is required");
    return sessions.has(String(session)) ? undefined : rpcError(404, -32001, "Session not found");
  }

  /** A GET stream that stays open: `push` writes to it. */
  function hold(response: ServerResponse): void {
    streams.add(response);
    response.on("close", () => streams.delete(response));
  }

  /** GET and DELETE: a step if there is one, else what a right server does. With `raw` it is a stream of that. */
  async function other(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = brain.stepOf(request.method ?? "");
    if (step?.delayMs !== undefined) await pause(step.delayMs);
    if (step?.raw !== undefined) return stream(request, step, response);
    if (step?.destroy) request.socket.resetAndDestroy();
    else if (step?.silent) return;
    else if (step !== undefined) reply(response, step);
    else if (request.method === "GET" && script.getStream) {
      const rejection = refuseSession(request);
      if (rejection !== undefined) return reply(response, rejection);
      eventStream(response);
      hold(response);
    } else if (request.method === "DELETE") {
      const rejection = refuseSession(request);
      sessions.delete(String(request.headers["mcp-session-id"]));
      reply(response, rejection ?? { status: 200 });
    } else reply(response, { status: 405, headers: { allow: "POST, DELETE" } });
  }

  const push = (message: WireMessage): number => {
    for (const stream of streams) stream.write(eventOf(message));
    return streams.size;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on("error", () => {});
    const body = await bodyOf(request);
    if (body === undefined) return;
    const { method: httpMethod = "", url: path = "", headers } = request;
    const message = httpMethod === "POST" ? parse(body) : undefined;
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]));
    received.push({ at: Date.now(), httpMethod, path, headers: flat, ...(message === undefined ? {} : { message }) });
    if (new URL(path, "http://127.0.0.1").pathname !== "/mcp") reply(response, { status: 404, body: "Not found" });
    else if (httpMethod === "POST") await post(request, response, body);
    else await other(request, response);
  };
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as AddressInfo).port;
  const url = `${tls ? "https" : "http"}://127.0.0.1:${bound}/mcp`;

  return {
    ...observe(() => [...received]),
    url,
    port: bound,
    entry: (name, more) => ({ name, url, ...more }),
    sessions: () => [...sessions],
    forgetSessions: () => sessions.clear(),
    push,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A step that could do nothing here is a mistake in the test. */
function refuseStdioFields(script: ServerScript): void {
  const steps = Object.values(script.on ?? {}).flatMap((each) => each as Step | Step[]);
  const fields = [...Object.keys(script), ...steps.flatMap((step) => Object.keys(step))];
  const wrong = fields.filter((field) => ["startup", "framing", "stderr", "exit", "signal", "env"].includes(field));
  if (wrong.length > 0) throw new Error(`Over HTTP a fake server has no ${wrong.join(", ")}.`);
}

/** The body, or undefined when the client left before it was whole. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  try {
    return Buffer.concat(await request.toArray()).toString();
  } catch {
    return undefined;
  }
}

function parse(body: string): WireMessage | undefined {
  try {
    return JSON.parse(body) as WireMessage;
  } catch {
    return undefined;
  }
}

function rpcError(status: number, code: number, message: string): Step {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  return { status, headers: { "content-type": "application/json" }, body };
}

function reply(response: ServerResponse, step: Step): void {
  response.writeHead(step.status ?? 200, { ...step.headers }).end(step.body ?? "");
}

function asStream(step: Step, script: ServerScript): boolean {
  return script.sse === true || ["sse", "notify", "progress", "ask", "raw", "endStream"].some((field) => field in step);
}

function eventOf(message: WireMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function eventStream(response: ServerResponse, status = 200, headers: Record<string, string> = {}): Outlet {
  response.writeHead(status, { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers });
  response.flushHeaders();
  const bytes = (part: string | Buffer): Promise<void> =>
    new Promise((resolve) => {
      // A client that has gone takes nothing and is no error of the server.
      if (response.destroyed) resolve();
      else response.write(part, () => resolve());
    });
  return { send: (message) => bytes(eventOf(message)), bytes };
}

/** One JSON answer. Whatever must come before an answer makes a stream instead. */
function single(response: ServerResponse, step: Step, headers: Record<string, string>): Outlet {
  return {
    async send(message) {
      response.writeHead(step.status ?? 200, { "content-type": "application/json", ...headers });
      response.write(JSON.stringify(message));
    },
    bytes: () => Promise.reject(new Error("Raw bytes need an event stream.")),
  };
}
