import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ClientHandlers } from "../../../src/protocol/handlers.ts";
import { fakeHttp, fakeStdio, tool } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { until } from "../../ground/wait.ts";
import { asks, connectHttp, connectStdio, modern, patient } from "../../protocol/open.ts";

const legacy = { knownEra: "legacy" as const };
/** Settles as the promise does, or to "still waiting". */
const soon = <T>(promise: Promise<T>, ms = 4_000) =>
  Promise.race([
    promise.then(
      (value) => ({ value }),
      (error: Error) => ({ error: error.name }),
    ),
    sleep(ms, "still waiting"),
  ]);

test("a result beside `error: null` is a result", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: {
      "tools/call": {
        raw: '{"jsonrpc":"2.0","id":{{id}},"error":null,"result":{"content":[{"type":"text","text":"ok"}]}}\n',
      },
    },
  });
  await using connection = await connectStdio(server, home, legacy);
  const result = await connection.callTool("echo", {}, { timeoutMs: 3_000 });
  expect(result.content).toEqual([{ type: "text", text: "ok" }]);
});

test("a result beside `error: null` is a result over HTTP too", async () => {
  const server = await fakeHttp({
    on: {
      "tools/call": {
        sse: true,
        raw: 'data: {"jsonrpc":"2.0","id":{{id}},"error":null,"result":{"content":[{"type":"text","text":"ok"}]}}\n\n',
      },
    },
  });
  try {
    await using connection = await connectHttp(server, legacy);
    const result = await connection.callTool("echo", {}, { timeoutMs: 3_000 });
    expect(result.content).toEqual([{ type: "text", text: "ok" }]);
  } finally {
    await server.close();
  }
});

test("a late error without an id to the probe does not refuse the handshake that followed it", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    startup: { delayMs: 2_600 },
    on: {
      "server/discover": { raw: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}\n' },
      initialize: { delayMs: 50, usual: true },
    },
  });
  await using connection = await connectStdio(server, home);
  expect(connection.era).toBe("legacy");
});

test("an error without an id to the initialized notification does not fail the request sent next", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: {
      "notifications/initialized": {
        delayMs: 100,
        raw: '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}\n',
      },
      "tools/call": { delayMs: 400, text: "ok" },
    },
  });
  await using connection = await connectStdio(server, home, legacy);
  const result = await connection.callTool("echo", {}, patient);
  expect(result.content).toEqual([{ type: "text", text: "ok" }]);
});

test("a server that discovers itself with older revisions alone is spoken to in one of them", async () => {
  const server = await fakeHttp({
    sessions: false,
    on: {
      "server/discover": {
        result: {
          resultType: "complete",
          supportedVersions: ["2025-11-25", "2025-06-18"],
          capabilities: { tools: {} },
        },
      },
    },
  });
  try {
    await using connection = await connectHttp(server);
    expect(connection.era).toBe("legacy");
  } finally {
    await server.close();
  }
});

describe("what lies between two requests of one operation", () => {
  test("closing the connection ends a call whose task is waited for", async () => {
    const server = await fakeHttp(
      modern({
        on: {
          "tools/call": { result: { resultType: "task", taskId: "t", status: "working", pollIntervalMs: 60_000 } },
        },
      }),
    );
    try {
      const connection = await connectHttp(server);
      const call = soon(connection.callTool("echo", {}, patient));
      await until("the call", () => server.params("tools/call")[0]);
      await sleep(300);
      await connection.close();
      expect(await call).toEqual({ error: "TransportError" });
    } finally {
      await server.close();
    }
  });

  test("closing the connection takes back a question inside a result and ends its call", async () => {
    const server = await fakeHttp(
      modern({
        on: { "tools/call": [asks({ q: { method: "elicitation/create", params: { message: "?" } } }), { text: "x" }] },
      }),
    );
    let signal: AbortSignal | undefined;
    const handlers: ClientHandlers = {
      elicit: {
        modes: ["form"],
        ask: (_, given) => {
          signal = given;
          return new Promise(() => {});
        },
      },
    };
    try {
      const connection = await connectHttp(server, { handlers });
      const call = soon(connection.callTool("echo", {}, patient));
      await until("the question", () => signal);
      await connection.close();
      expect(await call).toEqual({ error: "TransportError" });
      expect(signal?.aborted).toBe(true);
    } finally {
      await server.close();
    }
  });

  test("closing the connection ends a call that waits for a page to be visited", async () => {
    await using home = await temporaryHome();
    const elicitations = [{ mode: "url", elicitationId: "a", url: "https://x.example/", message: "Go" }];
    const server = await fakeStdio(home, {
      on: { "tools/call": { error: { code: -32042, message: "visit", data: { elicitations } } } },
    });
    let isAsked = false;
    const handlers: ClientHandlers = {
      elicit: {
        modes: ["url"],
        ask: async () => {
          isAsked = true;
          return { action: "accept" };
        },
      },
    };
    const connection = await connectStdio(server, home, { ...legacy, handlers });
    const call = soon(connection.callTool("echo", {}, patient));
    await until("the question", () => isAsked || undefined);
    await connection.close();
    expect(await call).toHaveProperty("error");
  });
});

