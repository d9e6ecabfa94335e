import { describe, expect, onTestFinished, test } from "vitest";
import type { FakeHttp } from "../ground/http-server.ts";
import { fakeHttp } from "../ground/http-server.ts";
import type { Received } from "../ground/observed.ts";
import type { ServerScript, Step } from "../ground/script.ts";
import { until } from "../ground/wait.ts";
import { call, failureOf, initialize, openHttp, resultEvent } from "./open.ts";
import { served } from "./served.ts";

const sessionless = (script: ServerScript = {}) => served({ sessions: false, ...script });

const gets = (server: FakeHttp): Received[] => server.received().filter(({ httpMethod }) => httpMethod === "GET");
const lastEventIds = (server: FakeHttp) => gets(server).map(({ headers }) => headers?.["last-event-id"]);
const change = { jsonrpc: "2.0", method: "notifications/tools/list_changed" } as const;
const changeEvent = (id?: string) => `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(change)}\n\n`;

describe("the stream of an answer", () => {
  test("[E071] that ends without it fails at once, unless its last event was the answer without a blank line", async () => {
    const cases: [Step, boolean][] = [
      [{ raw: ": hello\n\n" }, false],
      [{ raw: "" }, false],
      [{ raw: changeEvent() }, false],
      [{ raw: 'data: {"jsonrpc":"2.0","id":{{id}},"result":{}' }, false],
      [{ raw: ["data: x\n\n", { pauseMs: 30 }], destroy: true }, false],
      [{ raw: 'data: {"jsonrpc":"2.0","id":{{id}},"result":{}}' }, true],
      [{ raw: 'data: {"jsonrpc":"2.0","id":{{id}},"result":{}}\n' }, true],
    ];
    const server = await sessionless({ on: { "tools/call": cases.map(([step]) => step) } });
    await using http = await openHttp({ url: server.url });
    for (const [index, [, answered]] of cases.entries()) {
      if (answered) await http.transport.send(call(index));
      else {
        expect(await failureOf(http.transport.send(call(index)))).toMatchObject({
          failure: "ended",
          delivery: "unknown",
          message: "its response stream ended without the answer",
        });
      }
    }
    expect(http.messages.map((message) => "id" in message && message.id)).toEqual([false, 5, 6]);
    expect(gets(server)).toEqual([]);
  });

  test("[E068] may begin with an event that only has an id", async () => {
    const server = await sessionless({ on: { "tools/call": { raw: ["id: 1\ndata: \n\n", resultEvent(1, "done")] } } });
    await using http = await openHttp({ url: server.url });
    await http.transport.send(call(1));
    expect(http.messages).toMatchObject([{ id: 1 }]);
  });

  test("is taken up where it broke when the server gave an event id", async () => {
    const server = await sessionless({
      on: {
        "tools/call": { raw: ["retry: 100\nid: e1\ndata:\n\n", changeEvent("e2")] },
        GET: [{ raw: changeEvent("e3") }, { raw: resultEvent(1, "done", "e4") }],
      },
    });
    await using http = await openHttp({ url: server.url, headers: { "x-api-key": "k" } });
    await http.transport.send(call(1), { headers: { "mcp-protocol-version": "2025-11-25" } });
    expect(http.messages).toMatchObject([change, change, { id: 1 }]);
    expect(lastEventIds(server)).toEqual(["e2", "e3"]);
    for (const { headers } of gets(server)) {
      expect(headers).toMatchObject({
        accept: "text/event-stream",
        "x-api-key": "k",
        "mcp-protocol-version": "2025-11-25",
      });
    }
    expect(server.params("tools/call")).toHaveLength(1);
  });

  test("[E067] keeps its place when it is closed again before anything new came", async () => {
    const empty: Step = { raw: ": nothing yet\n\n" };
    const server = await sessionless({
      on: {
        "tools/call": { raw: "retry: 100\nid: e1\ndata:\n\n" },
        GET: [empty, empty, empty, empty, { destroy: true }, { raw: resultEvent(1, "done") }],
      },
    });
    await using http = await openHttp({ url: server.url });
    await http.transport.send(call(1));
    expect(http.messages).toMatchObject([{ id: 1 }]);
    expect(lastEventIds(server)).toEqual(Array(6).fill("e1"));
  });

  test("waits as long as the server says before it is taken up", async () => {
    const server = await sessionless({
      on: {
        "tools/call": [{ raw: "retry: 900\nid: slow\ndata:\n\n" }, { raw: "retry: 100\nid: fast\ndata:\n\n" }],
        GET: [{ raw: resultEvent(2, "done") }, { raw: resultEvent(1, "done") }],
      },
    });
    await using http = await openHttp({ url: server.url });
    const first = http.transport.send(call(1));
    await server.until("tools/call");
    await Promise.all([first, http.transport.send(call(2))]);
    expect(lastEventIds(server)).toEqual(["fast", "slow"]);
  });

  test.each([405, 404, 400, 200])("is lost when the server will not have it taken up: HTTP %d", async (status) => {
    const server = await sessionless({
      on: { "tools/call": { raw: "retry: 100\nid: e1\ndata:\n\n" }, GET: { status, body: "no" } },
    });
    await using http = await openHttp({ url: server.url });
    expect(await failureOf(http.transport.send(call(1)))).toMatchObject({ failure: "ended", delivery: "unknown" });
    expect(gets(server)).toHaveLength(1);
  });

  test("is lost, and never called unsent, when the server is gone before it can be taken up", async () => {
    const server = await sessionless({
      on: { "tools/call": { raw: ["retry: 100\nid: e1\ndata:\n\n", { pauseMs: 100 }] } },
    });
    await using http = await openHttp({ url: server.url });
    const sending = failureOf(http.transport.send(call(1)));
    await server.until("tools/call");
    await server.close();
    expect(await sending).toMatchObject({ failure: "ended", delivery: "unknown" });
  });

  test("is not taken up in a revision without sessions", async () => {
    const server = await sessionless({ on: { "tools/call": { raw: "retry: 100\nid: e1\ndata:\n\n" } } });
    await using http = await openHttp({ url: server.url });
    expect(await failureOf(http.transport.send(call(1), { sessionless: true }))).toMatchObject({ failure: "ended" });
    expect(gets(server)).toEqual([]);
  });

  test("that stays open behind the answer is closed from here", async () => {
    const server = await sessionless({ on: { "tools/call": { raw: [resultEvent(1, "done")], silent: true } } });
    await using http = await openHttp({ url: server.url });
    await http.transport.send(call(1));
    expect(http.messages).toMatchObject([{ id: 1 }]);
  });

  test("is no longer taken up once nobody waits for it", async () => {
    const server = await sessionless({
      on: { "tools/call": { raw: "retry: 60000\nid: e1\ndata:\n\n" }, GET: { raw: resultEvent(1, "done") } },
    });
    const http = await openHttp({ url: server.url });
    const abort = new AbortController();
    const sending = failureOf(http.transport.send(call(1), { signal: abort.signal }));
    await server.until("tools/call");
    abort.abort();
    await sending;
    await http.transport.close();
    expect(http.messages).toEqual([]);
    expect(gets(server)).toEqual([]);
  });
});

