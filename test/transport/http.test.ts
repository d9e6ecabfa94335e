import { describe, expect, test } from "vitest";
import type { Step } from "../ground/script.ts";
import { call, failureOf, initialize, openHttp, request } from "./open.ts";
import { served } from "./served.ts";

/** A server that answers `tools/call` with this step, without sessions. */
const calling = (...steps: Step[]) => served({ sessions: false, on: { "tools/call": steps } });

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
