import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { McpServerError } from "../../src/error.ts";
import { fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

test("[S1-03] [S1-02] a child process is spoken to in JSON-RPC 2.0 with increasing numeric ids", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  await mcp(session, { action: "list_tools", server: "fake" });
  await mcp(session, { ...call, args: { a: 1 } });
  const messages = server.received().map(({ message }) => message);
  expect(messages.map((message) => message?.method)).toEqual([
    "initialize",
    "notifications/initialized",
    "tools/list",
    "tools/call",
  ]);
  expect(messages.every((message) => message?.jsonrpc === "2.0")).toBe(true);
  expect(messages.map((message) => message?.id)).toEqual([1, undefined, 2, 3]);
});

test("[S1-09] [S1-10] a server is addressed by its name, and stdio is what it is when nothing is said", async () => {
  await using home = await temporaryHome();
  const [first, second] = [await fakeStdio(home), await fakeStdio(home)];
  home.write({
    settings: { mcpServers: [first.entry("one"), second.entry("two", { transport: "stdio" })] },
  });
  await using session = sessionOf(home);
  await mcp(session, { ...call, server: "two" });
  expect([first.starts().length, second.starts().length]).toEqual([0, 1]);
  await mcp(session, { ...call, server: "one" });
  expect([first.starts().length, second.starts().length]).toEqual([1, 1]);
});

test("[S1-11] arguments with spaces and shell characters reach the process as they are", async () => {
  await using home = await temporaryHome();
  const odd = ["a b", "$(touch pwned)", "'q'", '"d"', "x;y|z", "", "*"];
  const { server, session } = await sessionWith(home, {});
  home.write({ settings: { mcpServers: [server.entry("fake", { args: [...server.args, ...odd] })] } });
  await using again = sessionOf(home);
  await mcp(again, call);
  await session.close();
  expect(server.launches()[0]?.args).toEqual(odd);
});

test("[S1-12] [S1-13] configured environment variables reach the process, with $NAME and ${NAME} filled in", async () => {
  await using home = await temporaryHome({ env: { MY_TOKEN: "tok-12345", OUTER: "from the agent" } });
  const env = { PLAIN: "text", BARE: "$MY_TOKEN", BRACED: "x-${MY_TOKEN}-y", UNSET: "$NOT_SET_ANYWHERE", FIVE: "$5" };
  const { server, session } = await sessionWith(home, {}, { env });
  await using _ = session;
  await mcp(session, call);
  expect(server.launches()[0]?.env).toMatchObject({
    PLAIN: "text",
    BARE: "tok-12345",
    BRACED: "x-tok-12345-y",
    UNSET: "$NOT_SET_ANYWHERE",
    FIVE: "$5",
    OUTER: "from the agent",
  });
});

test("[S3-56] [S3-57] a server of mcp.json gets the agent's environment with its `env` laid over it", async () => {
  await using home = await temporaryHome({ env: { OUTER: "from the agent", REPLACED: "from the agent" } });
  const server = await fakeStdio(home);
  home.write({ mcp: { mcpServers: { fake: server.entry("fake", { env: { REPLACED: "own", ADDED: "own" } }) } } });
  await using session = sessionOf(home);
  await mcp(session, call);
  expect(server.launches()[0]?.env).toMatchObject({ OUTER: "from the agent", REPLACED: "own", ADDED: "own" });
});

test("[S1-14] a disabled server is not there", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {}, { disabled: true });
  await using _ = session;
  const { text } = await mcp(session, call);
  const settings = join(home.agentDir, "settings.json");
  expect(text).toMatch(
    new RegExp(`^MCP server \`fake\` is disabled at ${settings}:\\d+; \`pi-mcp enable fake --file `),
  );
  expect((await mcp(session, { ...call, server: "none" })).text).toBe(
    "no MCP server configured with name `none`; no MCP servers are configured",
  );
  expect(server.starts()).toEqual([]);
});

