import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { readAcpServers } from "../../src/config/acp.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { LoadedConfig, ServerPolicy } from "../../src/config/record.ts";
import type { McpServerError } from "../../src/error.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import { type FakeStdio, fakeHttp, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { sessionWith } from "./open.ts";

const failureOf = (promise: Promise<unknown>): Promise<McpServerError> =>
  promise.then(
    () => Promise.reject(new Error("It was answered.")),
    (error: McpServerError) => error,
  );
const callsOf = (server: { params(method: string): unknown[] }) => server.params("tools/call").length;

/** A session over servers of an `mcp.json`, with values in their policy that no entry can have. */
function mcpSession(home: Home, mcpServers: Readonly<Record<string, object>>, more: Partial<ServerPolicy> = {}) {
  home.write({ mcp: { mcpServers } });
  const config = loadConfig({ env: home.env(), home: home.home });
  const servers = config.servers.map((server) => ({ ...server, policy: { ...server.policy, ...more } }));
  return createSession({ ...config, servers }, { env: home.env(), cwd: home.cwd });
}

/** An editor's session with the servers given. */
function acpSession(home: Home, servers: Readonly<Record<string, FakeStdio>>): McpSession {
  const list = Object.entries(servers).map(([name, { command, args }]) => ({ name, command, args, env: [] }));
  const config: LoadedConfig = readAcpServers(list);
  return createSession(config, { env: home.env(), cwd: home.cwd });
}

const legacy = { protocolVersion: "2025-06-18" };
const stdio = ({ command, args }: FakeStdio, more: object = {}) => ({ command, args, ...legacy, ...more });
const stateIs = (session: McpSession, name: string, state: string) =>
  until(`${name} to be ${state}`, () => session.status(name).state === state || undefined);

