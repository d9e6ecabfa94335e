import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryHome } from "../ground/home.ts";
import type { ServerScript } from "../ground/script.ts";
import type { FakeSse } from "../ground/sse-server.ts";
import { fakeSse } from "../ground/sse-server.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "../session/open.ts";
import { call, failureOf, initialize, openSse } from "./open.ts";

async function served(script: ServerScript = {}, endpoint?: string): Promise<FakeSse> {
  const server = await fakeSse(script, endpoint === undefined ? {} : { endpoint });
  onTestFinished(() => server.close());
  return server;
}

const callFake = { action: "call", server: "fake", tool: "echo", args: { a: 1 } };

test("[S2-13] [S1-10] a server declared as sse is called over its stream", async () => {
  await using home = await temporaryHome();
  for (const field of ["type", "transport"]) {
    const server = await served();
    home.write({ settings: { mcpServers: [{ name: "fake", [field]: "sse", url: server.url }] } });
    await using session = sessionOf(home);
    expect((await mcp(session, callFake)).text).toContain('{"a":1}');
    expect(server.methods()).toContain("notifications/initialized");
    expect(server.received()[0]).toMatchObject({ httpMethod: "GET", path: "/sse" });
  }
});

test("[S2-13] a server of the older transport is found by the refusal of the newer one", async () => {
  await using home = await temporaryHome();
  const server = await served();
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, callFake)).text).toContain('{"a":1}');
});

test("sends its headers with the stream and with each message, to an endpoint of its own origin", async () => {
  for (const endpoint of [undefined, "messages?session={session}"]) {
    const server = await served({}, endpoint);
    await using sse = await openSse({ url: server.url, headers: { Authorization: "Bearer t" } });
    await sse.transport.send(initialize, { headers: { "mcp-protocol-version": "2024-11-05" } });
    await sse.answer(1);
    const [stream, message] = server.received();
    expect(stream?.headers).toMatchObject({ authorization: "Bearer t", accept: "text/event-stream" });
    expect(message?.headers).toMatchObject({ authorization: "Bearer t", "mcp-protocol-version": "2024-11-05" });
  }
});

test("an endpoint elsewhere is refused: headers are for one origin", async () => {
  const other = await served();
  for (const [endpoint, why] of [
    [other.url, `at another origin (${new URL(other.url).origin})`],
    ["http://[", "that is not an address"],
  ] as const) {
    const server = await served({}, endpoint);
    expect(await failureOf(openSse({ url: server.url }))).toMatchObject({
      failure: "malformed",
      message: `it names an endpoint ${why}`,
    });
  }
  expect(other.received()).toEqual([]);
});

test("messages of the server arrive at any time, in order", async () => {
  const notify = { jsonrpc: "2.0", method: "notifications/message", params: {} };
  const server = await served({ on: { "tools/call": { notify: [notify, notify], usual: true } } });
  await using sse = await openSse({ url: server.url });
  server.push({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await sse.heard("notifications/tools/list_changed");
  await sse.transport.send(call(1));
  await sse.answer(1);
  expect(sse.messages.map((message) => ("method" in message ? message.method : message.id))).toEqual([
    "notifications/tools/list_changed",
    "notifications/message",
    "notifications/message",
    1,
  ]);
});

test("the end of the stream is the end of the connection", async () => {
  const server = await served({ on: { "tools/call": { silent: true } } });
  await using sse = await openSse({ url: server.url });
  await sse.transport.send(call(1));
  server.endStreams();
  await until("the end", () => sse.closed[0]);
  expect(sse.closed).toMatchObject([{ failure: "ended", message: "its event stream ended" }]);
  expect(await failureOf(sse.transport.send(call(2)))).toMatchObject({ failure: "ended", delivery: "not-sent" });
});

test("a session whose stream has ended is opened anew for the next call", async () => {
  await using home = await temporaryHome();
  const server = await served();
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  await using session = sessionOf(home);
  await mcp(session, callFake);
  server.endStreams();
  await until("the session to know", () => session.status("fake").state === "stopped" || undefined);
  expect((await mcp(session, callFake)).isError).toBe(false);
  expect(server.params("initialize")).toHaveLength(2);
});

test("a message for a session the server has forgotten was not executed", async () => {
  const server = await served({ on: { "tools/call": [{ status: 404 }, { status: 400, body: "No valid session" }] } });
  await using sse = await openSse({ url: server.url });
  for (const id of [1, 2]) {
    expect(await failureOf(sse.transport.send(call(id)))).toMatchObject({
      failure: "session-lost",
      delivery: "rejected",
    });
  }
});

test("what is no such server is told by what it answers", async () => {
  const cases: [ServerScript, object][] = [
    [{ on: { GET: { status: 401, headers: { "www-authenticate": "Bearer" } } } }, { failure: "unauthorized" }],
    [{ on: { GET: { status: 404, body: "nothing here" } } }, { message: "it answered HTTP 404: nothing here" }],
    [
      { on: { GET: { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello" } } },
      { failure: "malformed", message: "it answered HTTP 200 (text/html): hello instead of an event stream" },
    ],
  ];
  for (const [script, failure] of cases) {
    const server = await served(script);
    expect(await failureOf(openSse({ url: server.url }))).toMatchObject(failure);
  }
  expect(await failureOf(openSse({ url: "http://127.0.0.1:9/sse" }))).toMatchObject({ failure: "unreachable" });
  const ends = createServer((_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).end());
  await new Promise<void>((resolve) => ends.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void ends.close());
  const url = `http://127.0.0.1:${(ends.address() as AddressInfo).port}/`;
  expect(await failureOf(openSse({ url }))).toMatchObject({ failure: "ended", message: "its event stream ended" });
});

test("a stream that never names its endpoint is not waited for without end", async () => {
  const server = await served({ on: { GET: { silent: true } } });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const opening = failureOf(openSse({ url: server.url }));
  await until("the stream", () => server.received()[0]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await opening).toMatchObject({ failure: "malformed", message: "it named no endpoint within 30 s" });
});

test("closing ends an opening that waits for its endpoint, and says nothing of it", async () => {
  const { LegacySseTransport } = await import("../../src/transport/legacy-sse.ts");
  const server = await served({ on: { GET: { silent: true } } });
  const transport = new LegacySseTransport({ url: server.url, headers: {}, env: {} });
  const told: unknown[] = [];
  const note = (...args: unknown[]) => void told.push(args);
  const opening = failureOf(transport.open({ message: note, lost: note, notice: note, closed: note }));
  await until("the stream", () => server.received()[0]);
  await transport.close();
  expect(await opening).toMatchObject({ failure: "ended" });
  expect(told).toEqual([]);
});
