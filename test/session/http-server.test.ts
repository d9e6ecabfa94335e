import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { fakeHttp, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "./open.ts";

const call = { action: "call", server: "web", tool: "echo" };

function use(home: Home, entry: object) {
  home.write({ mcp: { mcpServers: { web: entry } } });
  return sessionOf(home);
}

interface Message {
  id?: number;
  method?: string;
  params?: { name?: string };
}

/** A server of raw responses. */
async function raw(
  handle: (message: Message, response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ url: string; server: HttpServer; [Symbol.asyncDispose](): Promise<void> }> {
  const server = createServer(async (request, response) => {
    response.on("error", () => {});
    const body = Buffer.concat(await request.toArray().catch(() => [])).toString();
    handle(body === "" ? {} : (JSON.parse(body) as Message), response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return {
    url,
    server,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const INIT = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
function json(response: ServerResponse, id: unknown, result: unknown, status = 200) {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
function usual(message: Message, response: ServerResponse): boolean {
  if (message.method === "initialize") json(response, message.id, INIT);
  else if (message.id === undefined) response.writeHead(202).end();
  else return false;
  return true;
}
const TEXT = { content: [{ type: "text", text: "done" }] };

test("a session lost in the middle of parallel calls costs none of them: all were refused, so all are sent again", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp();
  const session = use(home, { url: server.url });
  await mcp(session, call);
  server.forgetSessions();
  const answers = await Promise.all(Array.from({ length: 5 }, (_, n) => mcp(session, { ...call, args: { n } })));
  await session.close();
  await server.close();
  expect(answers.map(({ text }) => text.includes("may have run"))).toEqual([false, false, false, false, false]);
  expect(answers.every(({ isError }) => !isError)).toBe(true);
});

test("a lost session does not break off a call that is already running", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({
    on: { "tools/call slow": { delayMs: 1_000, text: "slow is done" } },
    tools: [tool("echo"), tool("slow")],
  });
  const session = use(home, { url: server.url });
  await mcp(session, call);
  const slow = mcp(session, { ...call, tool: "slow" });
  await server.until("tools/call", 2);
  server.forgetSessions();
  await mcp(session, call);
  const answer = await slow;
  await session.close();
  await server.close();
  expect(answer.text).toContain("slow is done");
});

test("a call that the server answered, with HTTP status 404, is not sent again", async () => {
  await using home = await temporaryHome();
  const error = { code: -32602, message: "no such file" };
  const server = await fakeHttp({ on: { "tools/call": { status: 404, error } } });
  const session = use(home, { url: server.url });
  const answer = await mcp(session, call);
  await session.close();
  await server.close();
  expect(server.params("tools/call")).toHaveLength(1);
  expect(answer.text).toContain("no such file");
});

test("after a repetition the error says how often it was tried", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/call": { status: 404, body: "" } } });
  const session = use(home, { url: server.url });
  const failure = await session.callTool("web", "echo", {}).catch((error: unknown) => error);
  await session.close();
  await server.close();
  expect(server.params("tools/call")).toHaveLength(2);
  expect(failure).toMatchObject({ attempts: 2 });
});

test("a notification whose 202 has a body that never ends does not hold up the start", async () => {
  await using home = await temporaryHome();
  const seen: unknown[] = [];
  await using server = await raw((message, response) => {
    seen.push(message.method);
    if (message.method === "notifications/initialized") response.writeHead(202).flushHeaders();
    else if (!usual(message, response)) json(response, message.id, TEXT);
  });
  await using session = use(home, { url: server.url });
  const called = mcp(session, call);
  await until("the call", () => (seen.includes("tools/call") ? true : undefined), 10_000).finally(() =>
    session.close(),
  );
  await called;
});

test("an error status whose body never ends is told at once as that status", async () => {
  await using home = await temporaryHome();
  await using server = await raw((message, response) => {
    if (!usual(message, response)) response.writeHead(500, { "content-type": "text/plain" }).write("oops");
  });
  await using session = use(home, { url: server.url, requestTimeoutMs: 10_000 });
  expect((await mcp(session, call)).text).toContain("HTTP 500");
});

test("a header that a variable gave a line break is named as the fault", async () => {
  await using home = await temporaryHome({ env: { DOCS_TOKEN: "abc\n123" } });
  const server = await fakeHttp();
  const session = use(home, { url: server.url, headers: { Authorization: "Bearer ${DOCS_TOKEN}" } });
  const { text } = await mcp(session, call);
  await session.close();
  await server.close();
  expect(text).not.toContain("connection was lost");
  expect(text).toMatch(/header/);
});

test("an address that a variable made no http address is named as the fault", async () => {
  await using home = await temporaryHome({ env: { HOST: "localhost:3000" } });
  await using session = use(home, { url: "${HOST}/mcp" });
  const { text } = await mcp(session, call);
  expect(text).not.toContain("connection was lost");
  expect(text).toContain("`url`");
});

test("user and password in the address are sent, or said not to be", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp();
  const session = use(home, { url: server.url.replace("http://", "http://me:secretpass@") });
  await mcp(session, call);
  const problems = session.problems.length;
  await session.close();
  await server.close();
  const sent = server.received()[0]?.headers?.authorization;
  expect(sent !== undefined || problems > 0).toBe(true);
});

test("a configured Content-Type or Accept is not sent twice", async () => {
  await using home = await temporaryHome();
  let headers: string[] = [];
  await using server = await raw((message, response, request) => {
    if (message.method === "initialize")
      headers = request.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    if (!usual(message, response)) json(response, message.id, TEXT);
  });
  await using session = use(home, {
    url: server.url,
    headers: { "Content-Type": "application/json", Accept: "application/json" },
  });
  await mcp(session, call);
  expect(headers.filter((name) => name === "content-type")).toHaveLength(1);
  expect(headers.filter((name) => name === "accept")).toHaveLength(1);
});

test("an answer over the message cap is refused over HTTP too", async () => {
  await using home = await temporaryHome();
  await using server = await raw((message, response) => {
    if (usual(message, response)) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.write(`{"jsonrpc":"2.0","id":${message.id},"result":{"content":[{"type":"text","text":"`);
    for (let i = 0; i < 66; i++) response.write("x".repeat(1024 * 1024));
    response.end(`"}]}}`);
  });
  await using session = use(home, { url: server.url });
  const { isError, text } = await mcp(session, call);
  expect([isError, text.slice(0, 200)]).toEqual([true, expect.stringMatching(/larger|too large|64 MiB/)]);
});

test("a 401 after the start is shown as needs-auth in the status", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/call": { status: 401, body: "" } } });
  const session = use(home, { url: server.url });
  const failure = await session.callTool("web", "echo", {}).catch((error: unknown) => error);
  const { state } = session.status("web");
  await session.close();
  await server.close();
  expect(failure).toMatchObject({ category: "needs-auth" });
  expect(state).toBe("needs-auth");
});

test("a server that has gone is not shown as connected once a call found out", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp();
  const session = use(home, { url: server.url });
  await mcp(session, call);
  await server.close();
  const { isError } = await mcp(session, call);
  const { state } = session.status("web");
  await session.close();
  expect(isError).toBe(true);
  expect(state).not.toBe("ready");
});

test("what a server says in an error answer with the id null is in the message", async () => {
  await using home = await temporaryHome();
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32000, message: "Bad Request: no such workspace" },
  });
  const headers = { "content-type": "application/json" };
  const server = await fakeHttp({ on: { "tools/call": { status: 400, headers, body } } });
  const session = use(home, { url: server.url });
  const { text } = await mcp(session, call);
  await session.close();
  await server.close();
  expect(text).toContain("no such workspace");
});

test("a session whose loss only a notification learned of is renewed by the next call", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/call": [{ silent: true }, { echo: true }] } });
  const session = use(home, { url: server.url });
  const abort = new AbortController();
  const pending = session.callTool("web", "echo", {}, { signal: abort.signal }).catch(() => {});
  await server.until("tools/call");
  server.forgetSessions();
  abort.abort();
  await pending;
  await server.until("notifications/cancelled");
  await new Promise((resolve) => setTimeout(resolve, 100));
  const answers = [await mcp(session, call), await mcp(session, call)];
  await session.close();
  await server.close();
  expect(answers.map(({ isError, text }) => (isError ? text : "ok"))).toEqual(["ok", "ok"]);
});
