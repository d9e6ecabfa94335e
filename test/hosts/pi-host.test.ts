import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { PiApi, PiTool } from "../../src/hosts/pi/api.ts";
import { mcpCommand } from "../../src/hosts/pi/command.ts";
import { PiHost } from "../../src/hosts/pi/host.ts";
import { type FakeStdio, fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";

/** The host with a pi that only takes notes. */
function hostIn(home: Awaited<ReturnType<typeof temporaryHome>>) {
  const tools: PiTool[] = [];
  const told: string[] = [];
  const active = new Set<string>();
  const pi = {
    // As both hosts have it: only a name that is new becomes active by itself.
    registerTool: (each: PiTool) => {
      if (!tools.some(({ name }) => name === each.name)) active.add(each.name);
      tools.push(each);
    },
    getActiveTools: () => [...active],
    getAllTools: () => tools,
    setActiveTools: (names: string[]) => {
      active.clear();
      for (const name of names) if (tools.some((each) => each.name === name)) active.add(name);
    },
    registerCommand() {},
    on() {},
  } as unknown as PiApi;
  const asked: string[] = [];
  const select = async (title: string) => (asked.push(title) > 0 ? "Allow" : undefined);
  const ui = { notify: (text: string) => void told.push(text), select, input: async () => undefined };
  const ctx = { cwd: home.cwd, hasUI: true, ui };
  const mcp = (args: object, signal?: AbortSignal) =>
    tools.findLast(({ name }) => name === "mcp")?.execute("1", args, signal, undefined);
  /** As the model calls a tool of a server of an mcp.json. */
  const call = (selector: string) =>
    tools.findLast(({ name }) => name === "mcp_call")?.execute("1", { selector }, undefined, undefined);
  return { pi, host: new PiHost(pi), ctx, tools, active, told, asked, mcp, call };
}

/** An entry of an `mcpServers` object. */
function entryOf(server: FakeStdio, more: object = {}): object {
  const { name: _, ...entry } = server.entry("", more);
  return entry;
}

async function withEnv<T>(env: Record<string, string>, run: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await run();
  } finally {
    for (const key of Object.keys(env)) if (before[key] === undefined) delete process.env[key];
    Object.assign(process.env, before);
  }
}

test("completion offers no name from a file that is not allowed", async () => {
  await using home = await temporaryHome();
  const own = await fakeStdio(home);
  home.write({
    settings: { mcpServers: [own.entry("own")] },
    files: { "project/.mcp.json": { mcpServers: { theirs: { command: "x" } } } },
  });
  await withEnv(home.env(), async () => {
    const { host, ctx } = hostIn(home);
    host.begin(ctx);
    const values = mcpCommand(host)
      .getArgumentCompletions("reconnect ")
      ?.map(({ value }) => value);
    await host.end();
    expect(values).toEqual(["reconnect own"]);
    expect(own.starts()).toEqual([]);
  });
});

test("files of results stay while the conversation goes on, after a reload or in a fork, and go with it otherwise", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { on: { "tools/call": { text: "x".repeat(400_000) } } });
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  const kept: string[] = [];
  await withEnv(home.env(), async () => {
    for (const reason of ["quit", "new", "resume", "reload", "fork"]) {
      const { host, ctx, mcp } = hostIn(home);
      host.begin(ctx);
      const result = await mcp({ action: "call", server: "fake", tool: "echo" });
      const [file = ""] = (result?.details as { files: string[] } | undefined)?.files ?? [];
      expect(existsSync(file)).toBe(true);
      await host.end(reason);
      if (existsSync(file)) kept.push(reason);
    }
    // Servers wait for a session after the last one.
    const last = hostIn(home);
    last.host.begin(last.ctx);
    await last.host.end("quit");
  });
  expect(kept).toEqual(["reload", "fork"]);
});

test("what is allowed while a tool is at work joins at once and leaves that tool alone", async () => {
  await using home = await temporaryHome();
  const own = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  const theirs = await fakeStdio(home);
  home.write({
    settings: { mcpServers: [own.entry("own")] },
    files: { "project/.mcp.json": { mcpServers: { theirs: entryOf(theirs) } } },
  });
  await withEnv(home.env(), async () => {
    const { host, ctx, told, mcp } = hostIn(home);
    host.begin(ctx);
    const abort = new AbortController();
    const call = mcp({ action: "call", server: "own", tool: "echo" }, abort.signal);
    await until("the call", () => own.params("tools/call")[0]);
    await mcpCommand(host).handler("trust", ctx);
    expect(told.at(-1)).toBe("Allowed: 1 server. They can be used now.");
    expect(host.serverNames).toEqual(["own", "theirs"]);
    expect((await mcp({ action: "call", server: "theirs", tool: "echo" }))?.isError).toBe(false);
    expect(own.starts().filter(isAlive)).toHaveLength(1);
    expect(own.methods()).not.toContain("notifications/cancelled");
    abort.abort();
    expect((await call)?.isError).toBe(true);
    expect(own.starts()).toHaveLength(1);
    await host.end();
  });
  await until("the servers to end", () => ([...own.starts(), ...theirs.starts()].some(isAlive) ? undefined : true));
});

