import fc from "fast-check";
import { expect, test } from "vitest";
import { AcpProxy } from "./proxy.ts";
import type { ProxySession } from "./sessions.ts";

/** A proxy whose ends are two lists of lines. */
function between() {
  const toAgent: string[] = [];
  const toEditor: string[] = [];
  const listed: ProxySession[] = [];
  const commands: { text: string; signal: AbortSignal; answer: (text: string) => void }[] = [];
  const proxy = new AcpProxy({
    toAgent: (line) => toAgent.push(line.toString()),
    toEditor: (line) => toEditor.push(line.toString()),
    listed: (session) => listed.push({ ...session }),
    command: (_session, text, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cancelled")));
        commands.push({ text, signal, answer: resolve });
      }),
  });
  const lineOf = (message: unknown) => Buffer.from(typeof message === "string" ? message : JSON.stringify(message));
  return {
    proxy,
    toAgent,
    toEditor,
    listed,
    commands,
    editor: (message: unknown) => proxy.fromEditor(lineOf(message)),
    agent: (message: unknown) => proxy.fromAgent(lineOf(message)),
  };
}

type Wire = ReturnType<typeof between>;

const SERVER = { name: "files", command: "/bin/server", args: [], env: [{ name: "KEY", value: "s3cr3t" }] };

