import { expect, test } from "vitest";
import type { ClientHandlers } from "../../src/protocol/handlers.ts";
import { fakeHttp, fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { connectHttp, connectStdio, patient } from "./open.ts";

const legacy = { knownEra: "legacy" as const };

test("the server's ping and roots/list are answered, what is not offered is method not found", async () => {
  await using home = await temporaryHome();
  const ask = (method: string, params?: Record<string, unknown>) => ({ ask: { method, ...(params && { params }) } });
  const server = await fakeStdio(home, {
    on: {
      "tools/call": [
        ask("ping"),
        ask("roots/list"),
        ask("sampling/createMessage", { messages: [], maxTokens: 1 }),
        ask("elicitation/create", { message: "?" }),
        ask("made/up"),
      ].map((step) => ({ ...step, usual: true as const })),
    },
  });
  const handlers = { roots: () => [{ uri: "file:///here", name: "here" }] };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  for (let i = 0; i < 5; i++) await connection.callTool("echo", {}, patient);
  const answers = server.received().filter(({ message }) => message?.method === undefined);
  expect(answers.map(({ message }) => message?.result ?? message?.error?.code)).toEqual([
    {},
    { roots: [{ uri: "file:///here", name: "here" }] },
    -32601,
    -32601,
    -32601,
  ]);
  expect(server.params("initialize")[0]?.capabilities).toMatchObject({ roots: {} });
  expect(server.params("initialize")[0]?.capabilities).not.toHaveProperty("sampling");
});

test("a question is put to the person with no clock running, and what they left alone has its default", async () => {
  await using home = await temporaryHome();
  const requestedSchema = {
    type: "object",
    properties: { name: { type: "string", default: "Ann" }, age: { type: "integer", default: 7 } },
  };
  const server = await fakeStdio(home, {
    on: {
      "tools/call": {
        ask: { method: "elicitation/create", params: { message: "Who?", requestedSchema } },
        usual: true,
      },
    },
  });
  const asked: unknown[] = [];
  const handlers: ClientHandlers = {
    elicit: {
      modes: ["form", "url"],
      ask: async (request) => {
        asked.push(request);
        await new Promise((resolve) => setTimeout(resolve, 700));
        return { action: "accept", content: { age: 8 } };
      },
    },
  };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  expect((await connection.callTool("echo", {}, { timeoutMs: 300 })).isError).toBe(false);
  expect(asked).toEqual([{ mode: "form", message: "Who?", schema: requestedSchema }]);
  const answer = server.received().find(({ message }) => message?.method === undefined)?.message?.result;
  expect(answer).toEqual({ action: "accept", content: { name: "Ann", age: 8 } });
  expect(server.params("initialize")[0]?.capabilities).toMatchObject({ elicitation: { form: {}, url: {} } });
});

test("[E230] a host that cannot ask has not asked: cancel", async () => {
  await using home = await temporaryHome();
  const ask = (params: object) => ({
    ask: { method: "elicitation/create", params: { ...params } },
    usual: true as const,
  });
  const server = await fakeStdio(home, {
    on: {
      "tools/call": [
        ask({ message: "?" }),
        ask({ mode: "url", message: "?" }),
        ask({ mode: "url", url: "x:y", message: "?" }),
      ],
    },
  });
  const handlers: ClientHandlers = { elicit: { modes: ["form"], ask: () => Promise.reject(new Error("no screen")) } };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  for (let i = 0; i < 3; i++) await connection.callTool("echo", {}, patient);
  const answers = server.received().filter(({ message }) => message?.method === undefined);
  expect(answers.map(({ message }) => message?.result)).toEqual(Array(3).fill({ action: "cancel" }));
});

test("[E227] a question right after the handshake finds its handler", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: { "notifications/initialized": { ask: { method: "elicitation/create", params: { message: "At once?" } } } },
  });
  const handlers: ClientHandlers = { elicit: { modes: ["form"], ask: async () => ({ action: "decline" }) } };
  await using _ = await connectStdio(server, home, { ...legacy, handlers });
  const answer = await until("the answer", () =>
    server.received().find(({ message }) => message?.result !== undefined),
  );
  expect(answer.message?.result).toEqual({ action: "decline" });
});

test("a request the server takes back is aborted at the host and not answered", async () => {
  await using home = await temporaryHome();
  let aborted = false;
  const server = await fakeStdio(home, {
    on: {
      "notifications/initialized": {
        notify: [
          { jsonrpc: "2.0", id: "q", method: "sampling/createMessage", params: {} },
          { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "q" } },
        ],
        everyMs: 50,
      },
    },
  });
  const sample: ClientHandlers["sample"] = (_params, signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        aborted = true;
        resolve({});
      });
    });
  await using connection = await connectStdio(server, home, { ...legacy, handlers: { sample } });
  await until("the abort", () => aborted || undefined);
  await connection.ping(patient);
  expect(server.received().filter(({ message }) => message?.id === "q")).toEqual([]);
});

