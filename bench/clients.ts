/** The three clients the bench compares, each with a server of its own behind it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { join } from "../test/oracle/join.ts";

export const TRANSPORTS = ["stdio", "http"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export interface BenchClient {
  /** Calls the tool; gives the text of the result. */
  call(call: number, size: number): Promise<string>;
  close(): Promise<void>;
}

/** In the order of the table. */
export const CLIENTS = { raw, "pi-mcp": ours, sdk } as const;
export type ClientName = keyof typeof CLIENTS;

const COMMAND = process.execPath;
const SERVER = `${import.meta.dirname}/server.ts`;
const MODERN = "2026-07-28";
const INFO = { name: "bench", version: "1.0.0" };
/** Nothing here takes longer, so it only ends what hangs. */
const LIMIT_MS = 60_000;

async function httpServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(COMMAND, [SERVER, "http"], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => ended(child) };
}

/** The server ends with its stdin. */
async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.stdin?.end();
  await exit;
}

/** No MCP, only its bytes: what a call costs at least, with the same JSON and the same pipe or socket. */
async function raw(transport: TransportName, revision: string): Promise<BenchClient> {
  return transport === "stdio" ? rawPipe(revision) : rawHttp(revision);
}

/** What the newer revision repeats in each request. */
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": INFO,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** As long as a real client's, which asks for progress. */
function callMessage(call: number, size: number, revision: string): string {
  const _meta = { ...(revision === MODERN && ENVELOPE), progressToken: call };
  const params = { name: "fill", arguments: { call, size }, _meta };
  return JSON.stringify({ jsonrpc: "2.0", id: call, method: "tools/call", params });
}

interface CallAnswer {
  readonly id: number;
  readonly result: { readonly content: readonly [{ readonly text: string }] };
}

function rawPipe(revision: string): BenchClient {
  const child = spawn(COMMAND, [SERVER, "stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (text: string) => void>();
  let rest: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = chunk.split("\n");
    for (const [at, line] of lines.entries()) {
      rest.push(line);
      if (at === lines.length - 1) break;
      const { id, result } = JSON.parse(rest.join("")) as CallAnswer;
      rest = [];
      waiting.get(id)?.(result.content[0].text);
      waiting.delete(id);
    }
  });
  return {
    call: (call, size) =>
      new Promise((resolve) => {
        waiting.set(call, resolve);
        child.stdin.write(`${callMessage(call, size, revision)}\n`);
      }),
    close: () => ended(child),
  };
}

async function rawHttp(revision: string): Promise<BenchClient> {
  const { url, stop } = await httpServer();
  const agent = new Agent({ keepAlive: true });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return {
    call: (call, size) =>
      new Promise((resolve, reject) => {
        const outgoing = request(url, { method: "POST", agent, headers }, (response) => {
          text(response).then((body) => resolve((JSON.parse(body) as CallAnswer).result.content[0].text), reject);
        });
        outgoing.once("error", reject).end(callMessage(call, size, revision));
      }),
    close: async () => {
      agent.destroy();
      await stop();
    },
  };
}

async function ours(transport: TransportName, revision: string): Promise<BenchClient> {
  const server = transport === "http" ? await httpServer() : undefined;
  const target = server
    ? ({ kind: "http", url: server.url, headers: {} } as const)
    : ({ kind: "stdio", command: COMMAND, args: [SERVER, "stdio"], env: {} } as const);
  const connection = await join(target, { protocolVersion: revision, handlers: {} });
  return {
    call: async (call, size) => {
      const { content } = await connection.callTool("fill", { call, size }, { timeoutMs: LIMIT_MS });
      const [block] = content;
      return block?.type === "text" ? block.text : "";
    },
    close: async () => {
      await connection.close();
      await server?.stop();
    },
  };
}

async function sdk(transport: TransportName, revision: string): Promise<BenchClient> {
  const server = transport === "http" ? await httpServer() : undefined;
  const client = new Client(INFO, {
    versionNegotiation: { mode: revision === MODERN ? { pin: revision } : "legacy" },
  });
  await client.connect(
    server
      ? new StreamableHTTPClientTransport(new URL(server.url))
      : new StdioClientTransport({ command: COMMAND, args: [SERVER, "stdio"] }),
  );
  return {
    call: async (call, size) => {
      const { content } = await client.callTool({ name: "fill", arguments: { call, size } });
      const [block] = content as { type: string; text: string }[];
      return block?.text ?? "";
    },
    close: async () => {
      await client.close();
      await server?.stop();
    },
  };
}
