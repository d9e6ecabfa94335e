import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { fakeHttp, fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

test("[S1-64] a server that refuses initialize is started once and fails at once", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: { initialize: { error: { code: -32603, message: "no" } } },
  });
  await using _ = session;
  expect((await mcp(session, call)).text).toContain("failed to initialize: it refused (-32603): no");
  expect(server.starts()).toHaveLength(1);
  expect(server.params("initialize")).toHaveLength(1);
});

test("[S1-46] a JSON-RPC error is an answer: the call is not made again", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: { "tools/call": { error: { code: -32603, message: "broken" } } },
  });
  await using _ = session;
  expect((await mcp(session, call)).text).toBe("MCP server `fake`: it answered with error -32603: broken");
  expect(server.params("tools/call")).toHaveLength(1);
});

test("[S1-47] a call over its time is not made again", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(
    home,
    { on: { "tools/call": { silent: true } } },
    { tool_timeout_sec: 0.3 },
  );
  await using _ = session;
  const { text, details } = await mcp(session, call);
  expect(text).toContain("`tools/call` timed out after 0.3s");
  expect(details).toMatchObject({ category: "timeout" });
  expect(server.params("tools/call")).toHaveLength(1);
});

test("[S1-52] a settings server is asked for 2024-11-05, or for what its entry says", async () => {
  await using home = await temporaryHome();
  const [usual, other] = [await fakeStdio(home), await fakeStdio(home)];
  home.write({
    settings: { mcpServers: [usual.entry("usual"), other.entry("other", { protocolVersion: "2025-06-18" })] },
  });
  await using session = sessionOf(home);
  await mcp(session, { ...call, server: "usual" });
  await mcp(session, { ...call, server: "other" });
  expect(usual.params("initialize")[0]?.protocolVersion).toBe("2024-11-05");
  expect(other.params("initialize")[0]?.protocolVersion).toBe("2025-06-18");
});