describe("settings servers", () => {
  test("[S1-40] ten first calls at once, and one a little later, share one start", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, { startup: { delayMs: 400 } });
    await using _ = session;
    const calls = Array.from({ length: 10 }, () => session.callTool("fake", "echo", {}));
    await until("the start", () => server.starts()[0]);
    calls.push(session.callTool("fake", "echo", {}));
    expect((await Promise.all(calls)).every(({ isError }) => !isError)).toBe(true);
    expect(server.starts()).toHaveLength(1);
  });

  test.each<[string, ServerScript]>([
    ["exits while it starts", { startup: [{ exit: 1 }, {}] }],
    ["exits under the call", { on: { "tools/call": [{ exit: 1 }, { echo: true }] } }],
    ["is killed under the call", { on: { "tools/call": [{ signal: "SIGKILL" }, { echo: true }] } }],
    [
      "ends in the middle of a frame",
      { on: { "tools/call": [{ raw: 'Content-Length: 500\r\n\r\n{"a"', exit: 0 }, { echo: true }] } },
    ],
  ])("[S1-42] a server that %s is started again and the call made again", async (_name, script) => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, script, { framing: "newline" });
    await using _ = session;
    expect((await session.callTool("fake", "echo", { a: 1 })).content).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect(server.starts()).toHaveLength(2);
  });

  test("[S1-42] [S1-45] a process that cannot be started is tried again, and the error says where to look", async () => {
    await using home = await temporaryHome({
      settings: { mcpServers: [{ name: "fake", command: "no-such-command" }] },
    });
    const config = loadConfig({ env: home.env(), home: home.home });
    await using session = createSession(config, { env: home.env(), cwd: home.cwd });
    const { attempts, message } = await failureOf(session.callTool("fake", "echo", {}));
    expect(attempts).toBe(3);
    expect(message).toMatch(
      /^MCP server `fake` failed to initialize: its command .*not found. Check its entry in .*settings\.json:3 \(tried 3 times\)$/,
    );
  });

  test.each<[string, ServerScript]>([
    ["while it starts", { startup: { exit: 1 } }],
    ["under each call", { on: { "tools/call": { exit: 1 } } }],
  ])(
    "[S1-44] [S1-45] a server that exits %s is started three times; the error names it and says what to do",
    async (_name, script) => {
      await using home = await temporaryHome();
      const { server, session } = await sessionWith(home, script, { framing: "newline" });
      await using _ = session;
      const { attempts, message } = await failureOf(session.callTool("fake", "echo", {}));
      expect([attempts, server.starts().length]).toEqual([3, 3]);
      expect(message).toContain("MCP server `fake`");
      expect(message).toMatch(
        /its process exited with code 1.*\(tried 3 times\)\. Check its entry in .*settings\.json:\d+$/,
      );
    },
  );

  test("a call that was sent again and then answered fails for no reason of its first try", async () => {
    await using home = await temporaryHome();
    const error = { code: -32000, message: "no such row" };
    const { session } = await sessionWith(home, { on: { "tools/call": [{ exit: 1 }, { error }] } });
    await using _ = session;
    const { attempts, category, message } = await failureOf(session.callTool("fake", "echo", {}));
    expect([attempts, category]).toEqual([2, "other"]);
    expect(message).toContain("it answered with error -32000: no such row. The request may have run");
  });

  test.each<[string, ServerScript["on"]]>([
    ["an error", { "tools/call": [{ error: { code: -32603, message: "broken" } }, { usual: true }] }],
    ["nothing in time", { "tools/call": [{ silent: true }, { usual: true }] }],
  ])("[S1-48] a server that answered %s is replaced: the next call has a new process", async (_name, on) => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, { on: on ?? {} });
    await using _ = session;
    await failureOf(session.callTool("fake", "echo", {}, { timeoutMs: 600 }));
    expect([session.status("fake").state, session.status("fake").pid]).toEqual(["stopped", undefined]);
    expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
    const [first, second] = server.starts();
    expect([first === second, isAlive(first ?? 0), session.status("fake").pid]).toEqual([false, false, second]);
    expect(callsOf(server)).toBe(2);
  });

  test("[S1-60] those who wait while a hung server is given up get the new one, and never two run at once", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      tools: [tool("hang"), tool("slow"), tool("echo")],
      on: { "tools/call hang": { silent: true }, "tools/call slow": { delayMs: 900, text: "slow is done" } },
    });
    await using _ = session;
    await session.listTools("fake");
    const slow = session.callTool("fake", "slow", {});
    await failureOf(session.callTool("fake", "hang", {}, { timeoutMs: 200 }));
    const waiting = [1, 2, 3].map(() => session.callTool("fake", "echo", {}));
    // What was under way beside the one that hung is not its fault.
    expect((await slow).content).toEqual([{ type: "text", text: "slow is done" }]);
    await Promise.all(waiting);
    const echoes = server.received().filter(({ message }) => message?.params?.name === "echo");
    const [first, second, ...others] = server.starts();
    expect(others).toEqual([]);
    expect(new Set(echoes.map(({ pid }) => pid))).toEqual(new Set([second]));
    const ended = server.journal().find(({ type, pid }) => pid === first && type === "exit")?.at ?? 0;
    const begun = server.journal().find(({ type, pid }) => pid === second && type === "start")?.at ?? 0;
    expect(ended).toBeLessThanOrEqual(begun);
  });

  test("one answer after another that is an error does not use up the starts of a server", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      on: { "tools/call": { error: { code: -32602, message: "bad" } } },
    });
    await using _ = session;
    for (let n = 0; n < 12; n++) {
      expect((await failureOf(session.callTool("fake", "echo", {}))).category).toBe("validation");
    }
    expect(server.starts()).toHaveLength(12);
  });
});

