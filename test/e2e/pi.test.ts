import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { finalText, toolRuns } from "../ground/pi-events.ts";
import { isAlive } from "../ground/processes.ts";
import { rpcPi } from "../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../ground/run-pi.ts";
import type { Turn } from "../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../ground/scripted-model.ts";
import { everythingOverHttp, REAL } from "./real-servers.ts";

const RECORDER = fileURLToPath(new URL("./record-imports.mjs", import.meta.url));

const callMcp = (args: object): Turn => ({ call: { tool: "mcp", args } });
const quoteResult: Turn = { say: (request) => `The tool says: ${toolResults(request).at(-1)}` };

/** pi 1.x warns at each start that its own client makes way; nothing else may be said. */
const wordsOfItsOwn = (stderr: string) =>
  stderr.split("\n").filter((line) => line.trim() !== "" && !line.includes("built-in extension"));

// A temporary home fails its test when a process is left or a file lies outside it.
describe.each(HOSTS)("$name", (host) => {
  test("[S1-01] [S1-06] [S1-35] the model's call reaches server-everything over stdio, and the result is in its next request", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "list_servers" }),
      callMcp({ action: "list_tools", server: "everything" }),
      callMcp({ action: "call", server: "everything", tool: "get-sum", args: { a: 40, b: 2.5 } }),
      quoteResult,
    ]);
    await using home = await temporaryHome({
      model,
      settings: { mcpServers: [REAL.everything("everything", "stdio")] },
    });
    const run = await runPi(host, home, { mode: "json", prompt: "What is 40 + 2.5?", extension: EXTENSION });
    expect([run.code, run.hung, wordsOfItsOwn(run.stderr)]).toEqual([0, false, []]);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("mcp");
    expect(model.requests[0]?.system).toMatch(/mcp: .*review the arguments before you call a tool/);
    const [servers, tools, sum] = toolResults(model.requests[3]);
    expect(servers).toMatch(/^MCP servers \(1 configured\):\n- everything \(stdio: /);
    expect(tools).toContain("- echo — Echoes back the input string");
    expect(sum).toBe("MCP server `everything` tool `get-sum`:\nThe sum of 40 and 2.5 is 42.5.\n");
    expect(finalText(run.events)).toContain("The sum of 40 and 2.5 is 42.5.");
  });

  test("[S1-06] and over Streamable HTTP", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "call", server: "web", tool: "echo", args: '{"message":"héllo over http"}' }),
      quoteResult,
    ]);
    await using home = await temporaryHome({ model });
    const everything = await everythingOverHttp(home);
    try {
      home.write({ mcp: { mcpServers: { web: { url: everything.url, surface: "gateway" } } } });
      const run = await runPi(host, home, { mode: "print", prompt: "Say it", extension: EXTENSION });
      expect([run.code, run.hung, wordsOfItsOwn(run.stderr)]).toEqual([0, false, []]);
      expect(toolResults(model.requests[1])).toEqual(["MCP server `web` tool `echo`:\nEcho: héllo over http\n"]);
      expect(run.stdout).toContain("Echo: héllo over http");
    } finally {
      await everything.stop();
    }
  });

  test("a server of an mcp.json is reached by mcp_load and mcp_call, and needs no `mcp`", async () => {
    await using model = await scriptedModel([
      { call: { tool: "mcp_load", args: { server: "fake" } } },
      { call: { tool: "mcp_call", args: { selector: "fake.echo", args: { a: 1 } } } },
      { call: { tool: "mcp_call", args: { selector: "fake.nope" } } },
      quoteResult,
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home);
    const entry = { command: server.command, args: server.args };
    home.write({ mcp: { mcpServers: { fake: entry } } });
    const run = await runPi(host, home, { mode: "json", prompt: "go", extension: EXTENSION });
    expect([run.code, wordsOfItsOwn(run.stderr)]).toEqual([0, []]);
    const own = model.requests[0]?.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp"));
    expect(own).toEqual(["mcp_load", "mcp_call"]);
    const [loaded, called, failed] = toolRuns(run.events);
    expect(loaded?.text).toMatch(/^## fake \(1 tool\)\n\n### fake\.echo/);
    expect([called?.text, called?.isError]).toEqual(['{"a":1}', false]);
    expect(failed).toMatchObject({ isError: true, details: { category: "unknown-tool" } });
  });

  test("[S1-37] nothing is started and nothing but the entry file is loaded before the first call, then the engine is", async () => {
    for (const turns of [[{ say: "hi" }], [callMcp({ action: "call", server: "fake", tool: "echo" }), quoteResult]]) {
      await using model = await scriptedModel(turns);
      await using home = await temporaryHome({ model });
      const server = await fakeStdio(home);
      home.write({ settings: { mcpServers: [server.entry("fake")] } });
      const record = home.path("imports");
      const env = { NODE_OPTIONS: `--import ${RECORDER}`, RECORD_IMPORTS: record };
      const run = await runPi(host, home, { mode: "print", prompt: "hi", extension: EXTENSION, env });
      expect([run.code, run.hung]).toEqual([0, false]);
      expect(existsSync(record)).toBe(true);
      const loaded = readFileSync(record, "utf8").trim().split("\n");
      const files = loaded.filter((url) => !url.startsWith("node:")).map((url) => url.slice(url.lastIndexOf("/") + 1));
      if (turns.length === 1) {
        expect(new Set(files)).toEqual(new Set(["pi.js"]));
        expect(server.starts()).toEqual([]);
      } else {
        expect(files).toContain("pi-engine.js");
        expect(server.starts()).toHaveLength(1);
      }
    }
  });

  test("`pi -p` ends by itself while a server that ignores its end is still warm", async () => {
    await using model = await scriptedModel([callMcp({ action: "call", server: "fake", tool: "echo" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, {
      startup: { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true },
    });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([run.code, run.hung, run.stdout.trim()]).toEqual([0, false, "ok"]);
    expect([...server.starts(), ...server.grandchildren()].filter(isAlive)).toEqual([]);
  });

  test("an unused client costs no tool, and a healthy one says nothing", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const run = await runPi(host, home, { mode: "print", prompt: "hi", extension: EXTENSION });
    expect([run.code, wordsOfItsOwn(run.stderr)]).toEqual([0, []]);
    expect(model.requests[0]?.tools.map(({ name }) => name)).not.toContain("mcp");
  });

  test("[S3-23] an eager server starts with the session, a lazy one does not, and both are gone afterwards", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const [eager, lazy] = [await fakeStdio(home), await fakeStdio(home)];
    home.write({ settings: { mcpServers: [eager.entry("eager", { lifecycle: "eager" }), lazy.entry("lazy")] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await eager.until("tools/list");
    await pi.prompt("hi");
    expect([eager.starts().length, lazy.starts().length]).toEqual([1, 0]);
  });

  test("failures are flagged as errors and tell the model what to do", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "call", server: "fake", tool: "echo" }),
      callMcp({ action: "call", server: "nope", tool: "echo" }),
      { say: "so be it" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const run = await runPi(host, home, { mode: "json", prompt: "go", extension: EXTENSION });
    const [dead, missing] = toolRuns(run.events);
    expect(dead).toMatchObject({ isError: true, details: { category: "connection" } });
    expect(dead?.text).toMatch(
      /^MCP server `fake` failed to initialize: its process exited with code 1.*\n--- server stderr ---\nFATAL: missing API_KEY$/,
    );
    expect(missing).toMatchObject({ isError: true, details: { category: "unknown-server" } });
    expect(run.code).toBe(0);
  });

  test("[S1-39] an abort in the middle of a call cancels it at the server, which lives and answers the next", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "call", server: "fake", tool: "echo" }),
      callMcp({ action: "call", server: "fake", tool: "echo" }),
      quoteResult,
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { on: { "tools/call": [{ silent: true }, { text: "still here" }] } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.send({ type: "prompt", message: "go" });
    const call = await server.until("tools/call");
    const from = pi.events.length;
    await pi.send({ type: "abort" });
    const cancelled = await server.until("notifications/cancelled");
    expect(cancelled.message?.params?.requestId).toBe(call.message?.id);
    await pi.waitFor((event) => event.type === "agent_end", from);
    await pi.prompt("again");
    expect(toolResults(model.requests.at(-1)).at(-1)).toContain("still here");
    expect(server.starts()).toHaveLength(1);
  });

  test("[E202] progress is shown while the call runs", async () => {
    await using model = await scriptedModel([callMcp({ action: "call", server: "fake", tool: "echo" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const progress = [{ progress: 1, total: 2, message: "half" }, 2];
    const server = await fakeStdio(home, { on: { "tools/call": { progress, everyMs: 100, text: "done" } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const run = await runPi(host, home, { mode: "json", prompt: "go", extension: EXTENSION });
    const updates = run.events.filter(({ type }) => type === "tool_execution_update");
    expect(JSON.stringify(updates.map(({ partialResult }) => partialResult))).toMatch(/"1\/2 half".*"text":"2"/);
    expect(toolRuns(run.events)[0]?.text).toContain("done");
  });

  test("[S2-28] [S2-29] [S2-30] /mcp shows each server with state and number of tools", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "call", server: "warm", tool: "echo" }),
      callMcp({ action: "call", server: "broken", tool: "echo" }),
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const warm = await fakeStdio(home, { tools: [tool("a"), tool("b"), tool("echo")] });
    const idle = await fakeStdio(home);
    const broken = await fakeStdio(home, { startup: { exit: 2 } });
    home.write({ settings: { mcpServers: [warm.entry("warm"), idle.entry("idle"), broken.entry("broken")] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    const show = async (command: string) => {
      await pi.send({ type: "prompt", message: command });
      return String(pi.ui.at(-1)?.message);
    };
    await pi.prompt("go");
    expect(await show("/mcp")).toBe(
      [
        "broken: failed",
        "    MCP server `broken` failed to initialize: its process exited with code 2",
        "idle: not started, starts on first use",
        "warm: connected, 3 tools",
      ].join("\n"),
    );
    const [pid] = warm.starts();
    expect(await show("/mcp reconnect warm")).toBe("warm: connected, 3 tools");
    expect(warm.starts()).toHaveLength(2);
    expect(isAlive(pid ?? 0)).toBe(false);
    expect(await show("/mcp reconnect nope")).toMatch(/^no MCP server configured with name `nope`; configured: /);
    expect(await show("/mcp fly")).toMatch(/^Usage: \/mcp, \/mcp reconnect\|/);
    expect((await pi.send({ type: "get_commands" })).data).toMatchObject({
      commands: expect.arrayContaining([expect.objectContaining({ name: "mcp" })]),
    });
  });

  test("[S2-33] a signal that ends pi ends its servers, also those that would stay", async () => {
    await using model = await scriptedModel([callMcp({ action: "call", server: "fake", tool: "echo" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { startup: { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const pi = await rpcPi(host, home, { extension: EXTENSION });
      await pi.prompt("go");
      await pi.kill(signal);
    }
    expect([...server.starts(), ...server.grandchildren()].filter(isAlive)).toEqual([]);
  });

  test("[S2-17] [S2-18] direct tools carry the server's prefix, so a server's `read` leaves the host's own alone", async () => {
    await using model = await scriptedModel([
      {
        call: [
          { tool: "mcp__my_files__read", args: { path: "x" } },
          { tool: "read", args: { path: "note.txt" } },
        ],
      },
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model, files: { "project/note.txt": "from the host's own tool" } });
    const server = await fakeStdio(home, {
      startup: { delayMs: 200 },
      tools: [tool("read"), tool("write")],
      on: { "tools/call": { text: "from the server" } },
    });
    home.write({ settings: { mcpServers: [server.entry("my files", { exposure: "direct" })] } });
    const run = await runPi(host, home, { mode: "json", prompt: "go", extension: EXTENSION });
    expect(run.code).toBe(0);
    const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(names.filter((name) => name.startsWith("mcp__"))).toEqual(["mcp__my_files__read", "mcp__my_files__write"]);
    const results = toolResults(model.requests[1]);
    expect(results.map((text) => text.trim())).toEqual(["from the server", "from the host's own tool"]);
  });
});

// What is decided before any host is asked is the same on all of them.
describe.each(HOSTS.slice(0, 1))("$name", (host) => {
  test("a bad entry is reported with its place, and the others work", async () => {
    await using model = await scriptedModel([callMcp({ action: "call", server: "good", tool: "echo" }), quoteResult]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home);
    home.write({ settings: { mcpServers: [{ name: "bad", command: 5 }, server.entry("good")] } });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/settings\.json:5:\d+: error: .*"bad".*`?command`?/);
    expect(toolResults(model.requests[1])[0]).toContain("MCP server `good` tool `echo`:");
  });

  test("[S3-47] directTools offers the named tools directly, and the others stay behind mcp_call", async () => {
    await using model = await scriptedModel([
      {
        call: [
          { tool: "mcp__fake__read_all", args: { path: "x" } },
          { tool: "mcp_call", args: { selector: "fake.write" } },
          { tool: "mcp_call", args: { selector: "fake.delete" } },
        ],
      },
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const tools = ["read", "read_all", "write", "delete"].map((name) => tool(name));
    const server = await fakeStdio(home, { tools, on: { "tools/call": { text: "done" } } });
    const entry = {
      command: server.command,
      args: server.args,
      directTools: ["read*", "delete"],
      excludeTools: ["delete"],
    };
    home.write({ mcp: { mcpServers: { fake: entry, other: { command: "x", directTools: false } } } });
    const run = await runPi(host, home, { mode: "json", prompt: "go", extension: EXTENSION });
    expect(run.code).toBe(0);
    const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(names.filter((name) => name.startsWith("mcp"))).toEqual([
      "mcp_load",
      "mcp_call",
      "mcp__fake__read",
      "mcp__fake__read_all",
    ]);
    const [direct, gateway, excluded] = toolResults(model.requests[1]);
    expect(direct?.trim()).toBe("done");
    expect(gateway).toBe("done");
    expect(excluded).toContain("its tool `delete` is left out by the configuration");
    expect(server.params("tools/call").map((params) => params?.name)).toEqual(["read_all", "write"]);
  });

  test("MCP_DIRECT_TOOLS says which tools a subagent is offered directly", async () => {
    for (const [value, expected] of [
      ["fake/read", ["mcp", "mcp__fake__read"]],
      ["__none__", ["mcp"]],
    ] as const) {
      await using model = await scriptedModel([{ say: "ok" }]);
      await using home = await temporaryHome({ model, env: { MCP_DIRECT_TOOLS: value } });
      const server = await fakeStdio(home, { tools: [tool("read"), tool("write")] });
      home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
      expect((await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION })).code).toBe(0);
      const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
      expect(names.filter((name) => name.startsWith("mcp"))).toEqual(expected);
      expect(server.starts()).toHaveLength(value === "__none__" ? 0 : 1);
    }
  });

  test("[S2-19] a name over 64 characters is cut, and a call by it reaches the right tool", async () => {
    const long = ["one", "two"].map((end) => `${"long_".repeat(20)}${end}`);
    let names: string[] = [];
    await using model = await scriptedModel([
      ({ tools }) => {
        names = tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__"));
        return { call: names.map((tool) => ({ tool, args: {} })) };
      },
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: long.map((name) => tool(name)) });
    home.write({ settings: { mcpServers: [server.entry("s", { exposure: "direct" })] } });
    expect((await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION })).code).toBe(0);
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^mcp__s__long_.*_[0-9a-f]{8}$/);
    expect(names.every((name) => name.length <= 64)).toBe(true);
    expect(
      server
        .params("tools/call")
        .map((params) => params?.name)
        .sort(),
    ).toEqual(long);
  });
});
