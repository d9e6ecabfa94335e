import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { ClientHandlers } from "../../src/protocol/handlers.ts";
import { fakeHttp, tool } from "../ground/fake-server.ts";
import { until } from "../ground/wait.ts";
import { asks, type Closing, connectHttp, discoverResult, modern, type Options, patient } from "./open.ts";

type Script = Parameters<typeof fakeHttp>[0];

/** A modern server over HTTP and a connection to it, both gone at the end. */
async function meet(script: Script, options: Options = {}, discovered: object = {}) {
  const server = await fakeHttp(modern(script, discovered));
  let connection: Closing;
  try {
    connection = await connectHttp(server, options);
  } catch (error) {
    await server.close();
    throw error;
  }
  const end = async () => {
    await connection.close();
    await server.close();
  };
  return { server, connection, [Symbol.asyncDispose]: end };
}

const question = (message = "Name?") => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { name: { type: "string", default: "Ann" } } } },
});

const answering = (asked: unknown[] = []): ClientHandlers => ({
  elicit: {
    modes: ["form"],
    ask: async (request) => {
      asked.push(request.message);
      return { action: "accept", content: {} };
    },
  },
});

test("[E269] the answers and the state go back under their keys, the state byte for byte, in a new request", async () => {
  const state = 'S{"é":  1}\u2028';
  const step = asks({ one: question("1"), two: { method: "roots/list" } }, state);
  await using meeting = await meet(
    { on: { "tools/call": [step, { text: "done" }] } },
    { handlers: { ...answering(), roots: () => [{ uri: "file:///here" }] } },
  );
  const { server, connection } = meeting;
  const result = await connection.callTool("echo", { a: 1 }, patient);
  expect(result.content).toEqual([{ type: "text", text: "done" }]);
  const [first, second] = server.received().filter(({ message }) => message?.method === "tools/call");
  expect(second?.message?.id).not.toBe(first?.message?.id);
  expect(second?.message?.params).toMatchObject({
    name: "echo",
    arguments: { a: 1 },
    requestState: state,
    inputResponses: {
      one: { action: "accept", content: { name: "Ann" } },
      two: { roots: [{ uri: "file:///here" }] },
    },
  });
});

test("a question without a state is answered without one, and nothing of it reaches another call", async () => {
  await using meeting = await meet(
    { on: { "tools/call": [asks({ one: question() }), { text: "done" }, { text: "other" }] } },
    { handlers: answering() },
  );
  await meeting.connection.callTool("echo", {}, patient);
  await meeting.connection.callTool("echo", {}, patient);
  const [, second, third] = meeting.server.params("tools/call");
  expect(second).not.toHaveProperty("requestState");
  expect(third).not.toHaveProperty("inputResponses");
});

test("a state without a question is sent back after a pause", async () => {
  await using meeting = await meet({ on: { "tools/call": [asks({}, "later"), { text: "done" }] } });
  await meeting.connection.callTool("echo", {}, patient);
  expect(meeting.server.params("tools/call")[1]).toMatchObject({ requestState: "later" });
});

test("[E268] a server that asks for ever gets an error after eight rounds", async () => {
  const asked: unknown[] = [];
  await using meeting = await meet({ on: { "tools/call": asks({ one: question() }) } }, { handlers: answering(asked) });
  await expect(meeting.connection.callTool("echo", {}, patient)).rejects.toThrow(
    "it asked for more input 8 times without a result",
  );
  expect(asked).toHaveLength(8);
});

test("[E271] a question of a kind that is not offered ends the call and names it", async () => {
  await using meeting = await meet({ on: { "tools/call": asks({ one: question() }) } });
  await expect(meeting.connection.callTool("echo", {}, patient)).rejects.toThrow(
    'it asks for "elicitation/create", which this agent does not offer',
  );
  const refused = { error: { code: -32021, message: "needs elicitation", data: { requiredCapabilities: {} } } };
  await using other = await meet({ on: { "tools/call": refused } });
  await expect(other.connection.callTool("echo", {}, patient)).rejects.toMatchObject({ code: -32021 });
});