describe("an editor's servers", () => {
  test("[S2-14] each session has a process of its own, and one for all tools of a server", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("a"), tool("b")] });
    await using one = acpSession(home, { fake: server });
    await using two = acpSession(home, { fake: server });
    for (const session of [one, two]) {
      await Promise.all([session.callTool("fake", "a", {}), session.callTool("fake", "b", {})]);
    }
    expect(server.starts()).toHaveLength(2);
    expect(one.status("fake").pid).not.toBe(two.status("fake").pid);
  });

  test("[S2-15] [S2-16] one that does not start costs neither the session nor the others", async () => {
    await using home = await temporaryHome();
    const [bad, good] = [await fakeStdio(home, { startup: { exit: 1 } }), await fakeStdio(home)];
    await using session = acpSession(home, { bad, good });
    const [refused, listed] = await Promise.all([failureOf(session.listTools("bad")), session.listTools("good")]);
    expect(refused.message).toContain("MCP server `bad` failed to initialize: its process exited with code 1");
    expect(listed.map(({ name }) => name)).toEqual(["echo"]);
    expect([session.status("bad").state, session.status("good").state]).toEqual(["failed", "ready"]);
  });

  test("[S2-23] one that stopped is started by the next call, and by nothing before it", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    await using session = acpSession(home, { fake: server });
    await session.callTool("fake", "echo", {});
    process.kill(server.starts()[0] ?? 0, "SIGKILL");
    await stateIs(session, "fake", "stopped");
    await sleep(500);
    expect(server.starts()).toHaveLength(1);
    expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
    expect(server.starts()).toHaveLength(2);
  });

  test("[S2-24] [S2-25] [S2-32] it is started again three times in a row, until a call is answered or a person reconnects it", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("echo"), tool("die")], on: { "tools/call die": { exit: 1 } } });
    await using session = acpSession(home, { fake: server });
    const die = async () => (await failureOf(session.callTool("fake", "die", {}))).message;
    for (let n = 0; n < 3; n++) await die();
    await session.callTool("fake", "echo", {});
    // The answer was on the third new process, which the next call ends.
    for (let n = 0; n < 4; n++) expect(await die()).toContain("its process exited with code 1");
    const starts = server.starts().length;
    for (let n = 0; n < 2; n++)
      expect(await die()).toContain("it was connected again 3 times in a row without answering a call");
    expect(server.starts()).toHaveLength(starts);
    await session.reconnect("fake");
    expect(await die()).toContain("its process exited with code 1");
    for (let n = 0; n < 9; n++) {
      expect(await session.reconnect("fake")).toMatchObject({ state: "ready", toolCount: 2 });
    }
    expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
  });

  test("[S2-26] a call that was sent when it died arrives once, also after it is back", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": [{ exit: 1 }, { echo: true }] } });
    await using session = acpSession(home, { fake: server });
    expect((await failureOf(session.callTool("fake", "echo", { n: 1 }))).message).toContain("it was not repeated");
    await session.callTool("fake", "echo", { n: 2 });
    expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("[S2-31] a reconnect makes a new process with its tools", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("a"), tool("b")] });
    await using session = acpSession(home, { fake: server });
    await session.callTool("fake", "a", {});
    expect(await session.reconnect("fake")).toMatchObject({ state: "ready", toolCount: 2, pid: server.starts()[1] });
    expect(server.starts().filter(isAlive)).toHaveLength(1);
  });
});

