import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Step } from "../ground/script.ts";
import { call, failureOf, openHttp, request } from "./open.ts";
import { served } from "./served.ts";

/** A server that answers `tools/call` with this step, without sessions. */
const calling = (...steps: Step[]) => served({ sessions: false, on: { "tools/call": steps } });

/** The origin of a server that does as it likes. */
async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const JSON_TYPE = { "content-type": "application/json" };

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
    const origin = await listening((_, response) => {
      response.setHeader("WWW-Authenticate", ["Basic realm=x", 'Bearer error="insufficient_scope"']);
      response.writeHead(403, { "retry-after": "2" }).end();
    });
    await using http = await openHttp({ url: `${origin}/mcp` });
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
    const origin = await listening(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      seen.push({ path: request.url ?? "", method: request.method ?? "", body, key: request.headers["x-api-key"] });
      if (request.url === "/mcp") return void response.writeHead(status, { location }).end("moved");
      if (request.url === "/loop") return void response.writeHead(307, { location: "/loop" }).end();
      response.writeHead(200, JSON_TYPE).end(`{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":{}}`);
    });
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
      message: `it redirects (HTTP ${status}) to ${origin}/elsewhere, with a status that would lose the message. If that is its right address, use it as \`url\``,
    });
    expect(seen).toHaveLength(1);
  });

  test("[E082] to https is not followed, and its place is told", async () => {
    const { url, origin } = await redirecting(301, "https://127.0.0.1:8443/mcp");
    await using http = await openHttp({ url });
    const { message } = await failureOf(http.transport.send(call(1)));
    expect(message).toContain("to https://127.0.0.1:8443/mcp, another origin, to which its headers must not be sent");
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
    const cases = [
      ["/loop", /^it redirects \(HTTP 307\) to .*\/loop, after too many redirects\./],
      ["http://[", /^it redirects \(HTTP 307\) without naming an address$/],
      ["", /^it redirects \(HTTP 307\)/],
    ] as const;
    for (const [place, message] of cases) {
      const { url, seen } = await redirecting(307, place);
      await using http = await openHttp({ url });
      expect((await failureOf(http.transport.send(call(1)))).message).toMatch(message);
      expect(seen.length).toBeLessThan(6);
    }
  });
});

describe("options", () => {
  test.each([
    [{ url: "h/mcp" }, /`url` is not an http or https address/],
    [{ url: "ftp://h/" }, /`url` is not an http or https address/],
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
