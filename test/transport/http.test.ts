import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { FakeHttp } from "../ground/http-server.ts";
import { fakeHttp } from "../ground/http-server.ts";
import type { ServerScript, Step } from "../ground/script.ts";
import { call, failureOf, initialize, openHttp, request } from "./open.ts";

const closings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function served(script: ServerScript = {}): Promise<FakeHttp> {
  const server = await fakeHttp(script);
  closings.push(() => server.close());
  return server;
}

/** A server that answers `tools/call` with this step, without sessions. */
const calling = (...steps: Step[]) => served({ sessions: false, on: { "tools/call": steps } });

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const initialized = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
const JSON_TYPE = { "content-type": "application/json" };

describe("a request", () => {
  test("[S2-12] is answered by a body or by a stream, with what the server says before", async () => {
    for (const sse of [false, true]) {
      const server = await served({ sse });
      await using http = await openHttp({ url: server.url });
      await http.transport.send(initialize);
      await http.transport.send(call(2));
      expect(http.messages).toMatchObject([
        { id: 1, result: {} },
        { id: 2, result: { content: [{ text: '{"id":2}' }] } },
      ]);
    }
    const progress = await calling({ progress: [1], text: "done" });
    await using http = await openHttp({ url: progress.url });
    await http.transport.send(request(3, "tools/call", { name: "echo", _meta: { progressToken: 3 } }));
    expect(http.messages).toMatchObject([{ method: "notifications/progress" }, { id: 3 }]);
  });

  test("[S3-49] carries the configured headers, as do the stream and the end of the session", async () => {
    const server = await served({ getStream: true });
    const headers = { Authorization: "Bearer t0ken\n", "X-Api-Key": "k", Connection: "upgrade", "Content-Length": "7" };
    {
      await using http = await openHttp({ url: server.url, headers });
      await http.transport.send(initialize, { headers: { "mcp-protocol-version": "2025-11-25" } });
      http.transport.listen({ "mcp-protocol-version": "2025-11-25" });
      await http.transport.send(initialized, { headers: { "mcp-protocol-version": "2025-11-25" } });
      server.push({ method: "x" });
    }
    const received = server.received();
    expect(received.map(({ httpMethod }) => httpMethod).sort()).toEqual(["DELETE", "GET", "POST", "POST"]);
    const session = received.find(({ httpMethod }) => httpMethod === "DELETE")?.headers?.["mcp-session-id"];
    expect(session).toBeTruthy();
    for (const each of received) {
      expect(each.headers).toMatchObject({
        authorization: "Bearer t0ken",
        "x-api-key": "k",
        "mcp-protocol-version": "2025-11-25",
        "user-agent": expect.stringMatching(/^pi-mcp\/\d/),
      });
      if (each.message?.method !== "initialize") expect(each.headers?.["mcp-session-id"]).toBe(session);
    }
  });

  test("sends user and password of the address as Basic credentials, unless a header says otherwise", async () => {
    const server = await served({ sessions: false });
    const url = server.url.replace("//", "//me:a%40b@");
    await using http = await openHttp({ url });
    await http.transport.send(call(1));
    await using other = await openHttp({ url, headers: { authorization: "Bearer x" } });
    await other.transport.send(call(2));
    const sent = server.received().map(({ headers }) => headers?.authorization);
    expect(sent).toEqual([`Basic ${btoa("me:a@b")}`, "Bearer x"]);
  });

  test("that nothing answers fails at once: 202, 204, an empty body", async () => {
    for (const status of [202, 204, 200]) {
      const server = await calling({ status, body: "" });
      await using http = await openHttp({ url: server.url });
      expect(await failureOf(http.transport.send(call(1)))).toMatchObject({
        failure: "malformed",
        delivery: "unknown",
        http: { status },
        message: expect.stringContaining(`it answered HTTP ${status}`),
      });
    }
  });

  test("[E080] that a page answers names status, type and what is on the page, but no address", async () => {
    const page = `<html><title>Sign in</title><body>Sign in at <i>https://secret.example/?k=1</i> ${"x".repeat(300)}`;
    const server = await calling({ headers: { "content-type": "text/html; charset=utf-8" }, status: 200, body: page });
    await using http = await openHttp({ url: server.url });
    const { message } = await failureOf(http.transport.send(call(1)));
    expect(message).toMatch(/^it answered HTTP 200 \(text\/html\): Sign in Sign in at \(address\) x{100,}… instead of/);
    expect(message).not.toContain(server.url);
  });

  test("takes an answer whatever type it claims to have, and one of several messages", async () => {
    const result = { jsonrpc: "2.0", id: 1, result: {} };
    const step = { status: 200, headers: { "content-type": "text/plain" }, body: JSON.stringify([result]) };
    const server = await calling(step);
    await using http = await openHttp({ url: server.url });
    await http.transport.send(call(1));
    expect(http.messages).toEqual([result]);
  });

  test("is cut off by its signal while headers or body are missing [E074]", async () => {
    const server = await calling(
      { silent: true },
      { raw: ["{"], silent: true, headers: JSON_TYPE },
      { raw: [": still here\n\n"], silent: true },
      { status: 500, headers: { ...JSON_TYPE, "content-length": "100" }, body: "{" },
    );
    await using http = await openHttp({ url: server.url });
    for (const id of [1, 2, 3, 4]) {
      const abort = new AbortController();
      const sending = failureOf(http.transport.send(call(id), { signal: abort.signal }));
      await server.until("tools/call", id);
      abort.abort();
      await sending;
    }
    expect(http.messages).toEqual([]);
  });
});