describe("the server's own stream", () => {
  test("brings what the server says by itself, and is opened once", async () => {
    const server = await sessionless({ getStream: true });
    await using http = await openHttp({ url: server.url });
    http.transport.listen({});
    http.transport.listen({});
    await until("the stream", () => server.push(change) || undefined);
    await http.heard(change.method);
    expect(gets(server)).toHaveLength(1);
  });

  test("[E064] [E065] [E085] that is not offered, or never brings anything, costs nothing else", async () => {
    const cases: [Step, number][] = [
      [{ status: 405, body: "" }, 1],
      [{ status: 400, body: "no stream" }, 1],
      [{ status: 404, body: "" }, 1],
      [{ status: 406, body: "" }, 1],
      [{ status: 401, headers: { "www-authenticate": "Bearer" }, body: "" }, 1],
      [{ status: 500, body: "" }, 1],
      [{ status: 200, headers: { "content-type": "text/html" }, body: "<h1>hello</h1>" }, 1],
      [{ raw: "a text that does not end", silent: true, headers: { "content-type": "text/plain" } }, 1],
      [{ raw: "retry: 10\n\n" }, 5],
      [{ raw: "retry: 10\n\n", destroy: true }, 5],
    ];
    await Promise.all(
      cases.map(async ([step, asked]) => {
        const server = await sessionless({ on: { GET: step } });
        await using http = await openHttp({ url: server.url });
        http.transport.listen({});
        await until(`${asked} requests for it`, () => gets(server)[asked - 1]);
        // Longer than the wait before the next request would be.
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        await http.transport.send(call(1));
        expect(http.messages).toMatchObject([{ id: 1 }]);
        expect(gets(server)).toHaveLength(asked);
        expect(http.closed).toEqual([]);
      }),
    );
  });

  test("is taken up where it broke", async () => {
    const server = await sessionless({
      on: {
        GET: [
          { raw: `retry: 100\n${changeEvent("e1")}` },
          { destroy: true },
          { raw: changeEvent("e2") },
          { raw: "", silent: true },
        ],
      },
    });
    await using http = await openHttp({ url: server.url });
    http.transport.listen({});
    await http.heard(change.method, 2);
    await until("the stream to be open again", () => gets(server)[3]);
    expect(lastEventIds(server)).toEqual([undefined, "e1", "e1", "e2"]);
  });

  test("survives a restart of the server that says so meanwhile", async () => {
    const server = await sessionless({
      on: {
        GET: [
          { raw: `retry: 100\n${changeEvent("e1")}` },
          { status: 502, body: "" },
          { raw: changeEvent("e2"), silent: true },
        ],
      },
    });
    await using http = await openHttp({ url: server.url });
    http.transport.listen({});
    await http.heard(change.method, 2);
  });

  test("carries the session that is current", async () => {
    const server = await sessionless({ sessions: true, getStream: true });
    await using http = await openHttp({ url: server.url });
    await http.transport.send(initialize);
    http.transport.listen({ "mcp-protocol-version": "2025-11-25" });
    await until("the stream", () => server.push(change) || undefined);
    expect(gets(server)[0]?.headers).toMatchObject({
      "mcp-session-id": server.sessions()[0],
      "mcp-protocol-version": "2025-11-25",
      accept: "text/event-stream",
    });
  });

  test("[E086] and calls in flight: a server that dies ends the calls and nothing else", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note).on("uncaughtException", note);
    onTestFinished(() => void process.off("unhandledRejection", note).off("uncaughtException", note));
    const server = await sessionless({
      getStream: true,
      on: { "tools/call": [{ silent: true }, { raw: ": x\n\n", silent: true }] },
    });
    await using http = await openHttp({ url: server.url });
    http.transport.listen({});
    await until("the stream", () => server.push(change) || undefined);
    const sending = [failureOf(http.transport.send(call(1))), failureOf(http.transport.send(call(2)))];
    await server.until("tools/call", 2);
    await server.close();
    for (const failure of await Promise.all(sending)) {
      expect(failure).toMatchObject({ failure: "ended", delivery: "unknown" });
    }
    expect(await failureOf(http.transport.send(call(3)))).toMatchObject({
      failure: "unreachable",
      delivery: "not-sent",
    });
    const again = await fakeHttp({ sessions: false }, { port: server.port });
    onTestFinished(() => again.close());
    await http.transport.send(call(4));
    expect(http.messages.at(-1)).toMatchObject({ id: 4 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});
