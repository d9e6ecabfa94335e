import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../../ground/fake-server.ts";
import { type Home, temporaryHome } from "../../ground/home.ts";
import { isAlive } from "../../ground/processes.ts";
import type { RpcPi } from "../../ground/rpc-pi.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { runCli } from "../../ground/run-cli.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import type { ModelRequest, Turn } from "../../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";
import { until } from "../../ground/wait.ts";

const callMcp = (args: object): Turn => ({ call: { tool: "mcp", args } });
/** A server of an mcp.json brings `mcp_load` and `mcp_call` along. */
const callTool = (selector: string, args: object = {}): Turn => ({
  call: { tool: "mcp_call", args: { selector, args } },
});
const own = (request: ModelRequest | undefined) =>
  request?.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp"));

/** Waits for a notice that fits. */
const told = (pi: RpcPi, what: RegExp) =>
  pi.waitFor((event) => event.method === "notify" && what.test(String(event.message)));

/** The command line beside the running pi. */
const cli = async (home: Home, ...args: string[]) => {
  const run = await runCli(process.execPath, home, ...args);
  expect(run).toMatchObject({ code: 0, stderr: "" });
};

describe.each(HOSTS)("$name", (host) => {
  test("a server that is added while pi runs is there, in words, in /mcp and for the model; what runs goes on", async () => {
    await using model = await scriptedModel([
      { say: "nothing yet" },
      callTool("first.echo", { a: "b" }),
      { say: "called" },
      callTool("first.echo"),
      { call: { tool: "mcp__second__two", args: {} } },
      { say: "called both" },
      { call: { tool: "mcp__second__two", args: {} } },
      { say: "and none" },
    ]);
    await using home = await temporaryHome({ model });
    const first = await fakeStdio(home);
    const second = await fakeStdio(home, { tools: [tool("one"), tool("two")] });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("before");
    expect(own(model.requests[0])).toEqual([]);

    await cli(home, "add", "first", "--", first.command, ...first.args);
    await told(pi, /^MCP configuration changed: added first\.$/);
    await pi.send({ type: "prompt", message: "/mcp" });
    await told(pi, /^first: not started, starts on first use$/);
    await pi.prompt("go");
    expect(toolResults(model.requests[2])).toEqual([expect.stringContaining('{"a":"b"}')]);

    const { name: _, ...entry } = second.entry("second", { exposure: "direct" });
    await cli(home, "add", "--json", JSON.stringify({ mcpServers: { second: entry } }));
    await told(pi, /^MCP configuration changed: added second\.$/);
    await pi.prompt("go");
    expect(own(model.requests[3])?.sort()).toEqual(["mcp__second__one", "mcp__second__two", "mcp_call", "mcp_load"]);
    expect(toolResults(model.requests[5]).slice(-1)).toEqual(["{}"]);
    expect([first.starts().length, second.starts().length]).toEqual([1, 1]);

    await cli(home, "disable", "second");
    await told(pi, /^MCP configuration changed: removed second\.$/);
    await cli(home, "remove", "first");
    await told(pi, /^MCP configuration changed: removed first\.$/);
    await until("the servers to end", () => ([...first.starts(), ...second.starts()].some(isAlive) ? undefined : true));
    await pi.prompt("go");
    expect(own(model.requests[6])).toEqual([]);
    expect(toolResults(model.requests[7]).at(-1)).toMatch(/mcp__second__two not found|no MCP server configured/i);
    expect(await pi.close()).toMatchObject({ code: 0, hung: false });
  });

  test("after new sessions, which some hosts announce twice, a change is told once and a broken file ends nothing", async () => {
    await using model = await scriptedModel([callMcp({ action: "call", server: "kept", tool: "echo" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const kept = await fakeStdio(home);
    home.write({ settings: { mcpServers: [kept.entry("kept")] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    for (let i = 0; i < 2; i++) await pi.send({ type: "new_session" });
    await pi.prompt("go");
    home.write({ mcp: '{"mcpServers": {"added": {' });
    await told(pi, /^MCP configuration:\n.*mcp\.json:1:\d+: error: /);
    home.write({ mcp: { mcpServers: { added: { command: "x" } } } });
    await told(pi, /^MCP configuration changed: added added\.$/);
    home.write({ settings: '{"mcpServers": [' });
    await told(pi, /settings\.json:1:\d+: error: .* What it held before stays in use\.$/);
    expect(kept.starts().filter(isAlive)).toHaveLength(1);
    const notices = pi.ui.filter(({ method, message }) => method === "notify" && /MCP config/.test(String(message)));
    expect(notices).toHaveLength(3);
  });

  test("print mode ends by itself though the configuration is watched, and says on stderr what has changed", async () => {
    await using home = await temporaryHome();
    const slow = await fakeStdio(home, { on: { "tools/call": { delayMs: 3_000, text: "done" } } });
    const added = await fakeStdio(home);
    await using model = await scriptedModel([
      () => {
        // The call that comes now must not be harmed by what is added.
        home.write({ mcp: { mcpServers: { added: { command: added.command } } } });
        return callMcp({ action: "call", server: "slow", tool: "echo" });
      },
      { say: "ok" },
    ]);
    home.write({ model, settings: { mcpServers: [slow.entry("slow")] } });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([run.code, run.hung]).toEqual([0, false]);
    expect(toolResults(model.requests[1])[0]).toContain("done");
    expect(run.stderr).toContain("MCP configuration changed: added added.");
    expect(slow.starts().filter(isAlive)).toEqual([]);
  });
});

// What is decided before any host is asked is the same on all of them.
describe.each(HOSTS.slice(0, 1))("$name", (host) => {
  test("a consent given beside pi lets the project's servers join, and one that is taken back ends them", async () => {
    await using model = await scriptedModel([callTool("theirs.echo", { a: "b" }), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const theirs = await fakeStdio(home);
    const { name: _, ...entry } = theirs.entry("theirs");
    home.write({ files: { "project/.mcp.json": { mcpServers: { theirs: entry } } } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await cli(home, "trust", "--yes");
    await told(pi, /^MCP configuration changed: added theirs\.$/);
    await pi.prompt("go");
    expect(toolResults(model.requests[1])[0]).toBe('{"a":"b"}');
    await cli(home, "trust", "--revoke");
    await told(pi, /^MCP configuration changed: removed theirs\.\nMCP servers of this project are not allowed yet/);
    await until("the server to end", () => (theirs.starts().some(isAlive) ? undefined : true));
    expect(theirs.starts()).toHaveLength(1);
  });

  test("a pi that is ended by a signal under watch leaves nothing running", async () => {
    await using model = await scriptedModel([callTool("s.echo"), { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home);
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await cli(home, "add", "s", "--", server.command, ...server.args);
    await told(pi, /added s\.$/);
    await pi.prompt("go");
    expect(server.starts()).toHaveLength(1);
    expect(await pi.kill("SIGTERM")).toMatchObject({ hung: false });
    await until("the server to end", () => (server.starts().some(isAlive) ? undefined : true));
  });
});