function initialize(wire: Wire, result: object = { protocolVersion: 1, agentCapabilities: { loadSession: true } }) {
  wire.editor({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
  wire.agent({ jsonrpc: "2.0", id: 0, result });
}

function open(wire: Wire, sessionId: string, mcpServers: unknown = [SERVER], id: unknown = `new-${sessionId}`) {
  wire.editor({ jsonrpc: "2.0", id, method: "session/new", params: { cwd: "/", mcpServers } });
  wire.agent({ jsonrpc: "2.0", id, result: { sessionId } });
}

const last = (lines: readonly string[]) => JSON.parse(lines.at(-1) ?? "null");

/** Once what a promise goes on to do is done. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("what it has no business with passes as it is, both ways", () => {
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"x"}}',
    '{ "jsonrpc" : "2.0", "id": 12345678901234567890, "method": "_vendor/thing", "params": [1, 2.0, 1e3] }',
    '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nobody"}}',
    '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"nobody","prompt":[{"type":"text","text":"/mcp"}]}}',
    '{"jsonrpc":"2.0","id":"pi","result":null}',
    '{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}',
    '[{"jsonrpc":"2.0","id":4,"method":"session/new","params":{"mcpServers":[]}}]',
    '{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/", "mcpServers":[] , "_meta":{"a":1}}}',
    '{"jsonrpc":"2.0","id":6,"method":"session/new","params":"odd"}',
    '{"result":{}}',
    "no JSON\r",
    "",
    "\u0000\uFFFD",
    `{"jsonrpc":"2.0","method":"x","params":"${"y".repeat(10_000_000)}"}`,
  ];
  for (const direction of ["editor", "agent"] as const) {
    const wire = between();
    for (const line of lines) wire[direction](line);
    expect(direction === "editor" ? wire.toAgent : wire.toEditor).toEqual(lines);
    expect(direction === "editor" ? wire.toEditor : wire.toAgent).toEqual([]);
  }
});

test("bytes that are no text pass as they are", () => {
  const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28]);
  const seen: (Buffer | string)[] = [];
  const proxy = new AcpProxy({
    toAgent: (line) => seen.push(line),
    toEditor: (line) => seen.push(line),
    listed: () => {},
    command: async () => "",
  });
  proxy.fromEditor(bytes);
  proxy.fromAgent(bytes);
  expect(seen).toEqual([bytes, bytes]);
});

test("whatever either side sends, nothing is lost, added or thrown before servers are handed over", () => {
  const message = fc.oneof(fc.json(), fc.string(), fc.record({ id: fc.integer(), result: fc.jsonValue() }));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), message)), (messages) => {
      const wire = between();
      const sent = { editor: [] as string[], agent: [] as string[] };
      for (const [isEditor, each] of messages) {
        const line = typeof each === "string" ? each : JSON.stringify(each);
        sent[isEditor ? "editor" : "agent"].push(line);
        wire[isEditor ? "editor" : "agent"](line);
      }
      expect([wire.toAgent, wire.toEditor]).toEqual([sent.editor, sent.agent]);
    }),
  );
});

test("the agent is said to take servers, and nothing else about it is changed", () => {
  const wire = between();
  initialize(wire, {
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, mcpCapabilities: { http: false, sse: false, acp: false }, _meta: { a: 1 } },
    authMethods: [],
  });
  expect(last(wire.toEditor)).toEqual({
    jsonrpc: "2.0",
    id: 0,
    result: {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, mcpCapabilities: { http: true, sse: true, acp: false }, _meta: { a: 1 } },
      authMethods: [],
    },
  });
});

test("in the draft of ACP 2 the same is said in its words", () => {
  const wire = between();
  initialize(wire, { protocolVersion: 2, capabilities: { session: { close: {} }, x: 1 } });
  expect(last(wire.toEditor).result).toEqual({
    protocolVersion: 2,
    capabilities: { session: { close: {}, mcp: { stdio: {}, http: {} } }, x: 1 },
  });
});

test.each([
  { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } },
  { protocolVersion: 2, capabilities: { session: { mcp: { stdio: {} } } } },
])("an agent that takes servers itself gets them, and answers /mcp itself", (result) => {
  const wire = between();
  initialize(wire, result);
  expect(last(wire.toEditor).result).toEqual(result);
  open(wire, "s");
  expect(last(wire.toAgent).params.mcpServers).toEqual([SERVER]);
  wire.editor({
    id: 9,
    method: "session/prompt",
    params: { sessionId: "s", prompt: [{ type: "text", text: "/mcp" }] },
  });
  expect(last(wire.toAgent).id).toBe(9);
  expect([wire.listed, wire.commands]).toEqual([[], []]);
});

test.each(["session/new", "session/load", "session/resume", "session/fork"])(
  "servers are taken out of %s, and kept for the session it is of",
  (method) => {
    const wire = between();
    initialize(wire);
    const known = method === "session/new" ? {} : { sessionId: "old" };
    const params = { ...known, cwd: "/", mcpServers: [SERVER, "odd"], other: { kept: 1 } };
    wire.editor({ jsonrpc: "2.0", id: "a", method, params });
    expect(last(wire.toAgent)).toEqual({ jsonrpc: "2.0", id: "a", method, params: { ...params, mcpServers: [] } });
    expect(wire.listed).toEqual([]);
    const isOld = method === "session/load" || method === "session/resume";
    wire.agent({ jsonrpc: "2.0", id: "a", result: isOld ? {} : { sessionId: "made" } });
    expect(wire.listed).toMatchObject([{ id: isOld ? "old" : "made", list: [SERVER, "odd"] }]);
    // Said after the answer, as an editor drops what is said of a session it does not know.
    const [answer, announced] = wire.toEditor.slice(-2).map((line) => JSON.parse(line));
    expect(answer.id).toBe("a");
    expect(announced.params.update.availableCommands).toMatchObject([{ name: "mcp" }]);
    expect(wire.toAgent.join("")).not.toContain("s3cr3t");
  },
);

test("a session that is loaded again has the new list at once, and one that could not be loaded has none", () => {
  const wire = between();
  initialize(wire);
  const load = (id: number, sessionId: string, name: string) =>
    wire.editor({ id, method: "session/load", params: { sessionId, mcpServers: [{ ...SERVER, name }] } });
  load(1, "s", "one");
  wire.agent({ id: 1, result: null });
  load(2, "s", "two");
  expect(wire.proxy.sessions.find({ sessionId: "s" })?.list).toMatchObject([{ name: "two" }]);
  load(3, "gone", "three");
  wire.agent({ id: 3, error: { code: -1, message: "no" } });
  expect(wire.proxy.sessions.get("gone")).toBeUndefined();
});

test("two sessions that are made at once do not get each other's servers, whichever is answered first", () => {
  const wire = between();
  initialize(wire);
  const named = (name: string) => [{ ...SERVER, name }];
  // The number and the text are two ids.
  wire.editor({ id: 1, method: "session/new", params: { mcpServers: named("one") } });
  wire.editor({ id: "1", method: "session/new", params: { mcpServers: named("two") } });
  wire.editor({ id: 2, method: "session/new", params: { mcpServers: named("three") } });
  wire.agent({ id: "1", result: { sessionId: "b" } });
  wire.agent({ id: 2, error: { code: -1, message: "no" } });
  wire.agent({ id: 1, result: { sessionId: "a" } });
  expect(wire.listed).toMatchObject([
    { id: "b", list: [{ name: "two" }] },
    { id: "a", list: [{ name: "one" }] },
  ]);
});

test("the command stands among those of the agent, once", () => {
  const wire = between();
  initialize(wire);
  open(wire, "s");
  open(wire, "none", []);
  const announce = (sessionId: string) =>
    wire.agent({
      method: "session/update",
      params: {
        sessionId,
        update: {
          sessionUpdate: "available_commands_update",
          availableCommands: [{ name: "a" }, { name: "mcp" }],
          x: 1,
        },
      },
    });
  announce("s");
  const { update } = last(wire.toEditor).params;
  expect(update.availableCommands.map(({ name }: { name: string }) => name)).toEqual(["a", "mcp"]);
  expect([update.x, update.availableCommands[1].input]).toEqual([1, { hint: "reconnect <server>" }]);
  announce("none");
  expect(last(wire.toEditor).params.update.availableCommands).toEqual([{ name: "a" }, { name: "mcp" }]);
});

test("/mcp is answered here, and other prompts are the agent's", async () => {
  const wire = between();
  initialize(wire);
  open(wire, "s");
  const prompt = (id: number, text: string) =>
    wire.editor({ id, method: "session/prompt", params: { sessionId: "s", prompt: [{ type: "text", text }] } });
  prompt(7, "/mcp reconnect files");
  expect(last(wire.toAgent).method).toBe("session/new");
  wire.commands[0]?.answer("all well");
  await settled();
  expect(wire.toEditor.slice(-2).map((line) => JSON.parse(line))).toMatchObject([
    { params: { sessionId: "s", update: { content: { text: "all well" } } } },
    { id: 7, result: { stopReason: "end_turn" } },
  ]);
  prompt(8, "/mcphisto");
  expect(last(wire.toAgent).id).toBe(8);
});

test("/mcp that is cancelled ends at once", async () => {
  const wire = between();
  initialize(wire);
  open(wire, "s");
  const prompt = [{ type: "text", text: "/mcp" }];
  wire.editor({ id: 7, method: "session/prompt", params: { sessionId: "s", prompt } });
  wire.editor({ method: "session/cancel", params: { sessionId: "s" } });
  await settled();
  expect(last(wire.toEditor)).toMatchObject({ id: 7, result: { stopReason: "cancelled" } });
});

test("what it asks itself is answered to it alone, and its ids are nobody else's", async () => {
  const wire = between();
  initialize(wire);
  const over = new AbortController();
  const one = wire.proxy.ask("session/request_permission", { n: 1 }, over.signal);
  const two = wire.proxy.ask("session/request_permission", { n: 2 }, over.signal);
  const [first, second] = wire.toEditor.slice(-2).map((line) => JSON.parse(line).id);
  wire.toAgent.length = 0;
  wire.editor({ id: second, result: { b: 2 } });
  wire.editor({ id: first, error: { code: -1, message: "no" } });
  expect(await two).toEqual({ b: 2 });
  await expect(one).rejects.toThrow("refused");
  const late = wire.proxy.ask("session/request_permission", { n: 3 }, over.signal);
  const { id } = last(wire.toEditor);
  over.abort();
  await expect(late).rejects.toThrow("cancelled");
  expect(last(wire.toEditor)).toMatchObject({ method: "$/cancel_request", params: { requestId: id } });
  wire.editor({ id, result: {} });
  expect(wire.toAgent).toEqual([]);
  // Requests of the agent have numbers of its own, which are answered to it.
  wire.editor({ id: 1, result: { c: 3 } });
  expect(wire.toAgent).toHaveLength(1);
});

test("a session that is closed or deleted has no servers any more", () => {
  for (const method of ["session/close", "session/delete"]) {
    const wire = between();
    initialize(wire);
    open(wire, "s");
    wire.editor({ id: 3, method, params: { sessionId: "s" } });
    expect(wire.proxy.sessions.get("s")).toBeUndefined();
    expect(last(wire.toAgent).method).toBe(method);
  }
});

test("a session is known by its file when its process calls itself by another id", () => {
  const wire = between();
  initialize(wire);
  wire.proxy.sessions.note({ sessionId: "s", sessionFile: "/a.jsonl" });
  open(wire, "s");
  expect(wire.proxy.sessions.find({ sessionId: "new", sessionFile: "/a.jsonl" })?.id).toBe("s");
  expect(wire.proxy.sessions.find({ sessionId: "new", sessionFile: "/b.jsonl" })).toBeUndefined();
  expect(wire.proxy.sessions.find({})).toBeUndefined();
});