describe("lifecycles", () => {
  afterEach(() => vi.useRealTimers());

  test("[S3-23] [S3-20] eager and keep-alive servers start with the session, of both transports; lazy ones with their first use", async () => {
    await using home = await temporaryHome();
    const words = ["lazy", "eager", "keep-alive", "lazy-keep-alive"];
    const processes = await Promise.all(words.map(() => fakeStdio(home)));
    const addresses = await Promise.all(words.map(() => fakeHttp()));
    const entries = words.flatMap((lifecycle, n) => [
      [`p-${lifecycle}`, stdio(processes[n] as FakeStdio, { lifecycle })],
      [`h-${lifecycle}`, { url: addresses[n]?.url, lifecycle, ...legacy }],
    ]);
    const session = mcpSession(home, Object.fromEntries(entries));
    expect(session.status("p-eager").state).toBe("starting");
    for (const name of ["p-eager", "p-keep-alive", "h-eager", "h-keep-alive"]) {
      await until(name, () => session.status(name).toolCount);
    }
    expect(processes.map((server) => server.starts().length)).toEqual([0, 1, 1, 0]);
    expect(addresses.map((server) => server.params("initialize").length)).toEqual([0, 1, 1, 0]);
    for (const name of ["p-lazy", "h-lazy", "p-lazy-keep-alive"]) await session.callTool(name, "echo", {});
    expect(processes.map((server) => server.starts().length)).toEqual([1, 1, 1, 1]);
    await session.close();
    await Promise.all(addresses.map((server) => server.close()));
  });

  test("an eager server that does not start costs nobody anything, and says why", async () => {
    await using home = await temporaryHome();
    const [bad, good] = [await fakeStdio(home, { startup: { exit: 1 } }), await fakeStdio(home)];
    await using session = mcpSession(home, { bad: stdio(bad, { lifecycle: "eager" }), good: stdio(good) });
    await stateIs(session, "bad", "failed");
    expect(session.status("bad").error).toContain("failed to initialize: its process exited with code 1");
    expect((await session.callTool("good", "echo", {})).isError).toBe(false);
  });

  test("a session that is closed while eager servers start leaves none of them", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { initialize: { silent: true } } });
    const session = mcpSession(home, { fake: stdio(server, { lifecycle: "keep-alive" }) });
    await server.until("initialize");
    await session.close();
    expect(server.starts().filter(isAlive)).toEqual([]);
    expect(session.status("fake").state).toBe("stopped");
  });

  test.each(["keep-alive", "lazy-keep-alive"])(
    "[S3-08] [S3-21] [S3-20] a %s server is asked for its tools every 30 s and stays",
    async (lifecycle) => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      await using home = await temporaryHome();
      const server = await fakeStdio(home);
      const remote = await fakeHttp();
      const session = mcpSession(home, {
        fake: stdio(server, { lifecycle, idleTimeout: 0.001 }),
        web: { url: remote.url, lifecycle, ...legacy },
        lazy: stdio(server),
      });
      for (const name of ["fake", "web", "lazy"]) await session.callTool(name, "echo", {});
      const lists = () => [server.params("tools/list").length, remote.params("tools/list").length];
      if (lifecycle === "keep-alive") await until("both lists", () => Math.min(...lists()) || undefined);
      const before = lists();
      vi.advanceTimersByTime(29_000);
      await sleep(100);
      expect(lists()).toEqual(before);
      for (const round of [1, 2]) {
        vi.advanceTimersByTime(round === 1 ? 1_000 : 30_000);
        await until(
          "a check of both",
          () => lists().every((count, n) => count === (before[n] ?? 0) + round) || undefined,
        );
        await sleep(100);
      }
      expect(lists()).toEqual(before.map((count) => count + 2));
      expect([session.status("fake").state, session.status("web").state]).toEqual(["ready", "ready"]);
      await session.close();
      await remote.close();
    },
  );

  test("[S3-09] [S3-10] a process that does not answer a check is ended, and the next call has a new one", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    await using session = mcpSession(home, { fake: stdio(server, { lifecycle: "keep-alive" }) }, { healthCheckMs: 50 });
    await session.callTool("fake", "echo", {});
    const [pid = 0] = server.starts();
    process.kill(pid, "SIGKILL");
    await stateIs(session, "fake", "stopped");
    await sleep(300);
    expect(server.starts()).toHaveLength(1);
    expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
    expect(server.starts()).toHaveLength(2);
  });

  test("[S3-09] [S3-10] [S3-13] [S3-14] an HTTP server that fails a check is disconnected, and found again by its old session id", async () => {
    await using home = await temporaryHome();
    const server = await fakeHttp({
      getStream: true,
      on: { "tools/list": [{ usual: true }, { destroy: true }, { usual: true }] },
    });
    const session = mcpSession(
      home,
      { web: { url: server.url, lifecycle: "keep-alive", ...legacy } },
      { healthCheckMs: 100 },
    );
    await stateIs(session, "web", "stopped");
    expect(session.status("web").error).toContain("the connection was lost");
    const seen = server.received().length;
    await sleep(400);
    expect(server.received().length).toBe(seen);
    const listed = await session.listTools("web");
    expect(listed).toHaveLength(1);
    expect(server.params("initialize")).toHaveLength(1);
    const requests = server
      .received()
      .filter(({ message, httpMethod }) => httpMethod === "GET" || message?.method !== "initialize");
    expect(new Set(requests.map(({ headers }) => headers?.["mcp-session-id"])).size).toBe(1);
    expect(requests.filter(({ httpMethod }) => httpMethod === "GET")).toHaveLength(2);
    await session.close();
    await server.close();
  });

  test("[S3-15] a server that has forgotten the session of a failed check gets a new one, and the call goes on", async () => {
    await using home = await temporaryHome();
    const server = await fakeHttp({ on: { "tools/list": [{ usual: true }, { destroy: true }, { usual: true }] } });
    const session = mcpSession(
      home,
      { web: { url: server.url, lifecycle: "keep-alive", ...legacy } },
      { healthCheckMs: 100 },
    );
    await stateIs(session, "web", "stopped");
    server.forgetSessions();
    expect((await session.callTool("web", "echo", {})).isError).toBe(false);
    expect(server.params("initialize")).toHaveLength(2);
    const ids = server
      .received()
      .flatMap(({ headers, message }) => (message?.method === "tools/call" ? [headers?.["mcp-session-id"]] : []));
    expect(new Set(ids).size).toBe(ids.length);
    await session.close();
    await server.close();
  });

  test("[E188] a server whose list takes too long but answers a ping is left alone", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await using home = await temporaryHome();
    const server = await fakeStdio(home, {
      on: { "tools/list": [{ usual: true }, { silent: true }], ping: { error: { code: -32601, message: "none" } } },
    });
    await using session = mcpSession(home, {
      fake: stdio(server, { lifecycle: "keep-alive", requestTimeoutMs: 1_500 }),
    });
    await until("the list", () => session.status("fake").toolCount);
    // A check is left out while one is under way.
    const check = (what: string, isDone: () => boolean) =>
      until(what, () => {
        vi.advanceTimersByTime(30_000);
        return isDone() || undefined;
      });
    await check("the first check", () => server.methods().filter((method) => method === "ping").length === 1);
    await check("the second", () => server.methods().filter((method) => method === "ping").length > 1);
    expect([session.status("fake").state, server.params("tools/list").length]).toEqual(["ready", 2]);
  });

  test("no check is made while a call runs", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { delayMs: 500, text: "done" } } });
    await using session = mcpSession(
      home,
      { fake: stdio(server, { lifecycle: "lazy-keep-alive" }) },
      { healthCheckMs: 40 },
    );
    await session.callTool("fake", "echo", {});
    const methods = server.methods();
    const at = methods.indexOf("tools/call");
    expect(methods.slice(at)).toEqual(["tools/call"]);
    await server.until("tools/list", 2);
  });

  test("that is ended again and again because nobody uses it is not left alone for that", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, {});
    await using session = mcpSession(home, { fake: stdio(server, { idleTimeoutMs: 1 }) });
    for (let use = 0; use < 12; use++) {
      expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
      await stateIs(session, "fake", "stopped");
    }
    expect(server.starts()).toHaveLength(12);
  });

  test("a server nobody uses is ended after its time, never under a call, and comes back", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { delayMs: 700, text: "done" } } });
    await using session = mcpSession(home, { fake: stdio(server, { idleTimeoutMs: 200 }) });
    const [one, two] = await Promise.all([session.callTool("fake", "echo", {}), session.callTool("fake", "echo", {})]);
    expect([one.isError, two.isError, server.starts().length]).toEqual([false, false, 1]);
    await stateIs(session, "fake", "stopped");
    expect(session.status("fake").error).toBe("it was not used for 0.2 s");
    await until("its end", () => !isAlive(server.starts()[0] ?? 0) || undefined);
    expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
    expect(server.starts()).toHaveLength(2);
  });

  test("a server that dies under each check is not started again by that", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/list": [{ usual: true }, { exit: 0 }] } });
    await using session = mcpSession(home, { fake: stdio(server, { lifecycle: "keep-alive" }) }, { healthCheckMs: 30 });
    await stateIs(session, "fake", "stopped");
    await sleep(300);
    expect(server.starts()).toHaveLength(1);
  });
});

