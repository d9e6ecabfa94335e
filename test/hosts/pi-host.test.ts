import { expect, test } from "vitest";
import type { PiApi, PiTool } from "../../src/hosts/pi/api.ts";
import { mcpCommand } from "../../src/hosts/pi/command.ts";
import { PiHost } from "../../src/hosts/pi/host.ts";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";

/** The host with a pi that only takes notes. */
function hostIn(home: Awaited<ReturnType<typeof temporaryHome>>) {
  const tools: PiTool[] = [];
  const told: string[] = [];
  const pi = {
    registerTool: (each: PiTool) => void tools.push(each),
    registerCommand() {},
    on() {},
  } as unknown as PiApi;
  const asked: string[] = [];
  const select = async (title: string) => (asked.push(title) > 0 ? "Allow" : undefined);
  const ctx = { cwd: home.cwd, hasUI: true, ui: { notify: (text: string) => void told.push(text), select } };
  return { pi, host: new PiHost(pi), ctx, tools, told, asked };
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
      .getArgumentCompletions("")
      ?.map(({ value }) => value);
    await host.end();
    expect(values).toEqual(["trust", "reconnect", "reconnect own"]);
    expect(own.starts()).toEqual([]);
  });
});

test("what is allowed while a tool is at work leaves that tool alone and joins later", async () => {
  await using home = await temporaryHome();
  const own = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  const theirs = await fakeStdio(home);
  const { name, ...entry } = theirs.entry("theirs");
  home.write({
    settings: { mcpServers: [own.entry("own")] },
    files: { "project/.mcp.json": { mcpServers: { [name]: entry } } },
  });
  await withEnv(home.env(), async () => {
    const { host, ctx, tools, told } = hostIn(home);
    host.begin(ctx);
    const abort = new AbortController();
    const call = tools[0]?.execute("1", { action: "call", server: "own", tool: "echo" }, abort.signal, undefined);
    await until("the call", () => own.params("tools/call")[0]);
    await mcpCommand(host).handler("trust", ctx);
    expect(told.at(-1)).toBe("Allowed: 1 server. A tool is at work, so they can be used from the next session on.");
    expect(host.serverNames).toEqual(["own"]);
    abort.abort();
    expect((await call)?.isError).toBe(true);
    expect(await host.reload()).toBe(true);
    expect(host.serverNames).toEqual(["own", "theirs"]);
    const again = await tools[0]?.execute(
      "2",
      { action: "call", server: "theirs", tool: "echo" },
      undefined,
      undefined,
    );
    expect(again?.isError).toBe(false);
    await host.end();
  });
  await until("the servers to end", () => ([...own.starts(), ...theirs.starts()].some(isAlive) ? undefined : true));
});

test("a server that another extension registers while a tool is at work leaves that tool alone and can be used after it", async () => {
  await using home = await temporaryHome();
  const own = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  home.write({ settings: { mcpServers: [own.entry("own")] } });
  await withEnv(home.env(), async () => {
    const registered: object[] = [];
    const { pi, ctx, tools } = hostIn(home);
    const host = new PiHost(Object.assign(pi, { getMcpServers: () => registered }));
    host.begin(ctx);
    const abort = new AbortController();
    const call = tools[0]?.execute("1", { action: "call", server: "own", tool: "echo" }, abort.signal, undefined);
    await until("the call", () => own.params("tools/call")[0]);
    registered.push({ name: "later", config: { command: "x" }, extensionPath: "/e.js" });
    await host.takeRegistered();
    expect(own.starts().every(isAlive)).toBe(true);
    abort.abort();
    expect((await call)?.isError).toBe(true);
    await until("the server", () => (host.serverNames.includes("later") ? true : undefined));
    registered.length = 0;
    await host.takeRegistered();
    expect(host.serverNames).toEqual(["own"]);
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
    expect(read?.description).toBe("d");
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