test("[S1-15] a configured secret appears in no output: listing, result, error, failing start", async () => {
  const secret = "s3cr3t-value-of-mine";
  await using home = await temporaryHome({ env: { MY_TOKEN: secret } });
  const { server, session } = await sessionWith(
    home,
    {
      tools: [tool("echo", { description: `says ${secret}` })],
      on: {
        "tools/call": [
          { env: "TOKEN" },
          { result: { content: [], structuredContent: { t: secret } } },
          { error: { code: -32000, message: `bad token ${secret}` } },
        ],
      },
    },
    { env: { TOKEN: "$MY_TOKEN" } },
  );
  await using _ = session;
  const outputs = [
    await mcp(session, { action: "list_servers" }),
    await mcp(session, { action: "list_tools", server: "fake" }),
    await mcp(session, call),
    await mcp(session, call),
    await mcp(session, call),
  ].map(({ text }) => text);
  expect(server.launches()[0]?.env.TOKEN).toBe(secret);
  expect(outputs[2]).toContain("[REDACTED]");
  expect(outputs.join("\n")).not.toContain(secret);

  const broken = await fakeStdio(home, {
    startup: { stderr: `connecting with ${secret}\n` },
    on: { initialize: { error: { code: -32000, message: `wrong ${secret}` } } },
  });
  home.write({ settings: { mcpServers: [broken.entry("fake", { env: { TOKEN: "$MY_TOKEN" } })] } });
  await using failing = sessionOf(home);
  const { text } = await mcp(failing, call);
  expect(text).toContain("failed to initialize");
  expect(text).toContain("connecting with [REDACTED]");
  expect(text).not.toContain(secret);
});

test("[S1-16] the end of stderr is shown when initialize fails, and never else", async () => {
  await using home = await temporaryHome();
  const words = "something on stderr";
  const { session } = await sessionWith(home, {
    startup: { stderr: `${words}\n` },
    on: { "tools/call": [{ echo: true }, { text: "no", isError: true }, { stderr: words, exit: 3 }] },
  });
  const texts = [await mcp(session, call), await mcp(session, call), await mcp(session, call)].map(({ text }) => text);
  await session.close();
  expect(texts.join("\n")).not.toContain(words);
  const refusing = await sessionWith(home, {
    startup: { stderr: `${words}\n` },
    on: { initialize: { error: { code: -32603, message: "not today" } } },
  });
  const { text } = await mcp(refusing.session, call);
  await refusing.session.close();
  expect(text).toBe(
    `MCP server \`fake\` failed to initialize: it refused (-32603): not today\n--- server stderr ---\n${words}`,
  );
});

test("[S1-17] secrets in that stderr are taken out by their looks", async () => {
  await using home = await temporaryHome();
  const stderr = `ghp_${"a1".repeat(12)} sk-${"b2".repeat(12)} token=opensesame\nall is lost\n`;
  const { session } = await sessionWith(home, { startup: { stderr, exit: 1 } });
  await using _ = session;
  const { text } = await mcp(session, call);
  expect(text).toContain("[REDACTED] [REDACTED] token=[REDACTED]\nall is lost");
});

test("[S1-27] follows nextCursor and sends it as cursor", async () => {
  await using home = await temporaryHome();
  const tools = ["a", "b", "c"].map((name) => tool(name));
  const { server, session } = await sessionWith(home, { tools, pageSize: 2 });
  await using _ = session;
  expect((await session.listTools("fake")).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  const [first, second] = server.params("tools/list");
  expect(first?.cursor).toBeUndefined();
  expect(second?.cursor).toBeTruthy();
});

test("[S1-28] collects at most 512 tools", async () => {
  await using home = await temporaryHome();
  const tools = Array.from({ length: 600 }, (_, index) => tool(`t${index}`));
  const { session } = await sessionWith(home, { tools });
  await using _ = session;
  expect(await session.listTools("fake")).toHaveLength(512);
});

test("[S1-29] follows at most 32 pages of a list that never ends", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { endlessCursor: true });
  await using _ = session;
  expect(await session.listTools("fake")).toHaveLength(32);
  expect(server.params("tools/list")).toHaveLength(32);
});

test("one bad tool costs only itself", async () => {
  await using home = await temporaryHome();
  const odd = [null, 7, { description: "nameless" }, { name: "scalar", inputSchema: { type: "string" } }];
  const mended = [{ name: "schemaless" }, { name: "nulls", description: null, annotations: null, inputSchema: null }];
  const { session } = await sessionWith(home, {
    on: { "tools/list": { result: { tools: [...odd, ...mended, tool("good")] } } },
  });
  await using _ = session;
  expect((await session.listTools("fake")).map(({ name }) => name)).toEqual(["schemaless", "nulls", "good"]);
});