describe("a passing fault in an HTTP session", () => {
  test.each<[string, object]>([
    ["the network breaks", { destroy: true }],
    ["a gateway loses it", { status: 502, body: "" }],
    ["the server is busy", { status: 503, body: "" }],
  ])("costs a call two more tries at most, in the same session: %s", async (_name, step) => {
    await using home = await temporaryHome();
    const server = await fakeHttp({ on: { "tools/call": [step, step, { echo: true }] } });
    const session = mcpSession(home, { web: { url: server.url, ...legacy } });
    expect((await session.callTool("web", "echo", { a: 1 })).content).toEqual([{ type: "text", text: '{"a":1}' }]);
    const calls = server.received().filter(({ message }) => message?.method === "tools/call");
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ headers }) => headers?.["mcp-session-id"])).size).toBe(1);
    const [first = 0, second = 0, third = 0] = calls.map(({ at }) => at);
    // Timers are never early; the clock that is read here counts whole milliseconds.
    expect(second - first).toBeGreaterThanOrEqual(199);
    expect(third - second).toBeGreaterThanOrEqual(399);
    await session.close();
    await server.close();
  });

  test("ends in a new session when the old one dies meanwhile", async () => {
    await using home = await temporaryHome();
    const forgotten = { status: 404, error: { code: -32001, message: "Session not found" } };
    const server = await fakeHttp({
      on: { "tools/call": [{ destroy: true }, { destroy: true }, forgotten, { echo: true }] },
    });
    const session = mcpSession(home, { web: { url: server.url, ...legacy } });
    expect((await session.callTool("web", "echo", {})).isError).toBe(false);
    expect([callsOf(server), server.params("initialize").length]).toEqual([4, 2]);
    const ids = server
      .received()
      .flatMap(({ headers, message }) => (message?.method === "tools/call" ? [headers?.["mcp-session-id"]] : []));
    expect([new Set(ids.slice(0, 3)).size, ids[3] === ids[0]]).toEqual([1, false]);
    await session.close();
    await server.close();
  });

  test("without a session is no such thing: the call may have run and is not repeated", async () => {
    await using home = await temporaryHome();
    const server = await fakeHttp({ sessions: false, on: { "tools/call": { destroy: true } } });
    const session = mcpSession(home, { web: { url: server.url, ...legacy } });
    expect((await failureOf(session.callTool("web", "echo", {}))).message).toContain("it was not repeated");
    expect(callsOf(server)).toBe(1);
    await session.close();
    await server.close();
  });

  test("a server that asks for more patience than there is, is not asked again", async () => {
    await using home = await temporaryHome();
    const server = await fakeHttp({
      on: { "tools/call": { status: 429, headers: { "retry-after": "60" }, body: "" } },
    });
    const session = mcpSession(home, { web: { url: server.url, ...legacy } });
    expect((await failureOf(session.callTool("web", "echo", {}))).message).toContain("HTTP 429");
    expect(callsOf(server)).toBe(1);
    await session.close();
    await server.close();
  });

  test("neither a cancellation nor the end of the session waits for the next try", async () => {
    await using home = await temporaryHome();
    const server = await fakeHttp({ on: { "tools/call": { status: 429, headers: { "retry-after": "9" }, body: "" } } });
    const session = mcpSession(home, { web: { url: server.url, ...legacy } });
    const abort = new AbortController();
    const [cancelled, closed] = [
      failureOf(session.callTool("web", "echo", {}, { signal: abort.signal })),
      failureOf(session.callTool("web", "echo", {})),
    ];
    await server.until("tools/call", 2);
    abort.abort();
    expect((await cancelled).category).toBe("cancelled");
    await session.close();
    expect((await closed).message).toContain("the session is closed");
    expect(callsOf(server)).toBe(2);
    await server.close();
  });
});

