import { expect, test } from "vitest";
import type { PiApi, PiTool } from "../../src/hosts/pi/api.ts";
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
  const ctx = {
    cwd: home.cwd,
    hasUI: true,
    ui: { notify: (text: string) => void told.push(text), confirm: async () => false },
  };
  return { host: new PiHost(pi), ctx, tools, told };
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