describe("a notification", () => {
  test.each<[string, Step]>([
    ["202", { status: 202 }],
    ["[E076] 204", { status: 204 }],
    ["[E077] 200 without a body", { status: 200, body: "" }],
    ["[E077] 200 null", { status: 200, headers: JSON_TYPE, body: "null" }],
    ["[E077] 202 with a text", { status: 202, headers: { "content-type": "text/plain" }, body: "Accepted" }],
    ["200 with a stream that stays open", { raw: [": open\n\n"], silent: true }],
    ["200 with more than anybody wants", { raw: [{ repeat: "x".repeat(1024), times: 4_096 }] }],
  ])("may be answered %s", async (_, step) => {
    const server = await served({ sessions: false, on: { "notifications/initialized": step } });
    await using http = await openHttp({ url: server.url });
    await http.transport.send(initialized);
    await http.transport.send(call(1));
    expect(http.messages).toMatchObject([{ id: 1 }]);
  });

  test("that is refused fails", async () => {
    const server = await served({ sessions: false, on: { "notifications/initialized": { status: 500 } } });
    await using http = await openHttp({ url: server.url });
    expect(await failureOf(http.transport.send(initialized))).toMatchObject({
      failure: "status",
      http: { status: 500 },
    });
  });
});

describe("a refusal", () => {
  const error = { code: -32602, message: "no" };
  const answer = (id: number | null, status: number): Step => ({
    status,
    headers: JSON_TYPE,
    body: JSON.stringify({ jsonrpc: "2.0", id, error }),
  });

  test("that holds the JSON-RPC answer is that answer, with 400 also when it names no id", async () => {
    for (const step of [answer(1, 400), answer(null, 400), answer(1, 404), answer(1, 500)]) {
      const server = await calling(step);
      await using http = await openHttp({ url: server.url });
      await http.transport.send(call(1));
      expect(http.messages).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
    }
  });

  test("is a failure when the status says more, or the error is not about this message", async () => {
    for (const step of [
      answer(1, 401),
      answer(1, 403),
      answer(1, 429),
      answer(1, 503),
      answer(null, 404),
      answer(9, 400),
    ]) {
      const server = await calling(step);
      await using http = await openHttp({ url: server.url });
      expect(await failureOf(http.transport.send(call(1)))).toMatchObject({ http: { status: step.status } });
      expect(http.messages).toEqual([]);
    }
  });

  test("carries what it takes to answer it: wait and challenges, all of them", async () => {
    const sent = createServer((_, response) => {
      response.setHeader("WWW-Authenticate", ["Basic realm=x", 'Bearer error="insufficient_scope"']);
      response.writeHead(403, { "retry-after": "2" }).end();
    });
    await new Promise<void>((resolve) => sent.listen(0, "127.0.0.1", resolve));
    closings.push(() => closed(sent));
    await using http = await openHttp({ url: `http://127.0.0.1:${(sent.address() as AddressInfo).port}/` });
    expect((await failureOf(http.transport.send(call(1)))).http).toEqual({
      status: 403,
      retryAfterMs: 2_000,
      challenges: ["Basic realm=x", 'Bearer error="insufficient_scope"'],
    });
  });

  test("whose page never ends is told all the same", async () => {
    const server = await calling({
      raw: ["<h1>Bad gateway</h1>"],
      silent: true,
      status: 502,
      headers: { "content-type": "text/html" },
    });
    await using http = await openHttp({ url: server.url });
    expect((await failureOf(http.transport.send(call(1)))).message).toBe(
      "it answered HTTP 502 (text/html): Bad gateway",
    );
  });
});

