/**
 * The server of the bench, of both eras and with no dependency: `server.ts stdio` or `server.ts http`, which prints its
 * port. Its one tool gives back the number it was called with, filled up to `size` characters. What a call costs here is
 * kept to the least, for it is paid by every client alike.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { call: number; size: number } };
}

const IDENTITY = { capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1.0.0" } };
const PADDING = "x".repeat(1024 * 1024);

/** The answer as text; undefined for what needs none. */
function answer(line: string): string | undefined {
  const { id, method, params } = JSON.parse(line) as Message;
  if (id === undefined) return undefined;
  const result = resultOf(method, params);
  if (result === undefined) {
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

function resultOf(method: string | undefined, params: Message["params"]): string | undefined {
  switch (method) {
    case "tools/call": {
      const { call = 0, size = 0 } = params?.arguments ?? {};
      const head = `${call} `;
      return `{"resultType":"complete","content":[{"type":"text","text":"${head}${PADDING.slice(0, size - head.length)}"}]}`;
    }
    case "initialize":
      return JSON.stringify({ ...IDENTITY, protocolVersion: params?.protocolVersion });
    case "server/discover":
      return JSON.stringify({ ...IDENTITY, ...CACHED, supportedVersions: ["2026-07-28"] });
    case "tools/list":
      return JSON.stringify({ ...CACHED, tools: [{ name: "fill", inputSchema: { type: "object" } }] });
    case "ping":
      return "{}";
    default:
      return undefined;
  }
}

const CACHED = { resultType: "complete", ttlMs: 3_600_000, cacheScope: "private" };

if (process.argv[2] === "http") {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = answer(Buffer.concat(parts).toString());
    if (text === undefined) response.writeHead(202).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
  // Ends with the bench, however that ends.
  process.stdin.resume().on("end", () => process.exit(0));
} else {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const text = answer(line);
    if (text !== undefined) process.stdout.write(`${text}\n`);
  });
}