test("the configuration is watched: a line says what has changed, new problems once, and the tools follow", async () => {
  await using home = await temporaryHome();
  const kept = await fakeStdio(home);
  const direct = await fakeStdio(home, { tools: [tool("one"), tool("two")] });
  await withEnv(home.env(), async () => {
    const { host, ctx, told, active, call, tools } = hostIn(home);
    host.begin(ctx);
    const said = (count: number) => until(`notice ${count}`, () => told[count - 1]);
    const seen = (...names: string[]) =>
      until(`tools ${names}`, () => (JSON.stringify([...active].sort()) === JSON.stringify(names) ? true : undefined));
    expect([...active]).toEqual([]);
    home.write({ mcp: { mcpServers: { kept: entryOf(kept) } } });
    expect(await said(1)).toBe("MCP configuration changed: added kept.");
    expect([...active]).toEqual(["mcp_load", "mcp_call"]);
    expect((await call("kept.echo"))?.isError).toBe(false);

    home.write({ mcp: { mcpServers: { kept: entryOf(kept), direct: entryOf(direct, { exposure: "direct" }) } } });
    expect(await said(2)).toBe("MCP configuration changed: added direct.");
    await seen("mcp__direct__one", "mcp__direct__two", "mcp_call", "mcp_load");

    home.write({ mcp: '{"mcpServers": {' });
    expect(await said(3)).toMatch(
      /^MCP configuration:\n.*mcp\.json:1:\d+: error: .* What it held before stays in use\.$/,
    );
    const fewer = { ...entryOf(kept), description: 5 };
    home.write({ mcp: { mcpServers: { kept: fewer, direct: entryOf(direct) } } });
    expect(await said(4)).toMatch(/^MCP configuration changed: replaced direct\.\n[^\n]*"description"[^\n]*$/);
    await seen("mcp_call", "mcp_load");
    const two = tools.find(({ name }) => name === "mcp__direct__two");
    expect((await two?.execute("1", {}, undefined, undefined))?.isError).toBe(false);

    home.write({ mcp: { mcpServers: { kept: fewer, direct: entryOf(direct, { exposure: "direct" }) } } });
    expect(await said(5)).toBe("MCP configuration changed: replaced direct.");
    await seen("mcp__direct__one", "mcp__direct__two", "mcp_call", "mcp_load");

    home.write({ mcp: { mcpServers: {} } });
    expect(await said(6)).toBe("MCP configuration changed: removed direct, kept.");
    await seen();
    const late = await two?.execute("2", {}, undefined, undefined);
    expect(late?.content).toEqual([
      { type: "text", text: "no MCP server configured with name `direct`; no MCP servers are configured" },
    ]);
    await until("the servers to end", () => ([...kept.starts(), ...direct.starts()].some(isAlive) ? undefined : true));
    expect(kept.starts()).toHaveLength(1);
    await host.end();
    expect(told).toHaveLength(6);
  });
});

test("a prompt and /mcp take up a change without waiting for the watch", async () => {
  await using home = await temporaryHome();
  const one = await fakeStdio(home);
  const two = await fakeStdio(home);
  await withEnv(home.env(), async () => {
    const { host, ctx, told, active } = hostIn(home);
    host.begin(ctx);
    home.write({ mcp: { mcpServers: { one: entryOf(one) } } });
    await mcpCommand(host).handler("", ctx);
    expect(told).toEqual(["MCP configuration changed: added one.", "one: not started, starts on first use"]);
    home.write({ settings: { mcpServers: [two.entry("two", { exposure: "direct" })] } });
    await host.awaitDirectTools();
    expect([...active]).toEqual(["mcp_load", "mcp_call", "mcp", "mcp__two__echo"]);
    await host.end();
    expect(told).toHaveLength(3);
  });
});

test("a session that has ended is told nothing any more, however its files change", async () => {
  await using home = await temporaryHome();
  await withEnv(home.env(), async () => {
    const first = hostIn(home);
    const second = hostIn(home);
    first.host.begin(first.ctx);
    await first.host.end();
    second.host.begin(second.ctx);
    second.host.begin(second.ctx);
    home.write({ mcp: { mcpServers: { a: { command: "x" } } } });
    await until("the notice", () => second.told[0]);
    await second.host.end();
    expect([first.told, second.told]).toEqual([[], ["MCP configuration changed: added a."]]);
  });
});

