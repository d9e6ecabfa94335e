import { describe, expect, test } from "vitest";
import { type FakeStdio, fakeStdio } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import { scriptedModel } from "../../ground/scripted-model.ts";
import { until } from "../../ground/wait.ts";

/** Handed over by an editor. */
function handed(servers: Readonly<Record<string, FakeStdio>>): Record<string, string> {
  const list = Object.entries(servers).map(([name, { command, args }]) => ({ name, command, args, env: [] }));
  return { PI_ACP_MCP_SERVERS: JSON.stringify(list) };
}

describe.each(HOSTS)("$name", (host) => {
  test("[S2-20] a person is told which server did not start, and why", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const [good, bad] = [await fakeStdio(home), await fakeStdio(home, { startup: { exit: 3 } })];
    await using pi = await rpcPi(host, home, { extension: EXTENSION, env: handed({ good, bad }) });
    await pi.prompt("go");
    const told = pi.ui.filter(({ method }) => method === "notify").map(({ message }) => String(message));
    expect(told).toEqual([expect.stringMatching(/MCP server `bad` failed to initialize: .*exited with code 3/)]);
  });

  test("[S2-22] nothing is said while all is well, nor shown in a status line", async () => {
    await using model = await scriptedModel([{ say: "hi" }, { say: "again" }]);
    await using home = await temporaryHome({ model });
    const [one, two, eager] = [await fakeStdio(home), await fakeStdio(home), await fakeStdio(home)];
    home.write({ mcp: { mcpServers: { eager: { command: eager.command, args: eager.args, lifecycle: "eager" } } } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION, env: handed({ one, two }) });
    await pi.prompt("go");
    await until("all of them", () => (eager.methods().includes("tools/list") ? true : undefined));
    await pi.prompt("again");
    expect(pi.ui.map(({ method }) => method).filter((method) => method !== "setTitle")).toEqual([]);
    expect(pi.stderr()).not.toMatch(/MCP server/);
  });

  test("of a server that starts with the session a person is told when it does not", async () => {
    await using model = await scriptedModel([]);
    await using home = await temporaryHome({ model });
    const bad = await fakeStdio(home, { startup: { exit: 3 } });
    const entry = { command: bad.command, args: bad.args, lifecycle: "keep-alive" };
    home.write({ mcp: { mcpServers: { bad: entry } } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    const notice = await pi.waitFor((event) => event.method === "notify");
    expect(notice.message).toMatch(/MCP server `bad` failed to initialize: .*exited with code 3/);
  });

  test("a run nobody watches ends with an error, before its first turn, when a required server cannot be used", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const [good, bad] = [await fakeStdio(home), await fakeStdio(home, { startup: { exit: 3 } })];
    const entry = ({ command, args }: FakeStdio) => ({ command, args, required: true });
    home.write({ mcp: { mcpServers: { good: entry(good), bad: entry(bad) } } });
    const failed = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([failed.code, failed.hung, failed.stdout]).toEqual([1, false, ""]);
    expect(failed.stderr).toMatch(/needs MCP servers that cannot be used:\n.*`bad` failed to initialize/);
    expect(model.requests).toHaveLength(0);
    home.write({ mcp: { mcpServers: { good: entry(good) } } });
    const ended = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([ended.code, ended.stdout.trim()]).toEqual([0, "hi"]);
    expect(good.methods()).toContain("tools/list");
  });

  test("a person who watches goes on without a required server", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    const { command, args } = await fakeStdio(home, { startup: { exit: 3 } });
    home.write({ mcp: { mcpServers: { bad: { command, args, required: true } } } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("go");
    expect(model.requests).toHaveLength(1);
  });
});