test("[S1-36] [S1-41] ten first calls at once, and one a little later, share one process", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { startup: { delayMs: 300 } });
  await using _ = session;
  const calls = Array.from({ length: 10 }, () => mcp(session, call));
  await sleep(200);
  const answers = await Promise.all([...calls, mcp(session, call)]);
  expect(answers.every(({ isError }) => !isError)).toBe(true);
  expect(server.starts()).toHaveLength(1);
  expect(server.params("tools/call")).toHaveLength(11);
});

test("[S1-05] two sessions have a process each", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using other = sessionOf(home);
  await using _ = session;
  await Promise.all([mcp(session, call), mcp(other, call)]);
  expect(new Set(server.starts()).size).toBe(2);
});

test("[S1-53] each connection keeps the revision its server answered", async () => {
  await using home = await temporaryHome();
  const [old, newer] = [
    await fakeStdio(home, { protocolVersion: "2024-11-05" }),
    await fakeStdio(home, { protocolVersion: "2025-06-18" }),
  ];
  home.write({ settings: { mcpServers: [old.entry("old"), newer.entry("newer")] } });
  await using session = sessionOf(home);
  await Promise.all(["old", "newer"].map((server) => mcp(session, { ...call, server })));
  expect(session.status("old").protocolVersion).toBe("2024-11-05");
  expect(session.status("newer").protocolVersion).toBe("2025-06-18");
});

test("a revision nobody knows is refused by name", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, { protocolVersion: "2031-01-01" });
  await using _ = session;
  expect((await mcp(session, call)).text).toContain('it speaks protocol revision "2031-01-01"; known are 2025-11-25');
});

test("[S1-38] [S2-33] closing the session ends the process, one that ignores EOF and SIGTERM, and its children", async () => {
  await using home = await temporaryHome();
  const stubborn = { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true };
  const servers = await Promise.all([1, 2, 3].map(() => fakeStdio(home, { startup: stubborn })));
  home.write({ settings: { mcpServers: servers.map((server, index) => server.entry(`s${index}`)) } });
  const session = sessionOf(home);
  await Promise.all(servers.map((_, index) => mcp(session, { ...call, server: `s${index}` })));
  const pids = servers.flatMap((server) => [...server.starts(), ...server.grandchildren()]);
  expect(pids).toHaveLength(6);
  expect(pids.every(isAlive)).toBe(true);
  await session.close();
  expect(pids.filter(isAlive)).toEqual([]);
});

test("[E022] a server that dies leaves no grandchild behind", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    startup: { spawnGrandchild: true },
    on: { "tools/call": { exit: 3 } },
  });
  await using _ = session;
  expect((await mcp(session, call)).isError).toBe(true);
  await until("the grandchild to go", () => !server.grandchildren().some(isAlive) || undefined);
});

test("[S1-39] an aborted call is cancelled at the server, which lives on", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { "tools/call": [{ silent: true }, { echo: true }] } });
  await using _ = session;
  const abort = new AbortController();
  const pending = session.callTool("fake", "echo", {}, { signal: abort.signal });
  const received = await server.until("tools/call");
  abort.abort();
  await expect(pending).rejects.toMatchObject({ category: "cancelled", server: "fake" });
  const cancelled = await server.until("notifications/cancelled");
  expect(cancelled.message?.params?.requestId).toBe(received.message?.id);
  expect((await mcp(session, call)).isError).toBe(false);
  await session.close();
  expect(server.starts().filter(isAlive)).toEqual([]);
});

test("closing while a server starts and a call is in flight ends both", async () => {
  await using home = await temporaryHome();
  const slow = await fakeStdio(home, { on: { initialize: { silent: true } } });
  const busy = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  home.write({ settings: { mcpServers: [slow.entry("slow"), busy.entry("busy")] } });
  const session = sessionOf(home);
  const pending = [mcp(session, { ...call, server: "slow" }), mcp(session, { ...call, server: "busy" })];
  await Promise.all([slow.until("initialize"), busy.until("tools/call")]);
  await session.close();
  const answers = await Promise.all(pending);
  expect(answers.map(({ isError }) => isError)).toEqual([true, true]);
  expect([...slow.starts(), ...busy.starts()].filter(isAlive)).toEqual([]);
});