test("a failed call says of what kind the failure is", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({
    tools: ["login", "slow", "reset", "gone", "wrong", "broken"].map((name) => tool(name)),
    on: {
      "tools/call login": { status: 401, body: "" },
      "tools/call slow": { silent: true },
      "tools/call reset": { destroy: true },
      "tools/call wrong": { error: { code: -32602, message: "Invalid arguments: a must be a number" } },
      "tools/call broken": { error: { code: -32603, message: "boom" } },
    },
  });
  const session = mcpSession(home, { web: { url: server.url, ...legacy } });
  const kindOf = async (name: string) =>
    (await failureOf(session.callTool("web", name, {}, { timeoutMs: 400 }))).category;
  const kinds: Record<string, string> = {};
  for (const name of ["unknown", "slow", "reset", "wrong", "broken", "login"]) kinds[name] = await kindOf(name);
  expect(kinds).toEqual({
    unknown: "unknown-tool",
    slow: "timeout",
    reset: "connection",
    wrong: "validation",
    broken: "other",
    login: "needs-auth",
  });
  await session.close();
  await server.close();
});

test("what is said after several tries fits how the last one ended", async () => {
  await using home = await temporaryHome();
  const busy = { status: 503, body: "" };
  const web = await fakeHttp({
    tools: ["busy", "late", "both"].map((name) => tool(name)),
    on: {
      "tools/call busy": [{ destroy: true }, busy],
      "tools/call late": [{ destroy: true }, { silent: true }],
      "tools/call both": [busy, { destroy: true }],
    },
  });
  const session = mcpSession(home, { web: { url: web.url, ...legacy, maxAttempts: 2 } });
  const told = async (name: string) => (await failureOf(session.callTool("web", name, {}, { timeoutMs: 400 }))).message;
  expect(await told("busy")).toMatch(/HTTP 503\. The request may have run \(tried 2 times\)\. Check its entry in /);
  expect(await told("late")).toMatch(/timed out.*\. The request may have run up to 2 times \(tried 2 times\)$/);
  expect(await told("both")).toMatch(
    /connection was lost.*\. The request may have run \(tried 2 times\)\. Check its entry in /,
  );
  await session.close();
  await web.close();
});

test("an HTTP server whose checks fail again and again is found again each time it is used", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({
    getStream: true,
    on: { "tools/list": { destroy: true }, GET: { silent: true, sse: true } },
  });
  const session = mcpSession(
    home,
    { web: { url: server.url, lifecycle: "lazy-keep-alive", ...legacy } },
    { healthCheckMs: 60 },
  );
  for (let round = 0; round < 4; round++) {
    const calls = await Promise.all([1, 2, 3].map(() => session.callTool("web", "echo", {})));
    expect(calls.every(({ isError }) => !isError)).toBe(true);
    await stateIs(session, "web", "stopped");
  }
  expect(server.params("initialize")).toHaveLength(1);
  await session.close();
  await server.close();
});