test("a server that another extension registers while a tool is at work can be used at once and leaves that tool alone", async () => {
  await using home = await temporaryHome();
  const own = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  const later = await fakeStdio(home);
  home.write({ settings: { mcpServers: [own.entry("own")] } });
  await withEnv(home.env(), async () => {
    const registered: object[] = [];
    const { pi, ctx, mcp } = hostIn(home);
    const host = new PiHost(Object.assign(pi, { getMcpServers: () => registered }));
    host.begin(ctx);
    const abort = new AbortController();
    const call = mcp({ action: "call", server: "own", tool: "echo" }, abort.signal);
    await until("the call", () => own.params("tools/call")[0]);
    registered.push({ name: "later", config: entryOf(later), extensionPath: "/e.js" });
    host.takeRegistered();
    expect(host.serverNames).toEqual(["later", "own"]);
    expect((await mcp({ action: "call", server: "later", tool: "echo" }))?.isError).toBe(false);
    expect(own.starts().every(isAlive)).toBe(true);
    abort.abort();
    expect((await call)?.isError).toBe(true);
    registered.length = 0;
    host.takeRegistered();
    expect(host.serverNames).toEqual(["own"]);
    await until("the server to end", () => (later.starts().some(isAlive) ? undefined : true));
    expect(own.starts()).toHaveLength(1);
    await host.end();
  });
});

test("what a dialog could not show whole is not asked there, and so not allowed", async () => {
  await using home = await temporaryHome();
  const args = ["-c", `${" ".repeat(20_000)}; evil`];
  home.write({ files: { "project/.mcp.json": { mcpServers: { theirs: { command: "sh", args } } } } });
  await withEnv(home.env(), async () => {
    const { host, ctx, told, asked } = hostIn(home);
    host.begin(ctx);
    await mcpCommand(host).handler("trust", ctx);
    await host.end();
    expect(asked).toEqual([]);
    expect(told.at(-1)).toMatch(/too long to be shown in a dialog: run `pi-mcp trust`.*\nNothing was allowed\./);
  });
});

test("a pi session that ends at once leaves no server of a direct tool behind", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
  await withEnv(home.env(), async () => {
    const { host, ctx } = hostIn(home);
    host.begin(ctx);
    await host.end();
    const started = await until("a start", () => server.starts()[0], 3_000).catch(() => undefined);
    const alive = started !== undefined && isAlive(started);
    if (started !== undefined && alive) process.kill(started, "SIGKILL");
    expect(alive).toBe(false);
  });
});

test("a context that went stale while the engine loaded rejects nothing that nobody waits for", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
  await withEnv(home.env(), async () => {
    const { host, ctx } = hostIn(home);
    let isStale = false;
    // As pi 1.x has it after a session was replaced: every getter throws.
    const going = new Proxy(ctx, {
      get(target, name) {
        if (isStale) throw new Error("This extension ctx is stale");
        return Reflect.get(target, name);
      },
    });
    host.begin(going);
    isStale = true;
    await expect(host.awaitDirectTools()).resolves.toBeUndefined();
    await host.end();
  });
});

test("direct tools: a schema's texts are cleaned as the description is", async () => {
  await using home = await temporaryHome();
  const hidden = String.fromCodePoint(0xe0041, 0xe0042);
  const inputSchema = { type: "object", properties: { a: { type: "string", description: `plain${hidden}` } } };
  const server = await fakeStdio(home, { tools: [tool("read", { description: `d${hidden}`, inputSchema })] });
  home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
  await withEnv(home.env(), async () => {
    const { host, ctx, tools } = hostIn(home);
    host.begin(ctx);
    await host.awaitDirectTools();
    await host.end();
    const read = tools.find(({ name }) => name === "mcp__fake__read");
    expect(read?.description).toBe("d[hidden text]");
    expect(JSON.stringify(read?.parameters)).not.toContain(hidden);
  });
});

test("direct tools: a failed start is told with what the server said on stderr", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } });
  home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
  await withEnv(home.env(), async () => {
    const { host, ctx, told } = hostIn(home);
    host.begin(ctx);
    await host.awaitDirectTools();
    await host.end();
    expect(told.join("\n")).toContain("FATAL: missing API_KEY");
  });
});

// Needs a PID 1 that does not reap at once, as in many containers; there is no event to await instead of a duration.

test("[E238] a person is told once when a server has other tools than were accepted", async () => {
  await using home = await temporaryHome();
  await withEnv(home.env(), async () => {
    const notices: string[] = [];
    for (const description of ["Reads.", "Reads, and tells nobody.", "Reads, and tells nobody."]) {
      const server = await fakeStdio(home, { tools: [tool("read", { description })] });
      home.write({ settings: { mcpServers: [server.entry("fake")] } });
      const { host, ctx, told, mcp } = hostIn(home);
      host.begin(ctx);
      await mcp({ action: "list_tools", server: "fake" });
      await host.end();
      notices.push(told.join("\n"));
    }
    expect(notices).toEqual(["", expect.stringContaining("has other tools than were accepted: changed read."), ""]);
  });
});
