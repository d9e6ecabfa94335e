import { describe, expect, test } from "vitest";
import { ToolNames } from "../../src/catalog/names.ts";
import { readAcpServers } from "../../src/config/acp.ts";
import { type ConfigPlace, loadConfig } from "../../src/config/load.ts";
import type { LoadedConfig } from "../../src/config/record.ts";
import type { PermissionAnswer, PermissionRequest } from "../../src/permission/port.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import { directTools } from "../../src/tools/direct.ts";
import { runMcpCall } from "../../src/tools/split.ts";
import { type FakeStdio, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp } from "./open.ts";

const TOOLS = [
  tool("plain"),
  tool("reads", { annotations: { readOnlyHint: true } }),
  tool("calm", { annotations: { destructiveHint: false, openWorldHint: false } }),
  tool("half", { annotations: { destructiveHint: false } }),
  tool("text", { annotations: { readOnlyHint: "true" } }),
];
const SCRIPT: ServerScript = { tools: TOOLS, on: { "tools/call": { echo: true } } };

/** A person who answers as they are told, and what they were asked. */
function person(...answers: (PermissionAnswer | Promise<PermissionAnswer>)[]) {
  const asked: PermissionRequest[] = [];
  const signals: AbortSignal[] = [];
  return {
    asked,
    signals,
    ask: async (request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> => {
      asked.push(request);
      signals.push(signal);
      return (await answers[Math.min(asked.length, answers.length) - 1]) ?? "deny";
    },
  };
}

type Asked = ReturnType<typeof person> | undefined;

interface Opened extends AsyncDisposable {
  readonly server: FakeStdio;
  readonly session: McpSession;
  load(): LoadedConfig;
}

/** One server `files` in the place of an origin, and `permission` in the person's mcp.json. */
async function open(
  home: Home,
  permission: unknown,
  asked?: Asked,
  { origin = "mcpjson", entry = {} }: { origin?: "mcpjson" | "settings" | "acp"; entry?: object } = {},
): Promise<Opened> {
  const server = await fakeStdio(home, SCRIPT);
  const { name, ...rest } = server.entry("files", entry);
  home.write({
    settings: origin === "settings" ? { mcpServers: [{ name, ...rest }] } : {},
    files: { "agent/mcp.json": { permission, mcpServers: origin === "mcpjson" ? { [name]: rest } : {} } },
  });
  const place: ConfigPlace = { env: home.env(), home: home.home, cwd: home.cwd };
  const load = (): LoadedConfig => {
    const config = loadConfig(place);
    if (origin !== "acp") return config;
    const handed = readAcpServers([{ name, command: server.command, args: [...server.args], env: [] }]);
    return { ...config, servers: handed.servers };
  };
  const session = createSession(load(), { env: home.env(), cwd: home.cwd }, asked ? { permission: asked } : {});
  return { server, session, load, [Symbol.asyncDispose]: () => session.close() };
}

const calls = (server: FakeStdio) => server.params("tools/call").map((params) => params?.name);

/** A person who has not decided yet. */
function undecided() {
  let decide = (_: PermissionAnswer) => {};
  const answer = new Promise<PermissionAnswer>((resolve) => {
    decide = resolve;
  });
  return { answer, decide };
}

const firstAsked = (asked: { readonly asked: readonly PermissionRequest[] }) =>
  until("a question", () => asked.asked[0]);

/** The category of the refusal, or what the call gave. */
async function outcome(session: McpSession, name: string, args?: object): Promise<unknown> {
  try {
    const { isError } = await session.callTool("files", name, args as Record<string, unknown> | undefined);
    return isError ? "error" : "ran";
  } catch (error) {
    return (error as { category?: string }).category;
  }
}

describe("an editor's server", () => {
  test("[S2-42] each call is asked about in mode ask, and a refusal keeps it from the server", async () => {
    await using home = await temporaryHome();
    const asked = person("once", "deny");
    await using opened = await open(home, "ask", asked, { origin: "acp" });
    const { session, server } = opened;
    const [direct] = directTools(session, "files", await session.listTools("files"), new ToolNames());
    const first = await direct?.run({ args: { a: 1 }, id: "call-1" });
    const second = await direct?.run({ args: { a: 2 }, id: "call-2" });
    expect([first?.isError, second?.isError, second?.details.category]).toEqual([false, true, "denied"]);
    expect(JSON.stringify(second?.content)).toContain("User denied permission");
    expect(calls(server)).toEqual(["plain"]);
    expect(asked.asked.map(({ server, kind, name, args, callId }) => [server, kind, name, args, callId])).toEqual([
      ["files", "tool", "plain", { a: 1 }, "call-1"],
      ["files", "tool", "plain", { a: 2 }, "call-2"],
    ]);
  });

  test("[S2-43] a tool with a harmless hint is not asked about; [S2-44] its word is taken, and what is no hint is none", async () => {
    await using home = await temporaryHome();
    const asked = person("deny");
    await using opened = await open(home, "ask", asked, { origin: "acp" });
    const results: unknown[] = [];
    for (const { name } of TOOLS) results.push([name, await outcome(opened.session, name)]);
    expect(results).toEqual([
      ["plain", "denied"],
      ["reads", "ran"],
      ["calm", "ran"],
      ["half", "denied"],
      ["text", "denied"],
    ]);
    expect(asked.asked.map(({ name }) => name)).toEqual(["plain", "half", "text"]);
  });
});

test("[S1-34] a call by `mcp` is asked about in mode ask, whatever the tool says of itself, and not in write or yolo", async () => {
  for (const [mode, times] of [
    ["ask", 2],
    ["write", 0],
    ["yolo", 0],
    [undefined, 0],
  ] as const) {
    await using home = await temporaryHome();
    const asked = person("once");
    await using opened = await open(home, mode === undefined ? {} : { mode }, asked, { origin: "settings" });
    for (const name of ["plain", "reads"]) {
      expect((await mcp(opened.session, { action: "call", server: "files", tool: name })).isError).toBe(false);
    }
    expect([mode, asked.asked.length]).toEqual([mode, times]);
  }
});

test("asked first and started then, where what the tool says does not matter; nothing runs that is refused", async () => {
  await using home = await temporaryHome();
  await using opened = await open(home, { mode: "ask" }, person("deny"), { origin: "settings" });
  expect(await outcome(opened.session, "plain")).toBe("denied");
  expect(opened.server.starts()).toEqual([]);
});

test("every way to call a tool is refused where nobody can be asked, with the reason and what to do", async () => {
  await using home = await temporaryHome();
  await using opened = await open(home, "ask");
  const { session, server } = opened;
  const [direct] = directTools(session, "files", await session.listTools("files"), new ToolNames());
  const answers = [
    await mcp(session, { action: "call", server: "files", tool: "plain" }),
    await runMcpCall(session, { args: { selector: "files.plain" } }),
    await direct?.run({ args: {} }),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({ isError: true, details: { category: "denied" } });
    expect(JSON.stringify(answer?.content)).toContain("nobody can be asked here");
    expect(JSON.stringify(answer?.content)).toMatch(/mode `ask` .*mcp\.json:\d+/);
    expect(JSON.stringify(answer?.content)).toContain("Do not try it again");
  }
  expect(calls(server)).toEqual([]);
  expect(await outcome(session, "reads")).toBe("ran");
});

test("a host that fails to ask has not allowed anything", async () => {
  await using home = await temporaryHome();
  const broken = { ...person(), ask: () => Promise.reject(new Error("no screen")) };
  await using opened = await open(home, "ask", broken);
  expect(await outcome(opened.session, "plain")).toBe("denied");
  expect(await outcome(opened.session, "plain")).toBe("denied");
});

test.each([undefined, "yes", true, {}])("what is no answer (%s) allows nothing", async (answer) => {
  await using home = await temporaryHome();
  await using opened = await open(home, "ask", person(answer as PermissionAnswer));
  expect(await outcome(opened.session, "plain")).toBe("denied");
  expect(calls(opened.server)).toEqual([]);
});

test("a host that leaves a question open though nobody waits for it does not hold up the next one", async () => {
  await using home = await temporaryHome();
  const asked = person(new Promise<PermissionAnswer>(() => {}), "once");
  await using opened = await open(home, "ask", asked);
  const abort = new AbortController();
  const first = opened.session.callTool("files", "plain", {}, { signal: abort.signal });
  await firstAsked(asked);
  abort.abort();
  await expect(first).rejects.toMatchObject({ category: "cancelled" });
  expect(await outcome(opened.session, "half")).toBe("ran");
});

test("mode plan lets only through what says it reads, of servers whose word counts", async () => {
  await using home = await temporaryHome();
  {
    await using opened = await open(home, { mode: "plan", allow: ["files"] }, person("once"));
    expect(await outcome(opened.session, "plain")).toBe("denied");
    expect(await outcome(opened.session, "calm")).toBe("denied");
    expect(await outcome(opened.session, "reads")).toBe("ran");
    expect(calls(opened.server)).toEqual(["reads"]);
  }
  await using distrusted = await open(home, { mode: "plan" }, person("once"), { entry: { trustHints: false } });
  await expect(distrusted.session.callTool("files", "reads", {})).rejects.toThrow("is not trusted");
  expect(distrusted.server.starts()).toEqual([]);
});

test("rules decide by server and tool in every mode", async () => {
  await using home = await temporaryHome();
  const asked = person("deny");
  const rules = { allow: ["files.pl*"], ask: ["*.reads"], deny: ["files.calm"] };
  for (const mode of ["yolo", "ask"]) {
    await using opened = await open(home, { mode, ...rules }, asked);
    expect(await outcome(opened.session, "plain")).toBe("ran");
    expect(await outcome(opened.session, "reads")).toBe("denied");
    await expect(opened.session.callTool("files", "calm", {})).rejects.toThrow(
      /tool `calm` may not be used: the rule "files.calm" of `permission.deny` in .*mcp\.json:\d+ forbids it/,
    );
  }
  expect(asked.asked.map(({ name }) => name)).toEqual(["reads", "reads"]);
});

describe("an answer", () => {
  test("holds this time, for the tool, or for the server, as it was given", async () => {
    for (const [answer, expected] of [
      ["once", ["plain", "plain", "half"]],
      ["thing", ["plain", "half"]],
      ["server", ["plain"]],
    ] as const) {
      await using home = await temporaryHome();
      const asked = person(answer);
      await using opened = await open(home, "ask", asked);
      for (const name of ["plain", "plain", "half"]) expect(await outcome(opened.session, name)).toBe("ran");
      expect(asked.asked.map(({ name }) => name)).toEqual(expected);
    }
  });

  test("always holds in the next session too, until the server is another", async () => {
    await using home = await temporaryHome();
    {
      await using opened = await open(home, "ask", person("always"));
      expect(await outcome(opened.session, "plain")).toBe("ran");
      await using next = createSession(opened.load(), { env: home.env(), cwd: home.cwd });
      expect([await outcome(next, "plain"), await outcome(next, "half")]).toEqual(["ran", "denied"]);
    }
    await using other = await open(home, "ask");
    expect(await outcome(other.session, "plain")).toBe("denied");
  });

  test("that cannot be kept holds for the session, and that is said", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, SCRIPT);
    const { name, ...entry } = server.entry("files");
    home.write({
      files: {
        "agent/mcp.json": { permission: "ask", mcpServers: { [name]: entry } },
        "agent/mcp-permissions.json": "{",
      },
    });
    const notices: string[] = [];
    const config = loadConfig({ env: home.env(), home: home.home });
    await using session = createSession(
      config,
      { env: home.env(), cwd: home.cwd },
      { permission: { ...person("always"), tell: (text) => void notices.push(text) } },
    );
    expect([await outcome(session, "plain"), await outcome(session, "plain")]).toEqual(["ran", "ran"]);
    expect(notices).toEqual([
      expect.stringMatching(/^What was allowed holds for this session alone\. .*cannot be used/),
    ]);
  });

  test("for a server does not count for another program of its name", async () => {
    await using home = await temporaryHome();
    const asked = person("server", "deny");
    await using opened = await open(home, "ask", asked);
    expect(await outcome(opened.session, "plain")).toBe("ran");
    const other = await fakeStdio(home, SCRIPT);
    const { name, ...entry } = other.entry("files");
    home.write({ files: { "agent/mcp.json": { permission: "ask", mcpServers: { [name]: entry } } } });
    await opened.session.update(opened.load());
    expect(await outcome(opened.session, "plain")).toBe("denied");
    expect(calls(other)).toEqual([]);
  });

  test("given to a question about a server that was replaced meanwhile is none for the new one", async () => {
    await using home = await temporaryHome();
    const { answer, decide } = undecided();
    const asked = person(answer, "deny");
    await using opened = await open(home, "ask", asked);
    const call = outcome(opened.session, "plain");
    await firstAsked(asked);
    const other = await fakeStdio(home, SCRIPT);
    const { name, ...entry } = other.entry("files");
    home.write({ files: { "agent/mcp.json": { permission: "ask", mcpServers: { [name]: entry } } } });
    await opened.session.update(opened.load());
    decide("server");
    expect(await call).toBe("denied");
    expect([calls(opened.server), calls(other), asked.asked.length]).toEqual([[], [], 2]);
  });
});