test("an address to visit first is shown, waited for, and then the call is made once more", async () => {
  await using home = await temporaryHome();
  const elicitations = [{ mode: "url", message: "Sign in", url: "https://example.invalid/login", elicitationId: "e1" }];
  const over = { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId: "e1" } };
  const server = await fakeStdio(home, {
    on: {
      "tools/call": [{ error: { code: -32042, message: "visit", data: { elicitations } } }, { text: "signed in" }],
      ping: { notify: [over], usual: true },
    },
  });
  const shown: unknown[] = [];
  const handlers: ClientHandlers = {
    elicit: {
      modes: ["url"],
      ask: async (request) => {
        shown.push(request);
        return { action: "accept" };
      },
    },
  };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  const call = connection.callTool("echo", {}, patient);
  await until("the address to be shown", () => shown[0]);
  await connection.ping(patient);
  expect((await call).content).toEqual([{ type: "text", text: "signed in" }]);
  expect(shown).toEqual([
    { mode: "url", message: "Sign in", url: "https://example.invalid/login", elicitationId: "e1" },
  ]);
  const unable = await fakeStdio(home, {
    on: { "tools/call": { error: { code: -32042, message: "visit", data: { elicitations } } } },
  });
  await using other = await connectStdio(unable, home, legacy);
  await expect(other.callTool("echo", {}, patient)).rejects.toMatchObject({ code: -32042 });
  expect(unable.params("tools/call")).toHaveLength(1);
});

test("a tool that can only run as a task is called as one, and its result fetched when it is there", async () => {
  await using home = await temporaryHome();
  const task = (status: string) => ({
    taskId: "t",
    status,
    pollInterval: 50,
    ttl: null,
    createdAt: "",
    lastUpdatedAt: "",
  });
  const server = await fakeStdio(home, {
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    tools: [
      tool("slow", { execution: { taskSupport: "required" } }),
      tool("quick", { execution: { taskSupport: "optional" } }),
    ],
    on: {
      "tools/call slow": { result: { task: task("working") } },
      "tasks/get": [{ result: task("working") }, { result: task("completed") }],
      "tasks/result": { result: { content: [{ type: "text", text: "done" }] } },
    },
  });
  await using connection = await connectStdio(server, home, legacy);
  expect((await connection.callTool("slow", {}, patient)).content).toEqual([{ type: "text", text: "done" }]);
  await connection.callTool("quick", {}, patient);
  const [slow, quick] = server.params("tools/call");
  expect(slow).toHaveProperty("task.ttl");
  expect(quick).not.toHaveProperty("task");
});

test("log messages and changed lists are heard, each change once", async () => {
  await using home = await temporaryHome();
  const logs: unknown[] = [];
  const changes: string[] = [];
  const log = {
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "warning", logger: "db", data: { n: 1 } },
  };
  const changed = (list: string) => ({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
  const server = await fakeStdio(home, {
    on: { "tools/call": { notify: [log, changed("tools"), changed("prompts"), changed("tools")], usual: true } },
  });
  const handlers: ClientHandlers = { log: (entry) => logs.push(entry), listChanged: (list) => void changes.push(list) };
  await using connection = await connectStdio(server, home, { ...legacy, handlers });
  await connection.callTool("echo", {}, patient);
  await until("both changes", () => changes.length >= 2 || undefined);
  expect(logs).toEqual([{ level: "warning", logger: "db", data: { n: 1 } }]);
  expect(changes.toSorted()).toEqual(["prompts", "tools"]);
});

test("[E184] a storm of changes leads to one reading at a time and one behind it", async () => {
  await using home = await temporaryHome();
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const server = await fakeStdio(home, { on: { "tools/call": { notify: Array(500).fill(changed), usual: true } } });
  let running = 0;
  let most = 0;
  let runs = 0;
  const listChanged = async () => {
    most = Math.max(most, ++running);
    runs++;
    await new Promise((resolve) => setTimeout(resolve, 200));
    running--;
  };
  await using connection = await connectStdio(server, home, { ...legacy, handlers: { listChanged } });
  await connection.callTool("echo", {}, patient);
  await until("the first reading", () => runs > 0 || undefined);
  await until("the readings to end", () => running === 0 || undefined);
  expect(most).toBe(1);
  expect(runs).toBeLessThanOrEqual(3);
});

test("[E179] [E181] all pages of every list are read, and an empty cursor is the end", async () => {
  await using home = await temporaryHome();
  const pages = (key: string, first: object, second: object) => [
    { result: { [key]: [first, null, "odd"], nextCursor: "2" } },
    { result: { [key]: [second], nextCursor: "" } },
  ];
  const server = await fakeStdio(home, {
    on: {
      "tools/list": pages("tools", { name: "a" }, { name: "b" }),
      "resources/list": pages("resources", { uri: "x:1", name: "one" }, { uri: "x:2" }),
      "resources/templates/list": pages(
        "resourceTemplates",
        { uriTemplate: "x:{a}" },
        { uriTemplate: "x:{b}", name: "b" },
      ),
      "prompts/list": pages("prompts", { name: "p", arguments: [{ name: "q", required: true }, 7] }, { name: "r" }),
    },
  });
  await using connection = await connectStdio(server, home, legacy);
  const names = async (listing: Promise<{ items: readonly { name: string }[] }>) =>
    (await listing).items.map(({ name }) => name);
  expect(await names(connection.listTools(patient))).toEqual(["a", "b"]);
  expect(await names(connection.listResources(patient))).toEqual(["one", "x:2"]);
  expect(await names(connection.listResourceTemplates(patient))).toEqual(["x:{a}", "b"]);
  expect(await names(connection.listPrompts(patient))).toEqual(["p", "r"]);
});

test("resources, prompts and completions come as they were sent", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: {
      "resources/read": { result: { contents: [{ uri: "x:1", text: "hi" }, { blob: "AA==", mimeType: "a/b" }, 5] } },
      "prompts/get": { result: { messages: [{ role: "assistant", content: { type: "text", text: "t" } }, "odd"] } },
      "completion/complete": { result: { completion: { values: ["a", 7, "b"], total: 9, hasMore: true } } },
    },
  });
  await using connection = await connectStdio(server, home, legacy);
  expect(await connection.readResource("x:9", patient)).toEqual([
    { uri: "x:1", text: "hi" },
    { uri: "x:9", blob: "AA==", mimeType: "a/b" },
  ]);
  expect((await connection.getPrompt("p", { q: "1" }, patient)).messages).toEqual([
    { role: "assistant", content: [{ type: "text", text: "t" }] },
  ]);
  const completion = await connection.complete({ type: "ref/prompt", name: "p" }, { name: "q", value: "" }, patient);
  expect(completion).toEqual({ values: ["a", "b"], total: 9, hasMore: true });
  expect(server.params("prompts/get")[0]).toEqual({ name: "p", arguments: { q: "1" } });
});