describe("a message over the limit", () => {
  const maxMessageBytes = 10_000;
  const flood = { repeat: "x".repeat(1_000), times: 1_000_000 };

  test.each<[string, Step]>([
    [
      "of a length that is announced, in a body that never ends",
      { raw: ["{"], silent: true, headers: { ...JSON_TYPE, "content-length": "20000" } },
    ],
    ["in a body without an end", { raw: ['{"x":"', flood], headers: JSON_TYPE }],
    ["in one line of a stream", { raw: ["data: ", flood] }],
    ["in many lines of a stream", { raw: [{ repeat: `data: ${"x".repeat(1_000)}\n`, times: 1_000_000 }] }],
  ])("[E284] %s fails that request alone, once", async (_, step) => {
    const server = await served({ sessions: false, on: { "tools/call": step } });
    await using http = await openHttp({ url: server.url, maxMessageBytes });
    expect(await failureOf(http.transport.send(call(1)))).toMatchObject({
      failure: "malformed",
      delivery: "unknown",
      message: "a message of the server is larger than 10000 bytes",
    });
    await http.transport.send(request(2, "ping"));
    expect(http.messages).toMatchObject([{ id: 2 }]);
    expect(server.params("tools/call")).toHaveLength(1);
    expect(http.closed).toEqual([]);
  });

  test("is far above what servers send", async () => {
    const text = "é".repeat(5 * 1024 * 1024);
    for (const sse of [{}, { sse: true as const }]) {
      const server = await calling({ text, ...sse });
      await using http = await openHttp({ url: server.url });
      await http.transport.send(call(1));
      expect(http.messages).toMatchObject([{ id: 1, result: { content: [{ text }] } }]);
    }
  });
});