describe("questions", () => {
  test("are asked one after the other, and the same one once", async () => {
    await using home = await temporaryHome();
    const { answer, decide } = undecided();
    const asked = person(answer, "once", "once");
    await using opened = await open(home, "ask", asked);
    const { session } = opened;
    const all = [
      outcome(session, "plain", { a: 1 }),
      outcome(session, "plain", { a: 1 }),
      outcome(session, "plain", { a: 2 }),
      outcome(session, "half"),
    ];
    await firstAsked(asked);
    await session.listTools("files");
    expect(asked.asked.length).toBe(1);
    decide("once");
    expect(await Promise.all(all)).toEqual(["ran", "ran", "ran", "ran"]);
    expect(asked.asked.map(({ name, args }) => [name, args])).toEqual([
      ["plain", { a: 1 }],
      ["plain", { a: 2 }],
      ["half", undefined],
    ]);
  });

  test("that an earlier answer answers are not asked", async () => {
    await using home = await temporaryHome();
    const asked = person("server");
    await using opened = await open(home, "ask", asked);
    const results = ["plain", "half", "text"].map((name) => outcome(opened.session, name));
    expect(await Promise.all(results)).toEqual(["ran", "ran", "ran"]);
    expect(asked.asked.length).toBe(1);
  });

  test("end with the call that needs them, and not before all of those that do", async () => {
    await using home = await temporaryHome();
    const asked = person(new Promise<PermissionAnswer>(() => {}));
    await using opened = await open(home, "ask", asked);
    const [a, b] = [new AbortController(), new AbortController()];
    const call = (signal: AbortSignal) =>
      opened.session.callTool("files", "plain", {}, { signal }).catch((error: { category: string }) => error.category);
    const results = [call(a.signal), call(b.signal)];
    await firstAsked(asked);
    await opened.session.listTools("files");
    a.abort();
    expect(await results[0]).toBe("cancelled");
    expect(asked.signals[0]?.aborted).toBe(false);
    b.abort();
    expect(await results[1]).toBe("cancelled");
    expect(asked.signals[0]?.aborted).toBe(true);
    expect(calls(opened.server)).toEqual([]);
  });

  test("that waited behind one that was given up are not asked when nobody waits any more", async () => {
    await using home = await temporaryHome();
    const { answer, decide } = undecided();
    const asked = person(answer, "once");
    await using opened = await open(home, "ask", asked);
    const abort = new AbortController();
    const first = outcome(opened.session, "plain");
    await firstAsked(asked);
    const second = opened.session.callTool("files", "half", {}, { signal: abort.signal });
    await opened.session.listTools("files");
    abort.abort();
    await expect(second).rejects.toMatchObject({ category: "cancelled" });
    decide("once");
    expect(await first).toBe("ran");
    expect(asked.asked.length).toBe(1);
  });

  test("about tools that are not there, or left out, are not asked", async () => {
    await using home = await temporaryHome();
    const asked = person("once");
    await using opened = await open(home, "ask", asked, { entry: { excludeTools: ["half"] } });
    expect(await outcome(opened.session, "half")).toBe("unknown-tool");
    expect(await outcome(opened.session, "nothing")).toBe("unknown-tool");
    expect(asked.asked).toEqual([]);
  });
});