test("[E188] a server that does not know ping is alive all the same", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { on: { ping: { error: { code: -32601, message: "no" } } } });
  await using connection = await connectStdio(server, home, legacy);
  await connection.ping(patient);
});

test("[E194] giving up is told to the server, by a person and by the clock", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  await using connection = await connectStdio(server, home, legacy);
  const abort = new AbortController();
  const call = connection.callTool("echo", {}, { ...patient, signal: abort.signal });
  const first = await server.until("tools/call");
  abort.abort();
  await expect(call).rejects.toThrow("Operation aborted");
  expect((await server.until("notifications/cancelled")).message?.params).toMatchObject({
    requestId: first.message?.id,
  });
  await expect(connection.callTool("echo", {}, { timeoutMs: 100 })).rejects.toThrow(
    "`tools/call` timed out after 0.1s",
  );
  const second =
    server.params("notifications/cancelled").length < 2 ? await server.until("notifications/cancelled", 2) : undefined;
  expect(second?.message?.params?.reason ?? "timed out").toBe("timed out");
});

test("[E196] progress starts the clock anew, whether or not anybody listens to it", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: { "tools/call": { progress: [1, 2, 3, 4], everyMs: 500, text: "done" } },
  });
  await using connection = await connectStdio(server, home, legacy);
  expect((await connection.callTool("echo", {}, { timeoutMs: 1_500 })).content).toEqual([
    { type: "text", text: "done" },
  ]);
  expect(server.params("tools/call")[0]).toHaveProperty("_meta.progressToken");
});

test("[E200] one call's progress does not keep another alive", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: { "tools/call": [{ progress: [1, 2, 3, 4, 5, 6], everyMs: 100, text: "done" }, { silent: true }] },
  });
  await using connection = await connectStdio(server, home, legacy);
  const lively = connection.callTool("echo", {}, { timeoutMs: 400 });
  const silent = connection.callTool("echo", {}, { timeoutMs: 400 });
  await expect(silent).rejects.toThrow("timed out");
  expect((await lively).content).toEqual([{ type: "text", text: "done" }]);
});

test("the answer to initialized is nobody's business, not even 500", async () => {
  for (const status of [200, 204, 500]) {
    const server = await fakeHttp({ on: { "notifications/initialized": { status, body: "" } } });
    await using connection = await connectHttp(server, legacy);
    expect((await connection.listTools(patient)).items).toHaveLength(1);
    await connection.close();
    await server.close();
  }
});

test("an answer that is no object is the server's fault and says which", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { on: { "tools/call": { result: "text" }, "tools/list": { result: [] } } });
  await using connection = await connectStdio(server, home, legacy);
  await expect(connection.callTool("echo", {}, patient)).rejects.toThrow("its result to `tools/call` is no object");
  await expect(connection.listTools(patient)).rejects.toThrow("its result to `tools/list` is no object");
});
