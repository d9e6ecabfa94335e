import { expect, test } from "vitest";
import type { PiApi, PiCommand, PiCommandContext, PiCompletion, PiContent, PiTool } from "../../src/hosts/pi/api.ts";
import { PiHost } from "../../src/hosts/pi/host.ts";
import { fakeStdio, type ServerScript } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { sessionOf } from "../session/open.ts";

const COMMAND = "mcp__guide__plan";
const RESOURCE_TOOLS = ["list_mcp_resource_templates", "list_mcp_resources", "read_mcp_resource"];

const GUIDE: ServerScript = {
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  on: {
    "prompts/list": { result: { prompts: [{ name: "plan", arguments: [{ name: "city", required: true }] }] } },
    "prompts/get": { result: { messages: [{ role: "user", content: { type: "text", text: "Plan it." } }] } },
    "completion/complete": { result: { completion: { values: ["Rome"] } } },
    "resources/list": { result: { resources: [{ uri: "note://1", name: "one" }] } },
  },
};

type Command = PiCommand<PiCompletion[] | null | Promise<PiCompletion[] | null>>;

/** The host with a pi that only takes notes. */
function hostIn(home: Home, input: (title: string) => string | undefined = () => undefined) {
  const commands = new Map<string, Command>();
  const active = new Set<string>();
  const tools = new Map<string, PiTool>();
  const sent: PiContent[][] = [];
  const told: string[] = [];
  const providers: unknown[] = [];
  const pi = {
    registerCommand: (name: string, command: Command) => void commands.set(name, command),
    registerTool: (tool: PiTool) => {
      active.add(tool.name);
      tools.set(tool.name, tool);
    },
    getActiveTools: () => [...active],
    getAllTools: () => [...tools.values()],
    setActiveTools: (names: string[]) => {
      active.clear();
      for (const name of names) active.add(name);
    },
    sendUserMessage: (content: PiContent[]) => void sent.push(content),
    on() {},
  } as unknown as PiApi;
  const ui = {
    notify: (text: string) => void told.push(text),
    select: () => Promise.resolve(undefined),
    input: (title: string) => Promise.resolve(input(title)),
    addAutocompleteProvider: (provider: unknown) => void providers.push(provider),
  };
  const ctx: PiCommandContext = { cwd: home.cwd, hasUI: true, ui, isIdle: () => true } as never;
  const host = new PiHost(pi);
  const resourceTools = () => [...active].filter((name) => RESOURCE_TOOLS.includes(name)).sort();
  const run = (args: string, name = COMMAND) => commands.get(name)?.handler(args, ctx);
  return { host, ctx, commands, tools, sent, told, providers, resourceTools, run };
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

async function know(home: Home): Promise<void> {
  const session = sessionOf(home);
  await session.listPrompts("guide");
  await session.close();
}

test("what servers were found to offer is there as soon as the session begins, without any of them", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, GUIDE);
  home.write({ settings: { mcpServers: [server.entry("guide")] } });
  await know(home);
  await withEnv(home.env(), async () => {
    const { host, ctx, commands, resourceTools, providers } = hostIn(home);
    host.begin(ctx);
    expect([...commands.keys()]).toEqual([COMMAND]);
    expect(resourceTools()).toEqual(RESOURCE_TOOLS);
    expect(providers).toHaveLength(1);
    await host.end();
  });
  expect(server.starts()).toHaveLength(1);
});

test("with a server that goes, its tools for resources go, and its commands say so; with it they come back", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, GUIDE);
  const configured = { settings: { mcpServers: [server.entry("guide")] } };
  home.write(configured);
  await know(home);
  await withEnv(home.env(), async () => {
    const { host, ctx, told, sent, resourceTools, run } = hostIn(home);
    host.begin(ctx);
    home.write({ settings: { mcpServers: [] } });
    host.refresh();
    expect(resourceTools()).toEqual([]);
    await run("Rome");
    expect(told.at(-1)).toBe('MCP server "guide" has no prompt "plan" any more.');
    home.write({ settings: { mcpServers: [server.entry("guide", { exposeResources: false })] } });
    host.refresh();
    expect(resourceTools()).toEqual([]);
    home.write(configured);
    host.refresh();
    expect(resourceTools()).toEqual(RESOURCE_TOOLS);
    await run("Rome");
    expect(sent).toEqual([[{ type: "text", text: "Plan it." }]]);
    await host.end();
  });
});