test("[S3-51] [S3-52] [S3-53] requestTimeoutMs is the limit of connecting, listing and calling", async () => {
  await using home = await temporaryHome();
  const silent = { silent: true as const };
  const [connecting, listing, calling] = await Promise.all([
    fakeHttp({ on: { initialize: silent } }),
    fakeHttp({ on: { "tools/list": silent } }),
    fakeHttp({ on: { "tools/call": silent } }),
  ]);
  const entry = (url: string) => ({ url, requestTimeoutMs: 1_500, protocolVersion: "2025-11-25" });
  home.write({
    mcp: { mcpServers: { c: entry(connecting.url), l: entry(listing.url), t: entry(calling.url) } },
  });
  const session = sessionOf(home);
  const texts = await Promise.all([
    mcp(session, { action: "list_tools", server: "c" }),
    mcp(session, { action: "list_tools", server: "l" }),
    mcp(session, { action: "call", server: "t", tool: "echo" }),
  ]);
  expect(texts.map(({ text }) => /`[^`]+` timed out after 1\.5s/.exec(text)?.[0])).toEqual([
    "`initialize` timed out after 1.5s",
    "`tools/list` timed out after 1.5s",
    "`tools/call` timed out after 1.5s",
  ]);
  await session.close();
  await Promise.all([connecting, listing, calling].map((server) => server.close()));
});

test("[E034] a server that dies comes back with the next call, as often as it dies, with its tools", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(
    home,
    {
      tools: [tool("ping"), tool("exit")],
      on: { "tools/call exit": { exit: 1 } },
    },
    { replay: "never" },
  );
  await using _ = session;
  const ping = { action: "call", server: "fake", tool: "ping" };
  const exit = { action: "call", server: "fake", tool: "exit" };
  for (let round = 0; round < 3; round++) {
    expect((await mcp(session, ping)).isError).toBe(false);
    expect((await mcp(session, exit)).isError).toBe(true);
  }
  expect((await mcp(session, ping)).isError).toBe(false);
  expect((await mcp(session, { action: "list_tools", server: "fake" })).text).toContain("- ping");
  expect(server.starts()).toHaveLength(4);
  expect(server.starts().filter(isAlive)).toHaveLength(1);
});

test("[E028] a server that dies each time is started ten times a minute and no more, until a person wants it", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { "tools/call": { exit: 0 } } }, { replay: "never" });
  await using _ = session;
  const answers: Awaited<ReturnType<typeof mcp>>[] = [];
  for (let i = 0; i < 13; i++) answers.push(await mcp(session, call));
  expect(server.starts()).toHaveLength(10);
  expect(answers.at(-1)?.text).toMatch(
    /^MCP server `fake`: it was started too often and is left alone for \d+ s; reconnecting it by hand works at once$/,
  );
  await session.reconnect("fake");
  expect(server.starts()).toHaveLength(11);
});

test("[E035] a server that is killed under a call fails it at once, with how it ended", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { "tools/call": { silent: true } } }, { replay: "never" });
  await using _ = session;
  const answer = mcp(session, call);
  await server.until("tools/call");
  process.kill(server.starts()[0] ?? 0, "SIGKILL");
  expect((await answer).text).toContain("its process was ended by SIGKILL");
});

test("[E047] a start that hangs does not hold up a reconnect", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { initialize: [{ silent: true }, { usual: true }] } });
  await using _ = session;
  const hanging = mcp(session, call);
  await server.until("initialize");
  expect(await session.reconnect("fake")).toMatchObject({ state: "ready", toolCount: 1 });
  expect((await hanging).isError).toBe(false);
  expect(server.starts().filter(isAlive)).toHaveLength(1);
});

test("[E044] a server that wants a login says so, and the others work", async () => {
  await using home = await temporaryHome();
  const closed = await fakeHttp({ on: { "*": { status: 401, headers: { "www-authenticate": "Bearer" } } } });
  const open = await fakeHttp();
  home.write({ mcp: { mcpServers: { closed: { url: closed.url }, open: { url: open.url } } } });
  const session = sessionOf(home);
  const [refused, fine] = await Promise.all([
    mcp(session, { ...call, server: "closed" }),
    mcp(session, { ...call, server: "open" }),
  ]);
  expect(refused.details).toMatchObject({ category: "needs-auth" });
  expect(refused.text).toContain('Server "closed" requires authentication. Run /mcp-auth login closed');
  expect(session.status("closed").state).toBe("needs-auth");
  expect(fine.isError).toBe(false);
  await session.close();
  await Promise.all([closed.close(), open.close()]);
});

test("[E058] [S3-15] a forgotten session is opened anew and the refused call made once more", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ tools: [tool("echo")] });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(false);
  server.forgetSessions();
  const answers = await Promise.all([mcp(session, call), mcp(session, call), mcp(session, call)]);
  expect(answers.map(({ isError }) => isError)).toEqual([false, false, false]);
  expect(server.params("initialize")).toHaveLength(2);
  await session.close();
  await server.close();
});

test("[S3-13] [S3-14] after a break in the network the old session id is sent, and a server that knows it goes on", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/call": [{ echo: true }, { destroy: true }, { echo: true }] } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url, replay: "never" } } } });
  const session = sessionOf(home);
  await mcp(session, call);
  expect((await mcp(session, call)).isError).toBe(true);
  expect((await mcp(session, call)).isError).toBe(false);
  const calls = server.received().filter(({ message }) => message?.method === "tools/call");
  expect(new Set(calls.map(({ headers }) => headers?.["mcp-session-id"])).size).toBe(1);
  expect(server.params("initialize")).toHaveLength(1);
  await session.close();
  await server.close();
});

test("[E061] a server that forgets each session costs one new session a call, then an error", async () => {
  await using home = await temporaryHome();
  const forgotten = { status: 404, error: { code: -32001, message: "Session not found" } };
  const server = await fakeHttp({ on: { "tools/call": forgotten } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  const { text, isError } = await mcp(session, call);
  expect(isError).toBe(true);
  expect(text).toContain("the server no longer knows the session");
  expect(server.params("tools/call")).toHaveLength(2);
  expect(server.params("initialize")).toHaveLength(2);
  await session.close();
  await server.close();
});

test("[E062] a reconnect ends the old session and takes the id of the new one", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp();
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  await mcp(session, call);
  await session.reconnect("fake");
  await mcp(session, call);
  const requests = server.received();
  const ended = requests.find(({ httpMethod }) => httpMethod === "DELETE")?.headers?.["mcp-session-id"];
  const calls = requests.filter(({ message }) => message?.method === "tools/call");
  expect(calls[0]?.headers?.["mcp-session-id"]).toBe(ended);
  expect(calls[1]?.headers?.["mcp-session-id"]).not.toBe(ended);
  await session.close();
  await server.close();
});

test("[E182] [E185] a changed list is read again; when that fails the last one stays", async () => {
  await using home = await temporaryHome();
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const listing = (...names: string[]) => ({ result: { tools: names.map((name) => tool(name)) } });
  const { server, session } = await sessionWith(home, {
    on: {
      "tools/list": [listing("echo"), listing("echo", "new"), { error: { code: -32000, message: "busy" } }],
      "tools/call": { notify: [changed], usual: true },
    },
  });
  await using _ = session;
  await session.listTools("fake");
  await mcp(session, call);
  await until("the new list", () => session.status("fake").toolCount === 2 || undefined);
  await mcp(session, call);
  await server.until("tools/list", 3);
  await until("the failure", () => session.status("fake").error);
  expect(session.status("fake")).toMatchObject({ state: "ready", toolCount: 2 });
});

test("[E187] a server whose tools cannot be listed is asked twice, and is connected without them", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: { "tools/list": { error: { code: -32603, message: "not yet" } } },
  });
  await using _ = session;
  const { text } = await mcp(session, { action: "list_tools", server: "fake" });
  expect(text).toBe("MCP server `fake`: it answered with error -32603: not yet");
  expect(server.params("tools/list")).toHaveLength(2);
  expect(session.status("fake")).toMatchObject({ state: "ready", error: text });
});

test("[E295] one slow first handshake is not held against the next call", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(
    home,
    { on: { initialize: [{ silent: true }, { usual: true }] } },
    { requestTimeoutMs: 1_500 },
  );
  await using _ = session;
  expect((await mcp(session, call)).text).toContain("`initialize` timed out after 1.5s");
  expect((await mcp(session, call)).isError).toBe(false);
});

test("two reconnects and a call at once end with one process", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  await mcp(session, call);
  await Promise.allSettled([
    session.reconnect("fake"),
    session.reconnect("fake"),
    session.callTool("fake", "echo", {}),
  ]);
  expect((await mcp(session, call)).isError).toBe(false);
  expect(server.starts().filter(isAlive)).toHaveLength(1);
});

test("a call that was aborted before it began starts no server", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await session.callTool("fake", "echo", {}, { signal: AbortSignal.abort() }).catch(() => {});
  const { state } = session.status("fake");
  await session.close();
  expect([state, server.starts()]).toEqual(["idle", []]);
});

test("a call during a reconnect waits for the old process to be gone: never two at once", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { startup: [{ ignoreEof: true, ignoreSigterm: true }, {}] });
  await using _ = session;
  await mcp(session, call);
  const [first] = server.starts();
  const reconnected = session.reconnect("fake");
  const called = mcp(session, call);
  await until("the second start", () => (server.starts().length === 2 ? true : undefined));
  const both = isAlive(first ?? 0);
  await Promise.all([reconnected, called]);
  expect(both).toBe(false);
});

test("a call after a server's death waits for what it left behind to be gone", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    startup: [{ spawnGrandchild: true }, {}],
    on: { "tools/call": [{ exit: 3 }, { echo: true }] },
  });
  await using _ = session;
  await mcp(session, call);
  await mcp(session, call);
  expect(server.grandchildren().filter(isAlive)).toEqual([]);
});

test("a reconnect while a server starts does not cancel the call that waits for it", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { initialize: [{ silent: true }, {}] } });
  await using _ = session;
  const called = mcp(session, call);
  await server.until("initialize");
  await session.reconnect("fake");
  const answer = await called;
  expect(answer.text).not.toContain("cancelled");
  expect(answer.isError).toBe(false);
});

test("closing the session while a server starts is told as that, not as a cancelled request", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { initialize: { silent: true } } });
  const called = mcp(session, call);
  await server.until("initialize");
  await session.close();
  expect((await called).text).toContain("the session is closed");
  expect(session.status("fake").state).toBe("stopped");
});

test("an argument nested too deeply to be written is refused and leaves no request behind", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  await mcp(session, call);
  const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  const answer = await mcp(session, { ...call, args: deep });
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain("nested too deeply");
  await session.callTool("fake", "echo", JSON.parse(deep), { timeoutMs: 100 }).catch(() => {});
  await mcp(session, call);
  expect(server.methods()).not.toContain("notifications/cancelled");
});

test("[E037] after a sleep a server is asked whether it lives, and replaced when it does not answer", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { ping: [{ usual: true }, { silent: true }] } });
  await using _ = session;
  await mcp(session, call);
  const sleep = (ms: number) => {
    const now = Date.now;
    return vi.spyOn(Date, "now").mockImplementation(() => now() + ms);
  };
  const first = sleep(60_000);
  expect((await mcp(session, call)).isError).toBe(false);
  expect([server.starts().length, server.params("ping").length]).toEqual([1, 1]);
  first.mockRestore();
  const second = sleep(240_000);
  expect((await mcp(session, call)).isError).toBe(false);
  second.mockRestore();
  expect([server.starts().length, server.params("ping").length]).toEqual([2, 2]);
});

test("[E296] the limit on starts does not depend on what the failure says", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { on: { initialize: { error: { code: -32000, message: "" } } } });
  await using _ = session;
  for (let i = 0; i < 13; i++) expect((await mcp(session, call)).isError).toBe(true);
  expect(server.starts()).toHaveLength(10);
});

test("[E260] a list that cannot be had is told with its reason, not shown as no tools", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/list": { status: 401 } } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  const { text, isError } = await mcp(session, { action: "list_tools", server: "fake" });
  expect([isError, text]).toEqual([
    true,
    expect.stringContaining('Server "fake" requires authentication. Run /mcp-auth login fake'),
  ]);
  expect(session.status("fake").state).toBe("needs-auth");
  await session.close();
  await server.close();
});

test("[E025] the container of a server ends with it, unless its entry says otherwise", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const log = home.path("docker.log");
  // A program that behaves like the engine's client: the container runs beside it, and is removed by its id.
  const docker = `#!/bin/sh
echo "$@" >> ${log}
case "$1" in
  run) for arg; do case "$arg" in --cidfile=*) echo abc123 > "\${arg#--cidfile=}";; esac; done
       exec ${server.command} ${server.args.join(" ")};;
esac
`;
  home.write({ files: { "~/bin/docker": docker } });
  const command = `${home.home}/bin/docker`;
  chmodSync(command, 0o755);
  const use = async (more: object) => {
    const args = ["run", "-i", "--rm", "some/image"];
    home.write({ settings: { mcpServers: [{ name: "fake", command, args, ...more }] } });
    await using session = sessionOf(home);
    expect((await mcp(session, call)).isError).toBe(false);
  };
  await use({});
  const [run, remove] = readFileSync(log, "utf8").trim().split("\n");
  expect(run).toMatch(/^run --cidfile=\S+ -i --rm some\/image$/);
  expect(remove).toBe("rm --force abc123");
  expect(readdirSync(home.tmp).filter((name) => name.endsWith(".cid"))).toEqual([]);
  await use({ stopContainer: false });
  expect(readFileSync(log, "utf8").trim().split("\n")[2]).toBe("run -i --rm some/image");
});