test("progress reaches the caller and keeps the call alive beyond its limit", async () => {
  await using home = await temporaryHome();
  const progress = [1, 2, 3, 4, 5].map((step) => ({ progress: step, total: 5, message: `step ${step}` }));
  const { session } = await sessionWith(home, {
    on: { "tools/call": { progress, everyMs: 350, text: "done" } },
  });
  await using _ = session;
  const seen: unknown[] = [];
  const result = await session.callTool(
    "fake",
    "echo",
    {},
    { timeoutMs: 1_500, onProgress: (each) => seen.push(each) },
  );
  expect(result.content).toEqual([{ type: "text", text: "done" }]);
  expect(seen).toEqual(progress);
});

test("a call over its limit fails with the time, and the server is told", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { "tools/call": { silent: true } } });
  await using _ = session;
  const failure = await session.callTool("fake", "echo", {}, { timeoutMs: 200 }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(McpServerError);
  expect(failure).toMatchObject({
    category: "timeout",
    message: expect.stringContaining("`tools/call` timed out after 0.2s"),
  });
  await server.until("notifications/cancelled");
});

test("a call whose server dies says that it may have run and is not repeated; the next call starts a new process", async () => {
  await using home = await temporaryHome();
  const script: ServerScript = { on: { "tools/call": [{ exit: 7 }, { echo: true }] } };
  const { server, session } = await sessionWith(home, script, { replay: "never" });
  await using _ = session;
  const first = await mcp(session, call);
  expect(first.text).toBe(
    "MCP server `fake`: its process exited with code 7. The request may have run; it was not repeated",
  );
  expect(first.details).toMatchObject({ category: "connection" });
  expect((await mcp(session, call)).isError).toBe(false);
  expect(server.starts()).toHaveLength(2);
  expect(server.params("tools/call")).toHaveLength(2);
});

test.each([
  [{ startup: { exit: 1 } }, "its process exited with code 1"],
  [{ on: { initialize: { signal: "SIGKILL" as const } } }, "its process was ended by SIGKILL"],
])("a server that ends while it starts is reported with how it ended %#", async (script, reason) => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, script, { maxAttempts: 1 });
  await using _ = session;
  expect((await mcp(session, call)).text).toBe(`MCP server \`fake\` failed to initialize: ${reason}`);
  expect(session.status("fake")).toMatchObject({ state: "failed" });
});

test("a command that does not exist is reported with the place of its entry", async () => {
  await using home = await temporaryHome({ settings: { mcpServers: [{ name: "fake", command: "no-such-command" }] } });
  await using session = sessionOf(home);
  const { text, details } = await mcp(session, call);
  expect(text).toMatch(
    /^MCP server `fake` failed to initialize: its command .* was not found.*settings\.json:3 \(tried 3 times\)$/,
  );
  expect(details).toMatchObject({ category: "connection" });
});

test("[E007] a server that prints garbage and never answers fails at its deadline with what it printed", async () => {
  await using home = await temporaryHome();
  const script: ServerScript = { startup: { stdout: "Welcome!\nmore\n" }, on: { initialize: { silent: true } } };
  const loud = await fakeStdio(home, { ...script, startup: { ...script.startup, stderr: "loading\n" } });
  const silent = await fakeStdio(home, script);
  // Time enough to print it all on a busy computer.
  const limit = { requestTimeoutMs: 3_000 };
  home.write({ settings: { mcpServers: [loud.entry("fake", limit), silent.entry("silent", limit)] } });
  await using session = sessionOf(home);
  const [{ text }, { text: alone }] = await Promise.all([
    mcp(session, call),
    mcp(session, { ...call, server: "silent" }),
  ]);
  expect(text).toContain("`initialize` timed out after 3s");
  const remark = "--- server stdout ---\n2 line(s) on stdout were not MCP messages, the first: Welcome!";
  expect(text.slice(text.indexOf("\n"))).toBe(`\n--- server stderr ---\nloading\n${remark}`);
  expect(alone.slice(alone.indexOf("\n"))).toBe(`\n${remark}`);
});
