/**
 * A server made with the official SDK, of both eras: `server.ts stdio`, or `server.ts http`, which prints its port. It has
 * one of everything a client has to cope with.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import type { CallToolResult, InputRequiredResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolError,
  Server,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

/** Few, so that every list has pages. */
const PAGE = 5;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const FORM: Extract<Parameters<typeof inputRequired.elicit>[0]["requestedSchema"], { type: "object" }> = {
  type: "object",
  properties: {
    name: { type: "string" },
    color: { type: "string", default: "blue" },
    age: { type: "integer", default: 7 },
  },
  required: ["name"],
};

type Handler = (args: Record<string, unknown>, ctx: ServerContext) => unknown;

const text = (value: unknown) => ({ content: [{ type: "text", text: String(value) }] });

/** Counts what the server heard of calls that were given up; shared by all connections of one process. */
let cancelled = 0;

const TOOLS: Readonly<Record<string, { tool?: Partial<Tool>; handle: Handler }>> = {
  echo: {
    tool: {
      title: "Echo",
      description: "Gives back what it was given",
      inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      annotations: {
        title: "Echo",
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    handle: (args) => text(JSON.stringify(args)),
  },
  image: { handle: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }) },
  audio: { handle: () => ({ content: [{ type: "audio", data: "UklGRg==", mimeType: "audio/wav" }] }) },
  mixed: {
    handle: () => ({
      content: [
        { type: "text", text: "Ünïcödé ✓ \u0000 \ud83d\ude00" },
        { type: "image", data: PNG, mimeType: "image/png", annotations: { audience: ["user"] } },
        { type: "resource", resource: { uri: "file:///t", mimeType: "text/plain", text: "t" } },
        { type: "resource", resource: { uri: "file:///b", mimeType: "image/png", blob: PNG } },
        { type: "resource_link", uri: "file:///l", name: "l", description: "d", mimeType: "text/plain" },
      ],
    }),
  },
  structured: {
    tool: { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    handle: () => ({ ...text('{"n":1}'), structuredContent: { n: 1 } }),
  },
  empty: { handle: () => ({ content: [] }) },
  fail: { handle: () => ({ ...text("It went wrong."), isError: true }) },
  refuse: {
    handle: () => {
      throw new ProtocolError(-32602, "These arguments are refused", { field: "a" });
    },
  },
  crash: {
    handle: () => {
      throw new Error("a bug");
    },
  },
  big: { handle: () => text("x".repeat(1024 * 1024)) },
  progress: {
    handle: async (_, ctx) => {
      for (const progress of [1, 2, 3]) await report(ctx, { progress, total: 3, message: `step ${progress}` });
      // The SDK's client drops what arrives together with the result.
      await pause(100);
      return text("done");
    },
  },
  hang: {
    handle: (_, ctx) =>
      new Promise(() => {
        ctx.mcpReq.signal.addEventListener("abort", () => {
          cancelled++;
        });
      }),
  },
  /** Over HTTP a cancellation may arrive after the next call: waits for it. */
  cancelled: {
    handle: async ({ expected }) => {
      for (let wait = 0; wait < 100 && cancelled < Number(expected); wait++) await pause(20);
      return text(cancelled);
    },
  },
  log: {
    handle: async (_, ctx) => {
      for (const level of ["debug", "info", "warning", "error"] as const) {
        await ctx.mcpReq.log(level, { said: level }, "oracle");
      }
      return text("logged");
    },
  },
  header: {
    tool: {
      inputSchema: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          where: { type: "object", properties: { floor: { type: "integer", "x-mcp-header": "Floor" } } },
        },
      },
    },
    handle: (_, ctx) => text(["Region", "Floor"].map((name) => ctx.http?.req?.headers.get(`mcp-param-${name}`)).join()),
  },
  "ask the person": {
    handle: (_, ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, "form");
      if (answer) return text(JSON.stringify(answer));
      return inputRequired({
        inputRequests: { form: inputRequired.elicit({ message: "Who?", requestedSchema: FORM }) },
      });
    },
  },
  "ask the model": {
    handle: (_, ctx) => {
      const answer = ctx.mcpReq.inputResponses?.model;
      if (answer) return text(JSON.stringify(answer));
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Say something" } }];
      return inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
    },
  },
  "ask for roots": {
    handle: (_, ctx) => {
      const answer = ctx.mcpReq.inputResponses?.roots;
      if (answer) return text(JSON.stringify(answer));
      return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    },
  },
};