test("no clock runs while a person answers", async () => {
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const handlers: ClientHandlers = {
    elicit: {
      modes: ["form"],
      ask: async () => {
        await asked;
        return { action: "decline" };
      },
    },
  };
  await using meeting = await meet(
    { on: { "tools/call": [asks({ one: question() }), { text: "done" }] } },
    { handlers },
  );
  const call = meeting.connection.callTool("echo", {}, { timeoutMs: 300 });
  setTimeout(answer, 900);
  expect((await call).content).toEqual([{ type: "text", text: "done" }]);
});

test("[E272] a call that is given up while its question is open takes the question back", async () => {
  let signalled: AbortSignal | undefined;
  const handlers: ClientHandlers = {
    elicit: {
      modes: ["form"],
      ask: (_request, signal) => {
        signalled = signal;
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("gone"))));
      },
    },
  };
  await using meeting = await meet({ on: { "tools/call": asks({ one: question() }) } }, { handlers });
  const abort = new AbortController();
  const call = meeting.connection.callTool("echo", {}, { ...patient, signal: abort.signal });
  await until("the question", () => signalled);
  abort.abort();
  await expect(call).rejects.toThrow("Operation aborted");
  expect(signalled?.aborted).toBe(true);
  expect(meeting.server.params("tools/call")).toHaveLength(1);
});

test("a result of an unknown type is refused, one without a type is complete", async () => {
  await using meeting = await meet({
    on: { "tools/call": [{ result: { resultType: "poem", content: [] } }, { result: { content: [] } }] },
  });
  await expect(meeting.connection.callTool("echo", {}, patient)).rejects.toThrow('of the unknown type "poem"');
  expect((await meeting.connection.callTool("echo", {}, patient)).content).toEqual([]);
});

test("giving up closes the request's own stream and sends nothing", async () => {
  await using meeting = await meet({ on: { "tools/call": { silent: true } } });
  const abort = new AbortController();
  const call = meeting.connection.callTool("echo", {}, { ...patient, signal: abort.signal });
  await meeting.server.until("tools/call");
  abort.abort();
  await expect(call).rejects.toThrow("Operation aborted");
  await meeting.connection.listTools(patient);
  expect(meeting.server.methods()).not.toContain("notifications/cancelled");
});

test("what a listing says may be kept is kept, until the list changes or its time is over", async () => {
  const listing = (name: string, ttlMs: number) => ({ result: { resultType: "complete", tools: [tool(name)], ttlMs } });
  await using meeting = await meet({
    on: { "tools/list": [listing("a", 60_000), listing("b", 0), listing("c", -5)] },
  });
  const list = async () => (await meeting.connection.listTools(patient)).items[0]?.name;
  expect([await list(), await list()]).toEqual(["a", "a"]);
  expect(meeting.server.params("tools/list")).toHaveLength(1);

  await using fresh = await meet({
    on: { "tools/list": [listing("a", 1), listing("b", 0), listing("c", 0)] },
  });
  const again = async () => (await fresh.connection.listTools(patient)).items[0]?.name;
  expect(await again()).toBe("a");
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect([await again(), await again()]).toEqual(["b", "c"]);
});

test("changes are listened for, told once for many, and make the kept list void", async () => {
  const told: string[] = [];
  const ack = (subscriptionId: number) => ({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: {
      _meta: { "io.modelcontextprotocol/subscriptionId": subscriptionId },
      notifications: { toolsListChanged: true },
    },
  });
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const listing = (name: string) => ({ result: { resultType: "complete", tools: [tool(name)], ttlMs: 60_000 } });
  await using meeting = await meet(
    {
      on: {
        "subscriptions/listen": { notify: [ack(2), ...Array(20).fill(changed)], everyMs: 5, silent: true },
        "tools/list": [listing("before"), listing("after")],
      },
    },
    { handlers: { listChanged: (list) => void told.push(list) } },
    { capabilities: { tools: { listChanged: true }, prompts: {} } },
  );
  expect((await meeting.connection.listTools(patient)).items[0]?.name).toBe("before");
  await until("the change to be told", () => told.length > 0 || undefined);
  expect((await meeting.connection.listTools(patient)).items[0]?.name).toBe("after");
  expect(told.length).toBeLessThan(4);
  expect(meeting.server.params("subscriptions/listen")[0]).toMatchObject({ notifications: { toolsListChanged: true } });
});