test("a question nobody can answer takes back those that were asked beside it", async () => {
  const questions = {
    one: { method: "elicitation/create", params: { message: "?" } },
    two: { method: "made/up" },
  };
  const server = await fakeHttp(modern({ on: { "tools/call": asks(questions) } }));
  const signals: AbortSignal[] = [];
  const handlers: ClientHandlers = {
    elicit: {
      modes: ["form"],
      ask: (_, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    },
  };
  try {
    await using connection = await connectHttp(server, { handlers });
    await expect(connection.callTool("echo", {}, patient)).rejects.toThrow("made/up");
    expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
  } finally {
    await server.close();
  }
});

test("two calls that need the same page visited both go on when it has been", async () => {
  await using home = await temporaryHome();
  const elicitations = [{ mode: "url", elicitationId: "auth", url: "https://x.example/", message: "Go" }];
  const required = { error: { code: -32042, message: "visit", data: { elicitations } } };
  const server = await fakeStdio(home, {
    tools: [tool("a"), tool("b"), tool("done")],
    on: {
      "tools/call a": [required, { text: "a" }],
      "tools/call b": [required, { text: "b" }],
      "tools/call done": {
        notify: [{ jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId: "auth" } }],
        text: "done",
      },
    },
  });
  let asked = 0;
  const ask = async () => {
    asked++;
    return { action: "accept" } as const;
  };
  const handlers: ClientHandlers = { elicit: { modes: ["url"], ask } };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  const calls = [soon(connection.callTool("a", {}, patient)), soon(connection.callTool("b", {}, patient))];
  await until("both questions", () => (asked === 2 ? true : undefined));
  await connection.callTool("done", {}, patient);
  expect(await Promise.all(calls)).toEqual([
    { value: expect.objectContaining({ content: [{ type: "text", text: "a" }] }) },
    { value: expect.objectContaining({ content: [{ type: "text", text: "b" }] }) },
  ]);
});

test("a tool that runs as a task is waited for also after an address was visited", async () => {
  await using home = await temporaryHome();
  const elicitations = [{ mode: "url", elicitationId: "a", url: "https://x.example/", message: "Go" }];
  const server = await fakeStdio(home, {
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    tools: [tool("echo", { execution: { taskSupport: "required" } })],
    on: {
      "tools/call": [
        {
          delayMs: 50,
          error: { code: -32042, message: "visit", data: { elicitations } },
        },
        { result: { task: { taskId: "t", status: "working", pollInterval: 50 } } },
      ],
      "tasks/get": { result: { taskId: "t", status: "completed" } },
      "tasks/result": { result: { content: [{ type: "text", text: "done" }] } },
      ping: {
        notify: [{ jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId: "a" } }],
        usual: true,
      },
    },
  });
  let asked = 0;
  const ask = async () => {
    asked++;
    return { action: "accept" } as const;
  };
  const handlers: ClientHandlers = { elicit: { modes: ["url"], ask } };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  const call = connection.callTool("echo", {}, patient);
  await until("the question", () => asked || undefined);
  await connection.ping(patient);
  expect((await call).content).toEqual([{ type: "text", text: "done" }]);
});

test("a task whose state nobody knows is not looked at for ever", async () => {
  const server = await fakeHttp(
    modern({
      on: {
        "tools/call": { result: { resultType: "task", taskId: "t", status: "working", pollIntervalMs: 0 } },
        "tasks/get": { result: { resultType: "complete", taskId: "t", status: "done" } },
      },
    }),
  );
  try {
    await using connection = await connectHttp(server);
    const abort = new AbortController();
    const call = soon(connection.callTool("echo", {}, { timeoutMs: 1_000, signal: abort.signal }), 5_000);
    expect(await call).toHaveProperty("error");
    abort.abort();
  } finally {
    await server.close();
  }
});