async function report(ctx: ServerContext, progress: object): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await ctx.mcpReq.notify({ method: "notifications/progress", params: { ...progress, progressToken } });
}

function makeServer(): Server {
  const server = new Server(
    { name: "oracle", version: "1.2.3", title: "The oracle" },
    {
      instructions: "Ask it anything.",
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
    },
  );
  const tools = Object.entries(TOOLS).map(([name, { tool }]) => ({
    name,
    inputSchema: { type: "object" as const },
    ...tool,
  }));
  server.setRequestHandler("tools/list", ({ params }) => page("tools", tools, params?.cursor));
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    const entry = TOOLS[params.name];
    if (!entry) throw new ProtocolError(-32602, `Unknown tool: ${params.name}`);
    return (await entry.handle(params.arguments ?? {}, ctx)) as CallToolResult | InputRequiredResult;
  });
  const resources = Array.from({ length: 12 }, (_, at) => ({
    uri: `file:///${at}`,
    name: `r${at}`,
    ...(at % 2 === 0 && { title: `Resource ${at}`, description: "even", mimeType: "text/plain", size: at }),
  }));
  server.setRequestHandler("resources/list", ({ params }) => page("resources", resources, params?.cursor));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "file:///{n}", name: "numbered", title: "Numbered", mimeType: "text/plain" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    if (uri === "file:///gone") throw new ProtocolError(-32602, "Resource not found", { uri });
    return {
      contents: [
        { uri, mimeType: "text/plain", text: "t" },
        { uri: `${uri}#b`, blob: PNG },
      ],
    };
  });
  server.setRequestHandler("prompts/list", () => ({
    prompts: [
      { name: "plain" },
      {
        name: "full",
        title: "Full",
        description: "d",
        arguments: [{ name: "who", description: "d", required: true }, { name: "why" }],
      },
    ],
  }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args } }) => {
    if (name !== "plain" && name !== "full") throw new ProtocolError(-32602, `Unknown prompt: ${name}`);
    return {
      description: "A prompt",
      messages: [
        { role: "user", content: { type: "text", text: JSON.stringify(args ?? null) } },
        { role: "assistant", content: { type: "image", data: PNG, mimeType: "image/png" } },
        { role: "user", content: { type: "resource", resource: { uri: "file:///t", text: "t" } } },
      ],
    };
  });
  server.setRequestHandler("completion/complete", ({ params: { argument } }) => ({
    completion: { values: [`${argument.value}a`, `${argument.value}b`], total: 20, hasMore: true },
  }));
  return server;
}

function page<K extends string, T>(key: K, items: readonly T[], cursor: string | undefined) {
  const from = Number(cursor ?? 0);
  const next = from + PAGE;
  const result = { [key]: items.slice(from, next) } as Record<K, T[]>;
  return next < items.length ? { ...result, nextCursor: String(next) } : result;
}

if (process.argv[2] === "http") await serveHttp();
else serveStdio(makeServer);

/** 2026-07-28 as the SDK serves it; older revisions with sessions, so that the server can ask. */
async function serveHttp(): Promise<void> {
  const modern = toNodeHandler(createMcpHandler(makeServer, { legacy: "reject" }));
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const plain = request as NodeIncomingMessageLike;
    if (!(await isLegacyRequest(await toWebRequest(plain, body), body))) return modern(plain, response, body);
    const id = request.headers["mcp-session-id"];
    let session = sessions.get(String(id));
    if (!session && isInitializeRequest(body)) {
      const opened = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (named) => void sessions.set(named, opened),
      });
      await makeServer().connect(opened);
      session = opened;
    }
    if (session) return session.handleRequest(request, response, body);
    response.writeHead(id === undefined ? 400 : 404).end();
  });
  http.listen(0, "127.0.0.1", () => console.log((http.address() as AddressInfo).port));
  // Ends with whoever started it.
  process.stdin.resume().on("end", () => process.exit(0));
}

async function bodyOf(request: AsyncIterable<unknown>): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString());
}