test("a lost subscription is made again and the lists count as changed; a refused one is not asked for again", async () => {
  const told: string[] = [];
  await using meeting = await meet(
    { on: { "subscriptions/listen": [{ endStream: true }, { silent: true, sse: true }] } },
    { handlers: { listChanged: (list) => void told.push(list) } },
    { capabilities: { tools: { listChanged: true } } },
  );
  await meeting.server.until("subscriptions/listen", 2);
  await until("the lists to count as changed", () => told.length > 0 || undefined);

  await using refusing = await meet(
    { on: { "subscriptions/listen": { status: 404, error: { code: -32601, message: "no" } } } },
    { handlers: { listChanged: () => {} } },
    { capabilities: { tools: { listChanged: true } } },
  );
  await refusing.server.until("subscriptions/listen");
  await refusing.connection.callTool("echo", {}, patient);
  expect(refusing.server.params("subscriptions/listen")).toHaveLength(1);
});

test("arguments marked so are repeated as headers, after the tools were listed", async () => {
  const properties = {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
    nested: { type: "object", properties: { deep: { type: "string", "x-mcp-header": "Deep" } } },
    empty: { type: "string", "x-mcp-header": "Empty" },
    absent: { type: "string", "x-mcp-header": "Absent" },
    plain: { type: "string" },
  };
  await using meeting = await meet({ tools: [tool("t", { inputSchema: { type: "object", properties } })] });
  await meeting.connection.listTools(patient);
  const args = { region: "eu é", count: 7, dry: false, nested: { deep: " x " }, empty: "", absent: null, plain: "p" };
  await meeting.connection.callTool("t", args, patient);
  const headers = meeting.server.received().at(-1)?.headers ?? {};
  const mirrored = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;
  expect(mirrored).toEqual({
    "mcp-param-region": base64("eu é"),
    "mcp-param-count": "7",
    "mcp-param-dry-run": "false",
    "mcp-param-deep": base64(" x "),
    "mcp-param-empty": "",
  });
  expect(meeting.server.params("tools/call")[0]?.arguments).toEqual(args);
});

test("a server that reads other headers than we sent is listed anew and called once more", async () => {
  const marked = { type: "object", properties: { a: { type: "string", "x-mcp-header": "A" } } };
  await using meeting = await meet({
    on: {
      "tools/list": { result: { resultType: "complete", tools: [tool("t", { inputSchema: marked })] } },
      "tools/call": [{ status: 400, error: { code: -32020, message: "Header mismatch" } }, { text: "done" }],
    },
  });
  expect((await meeting.connection.callTool("t", { a: "x" }, patient)).content).toEqual([
    { type: "text", text: "done" },
  ]);
  expect(meeting.server.received().at(-1)?.headers?.["mcp-param-a"]).toBe("x");
});

test.each([
  ["empty", { a: { type: "string", "x-mcp-header": "" } }],
  ["no token", { a: { type: "string", "x-mcp-header": "My Region" } }],
  ["a number", { a: { type: "number", "x-mcp-header": "A" } }],
  ["an array", { a: { type: "array", "x-mcp-header": "A" } }],
  ["inside items", { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }],
  ["inside anyOf", { a: { anyOf: [{ type: "string", "x-mcp-header": "A" }] } }],
  ["given twice", { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }],
])("a tool whose header mark is %s is left out alone, with the reason", async (_name, properties) => {
  const tools = [tool("bad", { inputSchema: { type: "object", properties } }), tool("good")];
  await using meeting = await meet({ tools });
  const listed = await meeting.connection.listTools(patient);
  expect(listed.items.map(({ name }) => name)).toEqual(["good"]);
  expect(listed.notices.join()).toMatch(/^tool "bad" was left out: /);
});