test("a server that only ever says its task is working is given up like one that only ever reports progress", async () => {
  const server = await fakeHttp(
    modern({
      on: {
        "tools/call": { result: { resultType: "task", taskId: "t", status: "working", pollIntervalMs: 50 } },
        "tasks/get": { result: { resultType: "complete", taskId: "t", status: "working" } },
      },
    }),
  );
  try {
    await using connection = await connectHttp(server);
    // 60 times the limit in all, as for progress.
    expect(await soon(connection.callTool("echo", {}, { timeoutMs: 60 }), 9_000)).toHaveProperty("error");
  } finally {
    await server.close();
  }
});

test("a list that was on its way when it changed is not kept", async () => {
  const ack = {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true } },
  };
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const server = await fakeHttp(
    modern(
      {
        on: {
          "subscriptions/listen": { notify: [ack, changed], everyMs: 300, silent: true },
          "tools/list": [
            { delayMs: 1_000, result: { resultType: "complete", ttlMs: 600_000, tools: [tool("old")] } },
            { result: { resultType: "complete", ttlMs: 600_000, tools: [tool("new")] } },
          ],
        },
      },
      { capabilities: { tools: { listChanged: true } } },
    ),
  );
  let told = 0;
  try {
    await using connection = await connectHttp(server, { handlers: { listChanged: () => void told++ } });
    const first = connection.listTools(patient);
    await until("the change", () => told || undefined);
    await first;
    const { items } = await connection.listTools(patient);
    expect(items.map(({ name }) => name)).toEqual(["new"]);
  } finally {
    await server.close();
  }
});

test("a subscription lost to a restart is made again though the server took a while to come back", async () => {
  const ack = {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true } },
  };
  const server = await fakeHttp(
    modern(
      {
        on: {
          "subscriptions/listen": [
            { notify: [ack], endStream: true },
            { status: 503, body: "restarting" },
            { notify: [ack], silent: true },
          ],
        },
      },
      { capabilities: { tools: { listChanged: true } } },
    ),
  );
  try {
    await using _ = await connectHttp(server, { handlers: { listChanged: () => {} } });
    await until("a third attempt", () => server.params("subscriptions/listen")[2], 10_000);
  } finally {
    await server.close();
  }
});

test("a handshake that is tried again carries no session id of the one that was lost", async () => {
  const ids: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    if (message.method !== "initialize") return void response.writeHead(request.method === "POST" ? 202 : 405).end();
    ids.push(request.headers["mcp-session-id"]);
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": `s${ids.length}` });
    if (ids.length === 1) {
      response.write("{");
      setTimeout(() => request.socket.resetAndDestroy(), 50);
      return;
    }
    const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    await using _ = await connectHttp({ url } as never, legacy);
    expect(ids).toEqual([undefined, undefined]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("two questions with one id: the end of the first does not let clocks run under the second", async () => {
  await using home = await temporaryHome();
  const ask = (message: string) => ({ jsonrpc: "2.0", id: 1, method: "elicitation/create", params: { message } });
  const server = await fakeStdio(home, {
    on: { "tools/call": { notify: [ask("a"), ask("b")], delayMs: 1_500, text: "ok" } },
  });
  const handlers: ClientHandlers = {
    elicit: {
      modes: ["form"],
      ask: async ({ message }) => {
        await sleep(message === "a" ? 10 : 1_400);
        return { action: "accept" };
      },
    },
  };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  const result = await connection.callTool("echo", {}, { timeoutMs: 600 });
  expect(result.content).toEqual([{ type: "text", text: "ok" }]);
});

test("a server known as older that refuses the handshake as only a modern one does is asked what it is", async () => {
  const server = await fakeHttp(
    modern({
      on: {
        initialize: {
          status: 400,
          error: { code: -32020, message: "Header mismatch: MCP-Protocol-Version is missing" },
        },
      },
    }),
  );
  try {
    await using connection = await connectHttp(server, legacy);
    expect(connection.era).toBe("modern");
  } finally {
    await server.close();
  }
});