test("what the file says counts from then on, also for a question that is open", async () => {
  await using home = await temporaryHome();
  const { answer, decide } = undecided();
  const asked = person(answer);
  await using opened = await open(home, "yolo", asked);
  const { session, server, load } = opened;
  const { name, ...entry } = server.entry("files");
  const write = (permission: unknown) => {
    home.write({ files: { "agent/mcp.json": { permission, mcpServers: { [name]: entry } } } });
    return session.update(load());
  };
  expect(await outcome(session, "plain")).toBe("ran");
  await write("ask");
  expect(session.permission.mode).toBe("ask");
  const open1 = outcome(session, "plain");
  await firstAsked(asked);
  await write({ mode: "ask", deny: ["files"] });
  decide("once");
  expect(await open1).toBe("denied");
  await write("yolo");
  expect(await outcome(session, "plain")).toBe("ran");
  expect(server.starts().length).toBe(1);
});

test("hints of a project's server do not count, whatever its file says", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, SCRIPT);
  const { name, ...entry } = server.entry("files");
  home.write({
    files: {
      "agent/mcp.json": { permission: "ask" },
      "project/.mcp.json": { mcpServers: { [name]: { ...entry, trustHints: true } } },
    },
  });
  const place = { env: home.env(), home: home.home, cwd: home.cwd };
  const { allowProject } = await import("../../src/config/trust-decisions.ts");
  for (const file of loadConfig(place).untrusted ?? []) allowProject(place, file);
  const config = loadConfig(place);
  expect(config.problems).toMatchObject([{ message: expect.stringContaining("your own files alone") }]);
  await using session = createSession(config, place);
  expect(await outcome(session, "reads")).toBe("denied");
});