test("a call that becomes a task is looked at until it has its result; to the caller it is a call with progress", async () => {
  const task = (status: string, more: object = {}) => ({
    result: { resultType: "complete", taskId: "t-1", status, pollIntervalMs: 60, ...more },
  });
  const asked: unknown[] = [];
  const seen: unknown[] = [];
  await using meeting = await meet(
    {
      on: {
        "tools/call": { result: { resultType: "task", taskId: "t-1", status: "working", pollIntervalMs: 60 } },
        "tasks/get": [
          task("working", { statusMessage: "half" }),
          task("input_required", { inputRequests: { one: question("Sure?") } }),
          task("input_required", { inputRequests: { one: question("Sure?") } }),
          task("completed", { result: { content: [{ type: "text", text: "built" }] } }),
        ],
        "tasks/update": { result: { resultType: "complete" } },
      },
    },
    { handlers: answering(asked) },
  );
  const onProgress = (progress: { message?: string }) => void seen.push(progress.message);
  const result = await meeting.connection.callTool("echo", {}, { ...patient, onProgress });
  expect(result.content).toEqual([{ type: "text", text: "built" }]);
  expect(asked).toEqual(["Sure?"]);
  expect(seen[0]).toBe("half");
  expect(meeting.server.params("tasks/update")).toMatchObject([
    { taskId: "t-1", inputResponses: { one: { action: "accept", content: { name: "Ann" } } } },
  ]);
  expect(meeting.server.received().find(({ message }) => message?.method === "tasks/get")?.headers?.["mcp-name"]).toBe(
    "t-1",
  );
});

test("a task that fails fails the call; one that is given up is cancelled at the server", async () => {
  const created = { result: { resultType: "task", taskId: "t", status: "working", pollIntervalMs: 50 } };
  const failed = { result: { taskId: "t", status: "failed", error: { code: -32000, message: "no disk" } } };
  await using failing = await meet({ on: { "tools/call": created, "tasks/get": failed } });
  await expect(failing.connection.callTool("echo", {}, patient)).rejects.toMatchObject({ code: -32000 });

  await using endless = await meet({ on: { "tools/call": created, "tasks/get": { result: { status: "working" } } } });
  const abort = new AbortController();
  const call = endless.connection.callTool("echo", {}, { ...patient, signal: abort.signal });
  await endless.server.until("tasks/get");
  abort.abort();
  await expect(call).rejects.toThrow("Operation aborted");
  await endless.server.until("tasks/cancel");
  expect(endless.server.params("tasks/cancel")).toMatchObject([{ taskId: "t" }]);
});

test("a skill's files are read when asked for, and only as they were listed", async () => {
  const body = "---\nname: pdf\ndescription: Reads PDFs\n---\nUse it.\n";
  const entry = (text: string, more: object = {}) => ({
    uri: "skill://x/pdf/SKILL.md",
    frontmatter: { name: "pdf", description: "Reads PDFs" },
    resources: [
      {
        uri: "skill://x/pdf/SKILL.md",
        digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
        size: Buffer.byteLength(text),
      },
    ],
    ...more,
  });
  const extensions = { "io.modelcontextprotocol/skills": {} };
  const served = (text: string) => ({ result: { contents: [{ uri: "skill://x/pdf/SKILL.md", text }] } });
  const read = async (skill: object, text: string) => {
    await using meeting = await meet(
      { on: { "skills/list": { result: { skills: [skill] } }, "resources/read": served(text) } },
      {},
      { capabilities: { resources: {}, extensions } },
    );
    const [listed] = (await meeting.connection.listSkills(patient)).items;
    expect(meeting.server.methods()).not.toContain("resources/read");
    if (!listed) return "not listed";
    return await meeting.connection
      .readSkillFile(listed, listed.uri, patient)
      .then(String, (error: Error) => error.message);
  };
  expect(await read(entry(body), body)).toBe(body);
  expect(await read(entry(body), body.replace("Use", "Ask"))).toContain("is not the one that was listed");
  expect(await read(entry(body), `${body}more`)).toContain(`is ${body.length + 4} bytes, not ${body.length}`);
  const lying = body.replace("Reads PDFs", "Sends PDFs");
  expect(await read(entry(lying), lying)).toContain("the front matter of");
  expect(await read(entry(body, { uri: "skill://x/other/SKILL.md" }), body)).toBe("not listed");
});

test("a server that discovers itself otherwise than its name is none of this era", async () => {
  const server = await fakeHttp({
    on: { "server/discover": { result: discoverResult({ supportedVersions: "all" }) } },
  });
  await using connection = await connectHttp(server);
  expect(connection.era).toBe("legacy");
  await connection.close();
  await server.close();
});
