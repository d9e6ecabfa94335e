import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeHttp, fakeStdio } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { toolRuns } from "../../ground/pi-events.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import type { ModelRequest, Turn } from "../../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";

const callMcp = (args: object): Turn => ({ call: { tool: "mcp", args } });
const callTool = (selector: string, args: object = {}): Turn => ({
  call: { tool: "mcp_call", args: { selector, args } },
});
const listServers: Turn = { call: { tool: "mcp_load", args: {} } };
const direct = (server: string, args: object = {}): Turn => ({ call: { tool: `mcp__${server}__echo`, args } });
const toolNames = (request: ModelRequest | undefined) => request?.tools.map(({ name }) => name) ?? [];

/** pi 1.x warns at each start that its own client makes way; nothing else may be said. */
const wordsOfItsOwn = (stderr: string) =>
  stderr.split("\n").filter((line) => line.trim() !== "" && !line.includes("built-in extension"));

describe.each(HOSTS)("$name", (host) => {
  test("[S2-02] [S2-05] [S2-07] [S2-08] an editor's servers are connected without any file, in every shape editors have for them", async () => {
    await using model = await scriptedModel([direct("array", { a: "1" }), direct("web", { a: "2" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const stdio = await fakeStdio(home);
    await using web = Object.assign(await fakeHttp(), { [Symbol.asyncDispose]: () => web.close() });
    const { command, args } = stdio;
    const asArray = [
      { name: "array", command, args, env: [{ name: "K", value: "v" }] },
      { type: "http", name: "web", url: web.url, headers: [{ name: "X-Key", value: "k" }] },
    ];
    const asZed = {
      context_servers: {
        array: { source: "custom", command, args, env: { K: "v" } },
        web: { url: web.url, headers: { "X-Key": "k" } },
      },
    };
    const text = host === HOSTS[0] ? JSON.stringify(asArray) : Buffer.from(JSON.stringify(asZed)).toString("base64url");
    const run = await runPi(host, home, {
      mode: "json",
      prompt: "go",
      extension: EXTENSION,
      env: { PI_ACP_MCP_SERVERS: text },
    });
    expect([run.code, run.hung, wordsOfItsOwn(run.stderr)]).toEqual([0, false, []]);
    expect(toolNames(model.requests[0])).toEqual(expect.arrayContaining(["mcp__array__echo", "mcp__web__echo"]));
    // Every tool is one of its own, so nothing more is needed but the way to sign in to a URL.
    expect(toolNames(model.requests[0]).filter((name) => /^mcp(?!__)/.test(name))).toEqual(["mcp_auth"]);
    expect(toolRuns(run.events).map(({ isError }) => isError)).toEqual([false, false]);
    expect(stdio.launches()[0]?.env).toMatchObject({ K: "v" });
    expect(web.received()[0]?.headers).toMatchObject({ "x-key": "k" });
  });

  test("[S2-03] without the extension nothing of what an editor hands over is started", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const { command, args, starts } = await fakeStdio(home);
    const env = { PI_ACP_MCP_SERVERS: JSON.stringify([{ name: "s", command, args, env: [] }]) };
    const run = await runPi(host, home, { mode: "print", prompt: "go", env });
    expect([run.code, run.stdout.trim(), starts()]).toEqual([0, "hi", []]);
    expect(toolNames(model.requests[0]).filter((name) => name.startsWith("mcp"))).toEqual([]);
  });

  test("--mcp-config adds servers for this run, and with --strict-mcp-config they are all there is", async () => {
    for (const isStrict of [false, true]) {
      await using model = await scriptedModel([listServers, { say: "ok" }]);
      await using home = await temporaryHome({ model });
      const own = await fakeStdio(home);
      home.write({
        settings: { mcpServers: [own.entry("own")] },
        files: { "project/extra.json": { mcpServers: { extra: { command: "x" } } } },
      });
      const flags = ["--mcp-config", "extra.json", '--mcp-config={"mcpServers": {"inline": {"command": "y"}}}'];
      const args = isStrict ? ["--strict-mcp-config", ...flags] : flags;
      const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION, args });
      expect([run.code, wordsOfItsOwn(run.stderr)]).toEqual([0, []]);
      const names = toolResults(model.requests[1])[0]?.match(/^- \S+/gm);
      expect(names).toEqual(isStrict ? ["- extra", "- inline"] : ["- extra", "- inline", "- own"]);
      expect(own.starts()).toEqual([]);
    }
  });

  test("beside another extension with the same flag pi starts as long as it is not given", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const other = home.path("other.mjs");
    writeFileSync(
      other,
      'export default (pi) => pi.registerFlag("mcp-config", { type: "string", description: "mine" });',
    );
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION, args: ["-e", other] });
    expect([run.code, run.stdout.trim()]).toEqual([0, "hi"]);
  });
});