describe("resources and prompts", () => {
  const OFFERS: ServerScript = {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    on: {
      "resources/read": { result: { contents: [{ uri: "note://1", text: "one" }] } },
      "prompts/get": { result: { messages: [] } },
    },
  };

  async function use(permission: unknown, origin: "mcp" | "settings", asked?: Asked) {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, OFFERS);
    const { name, ...entry } = server.entry("files");
    home.write({
      settings: origin === "settings" ? { mcpServers: [{ name, ...entry }] } : {},
      files: { "agent/mcp.json": { permission, mcpServers: origin === "mcp" ? { [name]: entry } : {} } },
    });
    const config = loadConfig({ env: home.env(), home: home.home });
    const place = { env: home.env(), cwd: home.cwd };
    await using session = createSession(config, place, asked ? { permission: asked } : {});
    const results = await Promise.allSettled([
      session.readResource("files", "note://1"),
      session.getPrompt("files", "greet", { who: "me" }),
    ]);
    const sent = server.methods().filter((method) => ["resources/read", "prompts/get"].includes(method));
    const outcomes = results.map((each) => (each.status === "fulfilled" ? "ran" : each.reason.category));
    expect(sent.length).toBe(outcomes.filter((each) => each === "ran").length);
    return outcomes;
  }

  test("are read by nature: mode plan lets them through where the server is trusted, and mode ask does not ask", async () => {
    expect(await use("plan", "mcp")).toEqual(["ran", "ran"]);
    expect(await use("ask", "mcp")).toEqual(["ran", "ran"]);
    expect(await use("plan", "settings")).toEqual(["denied", "denied"]);
    expect(await use("ask", "settings")).toEqual(["denied", "denied"]);
  });

  test("are asked about, allowed and denied like tools, together or by name", async () => {
    const asked = person("once", "deny");
    expect(await use("ask", "settings", asked)).toEqual(["ran", "denied"]);
    expect(asked.asked.map(({ kind, name, args }) => [kind, name, args])).toEqual([
      ["resource", "note://1", undefined],
      ["prompt", "greet", { who: "me" }],
    ]);
    expect(await use({ deny: ["files"] }, "mcp")).toEqual(["denied", "denied"]);
    expect(await use({ deny: ["files.resource:note://*"] }, "mcp")).toEqual(["denied", "ran"]);
    expect(await use({ deny: ["*.prompt:*"] }, "mcp")).toEqual(["ran", "denied"]);
    expect(await use({ deny: ["files.note://1", "files.greet"] }, "mcp")).toEqual(["ran", "ran"]);
  });
});