describe("a redirect", () => {
  /** `/mcp` answers with this status and place; everything else as a server without sessions, once it has the body. */
  async function redirecting(status: number, location: string) {
    const seen: { path: string; method: string; body: string; key: unknown }[] = [];
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      seen.push({ path: request.url ?? "", method: request.method ?? "", body, key: request.headers["x-api-key"] });
      if (request.url === "/mcp") return void response.writeHead(status, { location }).end("moved");
      if (request.url === "/loop") return void response.writeHead(307, { location: "/loop" }).end();
      response.writeHead(200, JSON_TYPE).end(`{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":{}}`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closings.push(() => closed(server));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url: `${origin}/mcp`, origin, seen };
  }

  test.each([307, 308])(
    "[E082] with %d inside the origin is followed with method, headers and body, and remembered",
    async (status) => {
      const { url, seen } = await redirecting(status, "/mcp/?a=1");
      await using http = await openHttp({ url, headers: { "x-api-key": "k" } });
      await http.transport.send(call(1));
      await http.transport.send(call(2));
      expect(http.messages).toMatchObject([{ id: 1 }, { id: 2 }]);
      expect(seen.map(({ path }) => path)).toEqual(["/mcp", "/mcp/?a=1", "/mcp/?a=1"]);
      expect(seen[1]).toMatchObject({ method: "POST", body: JSON.stringify(call(1)), key: "k" });
    },
  );

  test.each([301, 302, 303])("[E082] with %d is not followed, and its place is told", async (status) => {
    const { url, origin, seen } = await redirecting(status, "/elsewhere?token=t1");
    await using http = await openHttp({ url });
    expect(await failureOf(http.transport.send(call(1)))).toMatchObject({
      failure: "status",
      http: { status },
      message: `it redirects (HTTP ${status}) to ${origin}/elsewhere, and a message does not survive that. If that is its right address, use it as \`url\``,
    });
    expect(seen).toHaveLength(1);
  });

  test("[E082] to https is not followed, and its place is told", async () => {
    const { url, origin } = await redirecting(301, "https://127.0.0.1:8443/mcp");
    await using http = await openHttp({ url });
    const { message } = await failureOf(http.transport.send(call(1)));
    expect(message).toContain("to https://127.0.0.1:8443/mcp, where its headers must not go");
    expect(message).not.toContain(origin);
  });

  test.each([307, 308])("[E083] with %d to another origin is not followed: a secret header stays", async (status) => {
    const other = await served();
    const { url } = await redirecting(status, other.url);
    await using http = await openHttp({ url, headers: { "x-api-key": "hunter2" } });
    const failure = await failureOf(http.transport.send(call(1)));
    expect(failure).toMatchObject({
      failure: "status",
      delivery: "rejected",
      message: expect.stringContaining(other.url),
    });
    expect(failure.message).not.toContain("hunter2");
    expect(other.received()).toEqual([]);
  });

  test("to itself ends after a few times, and one to nowhere at once", async () => {
    for (const place of ["/loop", "http://[", ""]) {
      const { url, seen } = await redirecting(307, place);
      await using http = await openHttp({ url });
      expect((await failureOf(http.transport.send(call(1)))).message).toMatch(/^it redirects \(HTTP 307\)/);
      expect(seen.length).toBeLessThan(6);
    }
  });
});

describe("options", () => {
  test.each([
    [{ url: "h/mcp" }, /`url` is no http or https address/],
    [{ url: "ftp://h/" }, /`url` is no http or https address/],
    [{ url: "http://h/", headers: { a: "hunter2\nb: c" } }, /one of its `headers` holds a character/],
    [{ url: "http://h/", headers: { a: "hunter2 日" } }, /one of its `headers` holds a character/],
  ])("that cannot be used are refused before anything is sent %#", async (options, message) => {
    const failure = await failureOf((async () => openHttp(options))());
    expect(failure).toMatchObject({
      failure: "unreachable",
      delivery: "not-sent",
      message: expect.stringMatching(message),
    });
    expect(failure.message).not.toContain("hunter2");
  });
});

describe("a transport that is closed", () => {
  test("sends nothing more, and closes once", async () => {
    const server = await served();
    const http = await openHttp({ url: server.url });
    await http.transport.send(initialize);
    await Promise.all([http.transport.close(), http.transport.close()]);
    await http.transport.close();
    expect(server.received().map(({ httpMethod }) => httpMethod)).toEqual(["POST", "DELETE"]);
    expect(await failureOf(http.transport.send(call(2)))).toMatchObject({ failure: "ended", delivery: "not-sent" });
  });

  test("does not wait long for a server that does not answer the end of the session", async () => {
    const server = await served({ on: { DELETE: { silent: true } } });
    const http = await openHttp({ url: server.url });
    await http.transport.send(initialize);
    await http.transport.close();
    expect(server.received().map(({ httpMethod }) => httpMethod)).toEqual(["POST", "DELETE"]);
  });

  test("ends what is in flight", async () => {
    const server = await calling({ silent: true });
    const http = await openHttp({ url: server.url });
    const sending = failureOf(http.transport.send(call(1)));
    await server.until("tools/call");
    await http.transport.close();
    expect(await sending).toMatchObject({ failure: "ended", delivery: "unknown" });
    expect(http.closed).toEqual([]);
  });
});