describe("servers that other extensions register", () => {
  const [newest] = HOSTS;

  test("are connected with those of the files: at load, at the start of the session, and later; withdrawn ones are gone", async () => {
    const list = () => listServers;
    await using model = await scriptedModel([
      callTool("at-load.echo", { a: "1" }),
      list(),
      { say: "ok" },
      list(),
      callTool("later.echo", { a: "2" }),
      { say: "ok" },
      list(),
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home);
    home.write({ mcp: { mcpServers: { mine: { command: "x" }, taken: { command: "mine" } } } });
    const config = JSON.stringify({ command: server.command, args: server.args });
    const other = home.path("other.mjs");
    writeFileSync(
      other,
      `export default (pi) => {
        pi.registerMcpServer("at-load", ${config});
        pi.registerMcpServer("taken", { command: "theirs" });
        pi.on("session_start", () => pi.registerMcpServer("at-start", ${config}));
        pi.registerCommand("more", { description: "more", handler: async () => pi.registerMcpServer("later", ${config}) });
        pi.registerCommand("less", { description: "less", handler: async () => pi.unregisterMcpServer("later") });
      };`,
    );
    await using pi = await rpcPi(newest, home, { extension: EXTENSION, args: ["-e", other] });
    const serversIn = (request: ModelRequest | undefined, at: number) =>
      toolResults(request)
        .at(at)
        ?.match(/^- \S+/gm)
        ?.map((line) => line.slice(2));
    await pi.prompt("go");
    expect(toolResults(model.requests[1])[0]).toBe('{"a":"1"}');
    expect(toolResults(model.requests[2])[1]).toContain("taken (stdio: mine)");
    expect(serversIn(model.requests[2], 1)).toEqual(["at-load", "at-start", "mine", "taken"]);
    await pi.send({ type: "prompt", message: "/more" });
    await pi.prompt("go");
    expect(serversIn(model.requests[4], -1)).toEqual(["at-load", "at-start", "later", "mine", "taken"]);
    expect(toolResults(model.requests[5]).at(-1)).toBe('{"a":"2"}');
    await pi.send({ type: "prompt", message: "/less" });
    await pi.prompt("go");
    expect(serversIn(model.requests[7], -1)).toEqual(["at-load", "at-start", "mine", "taken"]);
    expect(pi.events.filter(({ type }) => type === "extension_error")).toEqual([]);
    expect(pi.stderr()).not.toContain("no loaded extension connects MCP servers");
    expect(await pi.close()).toMatchObject({ hung: false });
  });
});

// What is decided before any host is asked is the same on all of them.
describe.each(HOSTS.slice(0, 1))("$name", (host) => {
  test("[S2-49] their values are taken as they are, and what was handed over is inherited by no server", async () => {
    await using model = await scriptedModel([direct("editors"), callTool("own.echo"), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const editors = await fakeStdio(home);
    const own = await fakeStdio(home);
    home.write({ mcp: { mcpServers: { own: { command: own.command, args: own.args } } } });
    const literal = "$HOME ${HOME} ${env:HOME} !id $$ ~/x";
    const list = [
      {
        name: "editors",
        command: editors.command,
        args: [...editors.args, literal],
        env: [{ name: "LITERAL", value: literal }],
      },
    ];
    const run = await runPi(host, home, {
      mode: "print",
      prompt: "go",
      extension: EXTENSION,
      env: { PI_ACP_MCP_SERVERS: JSON.stringify(list) },
    });
    expect([run.code, wordsOfItsOwn(run.stderr)]).toEqual([0, []]);
    expect(editors.launches()).toMatchObject([{ args: [literal], env: { LITERAL: literal } }]);
    expect(own.launches()).toHaveLength(1);
    for (const { env } of [...editors.launches(), ...own.launches()]) {
      expect(env).not.toHaveProperty("PI_ACP_MCP_SERVERS");
    }
  });

  test("a value that cannot be read is said once, without the value, and the person's own servers go on", async () => {
    await using model = await scriptedModel([callMcp({ action: "call", server: "own", tool: "echo" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const own = await fakeStdio(home);
    home.write({ settings: { mcpServers: [own.entry("own")] } });
    const run = await runPi(host, home, {
      mode: "print",
      prompt: "go",
      extension: EXTENSION,
      env: { PI_ACP_MCP_SERVERS: '[{"name": "hunter2", ' },
    });
    expect(run.code).toBe(0);
    expect(run.stderr.match(/PI_ACP_MCP_SERVERS:1:1: error: This variable must hold/g)).toHaveLength(1);
    expect(run.stderr).not.toContain("hunter2");
    expect(toolResults(model.requests[1])[0]).toContain("MCP server `own` tool `echo`:");
  });

  test("[S2-37] [S2-64] all that can be set for them is set by variables: the limits of start, call, result and first turn", async () => {
    await using model = await scriptedModel([direct("slow"), direct("long"), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const slow = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
    const long = await fakeStdio(home, { on: { "tools/call": { text: "a line of text\n".repeat(1_000) } } });
    const dead = await fakeStdio(home, { on: { "*": { silent: true } } });
    const entry = (name: string, { command, args }: { command: string; args: readonly string[] }) => ({
      ...{ name, command, args },
      env: [],
    });
    const run = await runPi(host, home, {
      mode: "json",
      prompt: "go",
      extension: EXTENSION,
      env: {
        PI_ACP_MCP_SERVERS: JSON.stringify([entry("slow", slow), entry("long", long), entry("dead", dead)]),
        PI_MCP_START_TIMEOUT: "3",
        PI_MCP_CALL_TIMEOUT: "1",
        PI_MCP_MAX_RESULT_KB: "1",
        PI_MCP_FIRST_TURN_WAIT: "20",
      },
    });
    expect([run.code, run.hung]).toEqual([0, false]);
    // The first turn has waited for the end of the one that does not start, which is said.
    expect(
      toolNames(model.requests[0])
        .filter((name) => name.startsWith("mcp__"))
        .sort(),
    ).toEqual(["mcp__long__echo", "mcp__slow__echo"]);
    expect(run.stderr).toMatch(/MCP server `dead` failed to initialize: .*timed out after 3s/);
    const [late, cut] = toolRuns(run.events);
    expect(late).toMatchObject({ isError: true, details: { category: "timeout" } });
    expect(late?.text).toContain("timed out after 1s");
    expect(cut?.details).toMatchObject({ truncated: true });
    expect(cut?.text.length).toBeLessThan(2_000);
  });

  test("[S2-64] a first turn that is to wait for a moment only does not wait for the start to fail", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const { command, args } = await fakeStdio(home, { on: { "*": { silent: true } } });
    const env = {
      PI_ACP_MCP_SERVERS: JSON.stringify([{ name: "dead", command, args, env: [] }]),
      PI_MCP_START_TIMEOUT: "8",
      PI_MCP_FIRST_TURN_WAIT: "0.5",
    };
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION, env });
    // With the usual wait the failure would have been said before the turn.
    expect([run.code, run.stdout.trim()]).toEqual([0, "hi"]);
    expect(wordsOfItsOwn(run.stderr)).toEqual([
      "MCP servers still starting: dead. Their tools join when they are ready.",
    ]);
  });

  test("a file that --mcp-config names and that is not there is said, and the run goes on", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const args = ["--mcp-config", "nowhere.json"];
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION, args });
    expect([run.code, run.stdout.trim()]).toEqual([0, "hi"]);
    expect(wordsOfItsOwn(run.stderr)).toEqual([
      "MCP configuration:",
      `${home.cwd}/nowhere.json:1:1: error: There is no such file, which --mcp-config names.`,
    ]);
  });
});