test("what a prompt needs is asked for, and without an answer nothing is sent", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    ...GUIDE,
    on: { ...GUIDE.on, "prompts/get": [{ error: { code: -32602, message: "no\u001b[31m" } }, { result: {} }] },
  });
  home.write({ settings: { mcpServers: [server.entry("guide")] } });
  await know(home);
  await withEnv(home.env(), async () => {
    const asked: string[] = [];
    const { host, ctx, told, sent, run } = hostIn(home, (title) => (asked.push(title) > 1 ? "Rome" : undefined));
    host.begin(ctx);
    await run("");
    expect([told.at(-1), asked]).toEqual(["Nothing was sent.", ["plan: city"]]);
    expect(server.starts()).toHaveLength(1);
    await run("");
    expect(told.at(-1)).toBe("MCP server `guide`: it answered with error -32602: no");
    await run("Rome");
    expect(told.at(-1)).toBe('The prompt of MCP server "guide" came without a message.');
    expect(sent).toEqual([]);
    await host.end();
  });
});

test("completion starts a server that can be started, and asks none again that has failed", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { ...GUIDE, startup: [{}, {}, { exit: 1 }] });
  home.write({ settings: { mcpServers: [server.entry("guide", { maxAttempts: 1 })] } });
  await know(home);
  const complete = async (times: number) => {
    const { host, ctx, commands } = hostIn(home);
    host.begin(ctx);
    const found: (string[] | undefined)[] = [];
    const starts: number[] = [];
    for (let each = 0; each < times; each++) {
      const items = await commands.get(COMMAND)?.getArgumentCompletions("R");
      found.push(items?.map(({ value }) => value));
      starts.push(server.starts().length);
    }
    await host.end();
    expect(new Set(starts).size).toBe(1);
    return found;
  };
  await withEnv(home.env(), async () => {
    expect(await complete(1)).toEqual([["Rome"]]);
    expect(await complete(3)).toEqual([undefined, undefined, undefined]);
  });
});

test("tools for resources join with the next prompt, or as soon as a result names them", async () => {
  await using home = await temporaryHome();
  const link = { result: { content: [{ type: "resource_link", uri: "note://1", name: "one" }] } };
  const server = await fakeStdio(home, { ...GUIDE, on: { ...GUIDE.on, "tools/call": [{ echo: true }, link] } });
  home.write({ settings: { mcpServers: [server.entry("guide")] } });
  await withEnv(home.env(), async () => {
    const { host, ctx, tools, resourceTools } = hostIn(home);
    host.begin(ctx);
    const call = async () => {
      const args = { action: "call", server: "guide", tool: "echo" };
      const result = await tools.get("mcp")?.execute("1", args, undefined, undefined);
      host.markError({ toolName: "mcp", details: result?.details });
    };
    await call();
    expect(resourceTools()).toEqual([]);
    await call();
    expect(resourceTools()).toEqual(RESOURCE_TOOLS);
    await host.end();
  });
});

test("[S2-60] resources and prompts of an editor's server are offered; what pi does not do for it is not declared, and refused", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    ...GUIDE,
    on: { ...GUIDE.on, "tools/call": { ask: { method: "sampling/createMessage", params: {} }, text: "done" } },
  });
  const { command, args } = server;
  const handed = JSON.stringify([{ name: "guide", command, args, env: [] }]);
  await withEnv({ ...home.env(), PI_ACP_MCP_SERVERS: handed }, async () => {
    const { host, ctx, commands, resourceTools, providers } = hostIn(home);
    host.begin(ctx);
    await until("the command", () => commands.get(COMMAND));
    expect(resourceTools()).toEqual([]);
    await host.awaitDirectTools();
    expect(resourceTools()).toEqual(RESOURCE_TOOLS);
    // pi collects its commands once more.
    expect(providers.length).toBeGreaterThan(1);
    const [, session] = await host.engine();
    await session.callTool("guide", "echo", {});
    expect(server.params("initialize")[0]?.capabilities).not.toHaveProperty("sampling");
    const refused = server.received().find(({ message }) => message?.error !== undefined)?.message;
    expect(refused).toMatchObject({ error: { code: -32601 } });
    await host.end();
  });
});
