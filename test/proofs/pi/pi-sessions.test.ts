import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type FakeStdio, fakeStdio, tool } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { isAlive } from "../../ground/processes.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS } from "../../ground/run-pi.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";
import { until } from "../../ground/wait.ts";

const entryOf = ({ command, args }: FakeStdio, more: object = {}) => ({ command, args, ...more });
const callAll = {
  call: ["kept", "changed", "gone"].map((server) => ({ tool: "mcp_call", args: { server, tool: "echo" } })),
};

describe.each(HOSTS)("$name", (host) => {
  test("servers stay warm from one conversation to the next, those that were changed or removed meanwhile end", async () => {
    await using model = await scriptedModel([
      callAll,
      { say: "ok" },
      callAll,
      { say: "ok" },
      callAll,
      { say: "ok" },
      callAll,
      { say: "bye" },
    ]);
    await using home = await temporaryHome({ model });
    const [kept, changed, gone] = [await fakeStdio(home), await fakeStdio(home), await fakeStdio(home)];
    home.write({ mcp: { mcpServers: { kept: entryOf(kept), changed: entryOf(changed), gone: entryOf(gone) } } });
    const again = home.path("again.mjs");
    writeFileSync(
      again,
      'export default (pi) => pi.registerCommand("again", { description: "", handler: (_, ctx) => ctx.reload() });',
    );
    await using pi = await rpcPi(host, home, { extension: EXTENSION, args: ["-e", again] });
    const starts = () => [kept, changed, gone].map((server) => server.starts().length);
    await pi.prompt("go");
    await pi.send({ type: "new_session" });
    await pi.prompt("go");
    expect(starts()).toEqual([1, 1, 1]);
    await pi.send({ type: "prompt", message: "/again" });
    await pi.prompt("go");
    expect(starts()).toEqual([1, 1, 1]);
    expect(toolResults(model.requests[5]).slice(-3)).toEqual(["(no arguments)", "(no arguments)", "(no arguments)"]);

    home.write({ mcp: { mcpServers: { kept: entryOf(kept), changed: entryOf(changed, { debug: true }) } } });
    await pi.send({ type: "new_session" });
    await until("the end of the one that is gone", () => (gone.starts().some(isAlive) ? undefined : true));
    await pi.prompt("go");
    expect(starts()).toEqual([1, 2, 1]);
    expect(changed.starts().map(isAlive)).toEqual([false, true]);
    const [one, two, three] = toolResults(model.requests.at(-1)).slice(-3);
    expect([one, two]).toEqual(["(no arguments)", "(no arguments)"]);
    expect(three).toContain("no MCP server configured with name `gone`");
    expect(await pi.close()).toMatchObject({ hung: false });
    await until("the end of all", () => ([...kept.starts(), ...changed.starts()].some(isAlive) ? undefined : true));
  });

  test("in the next conversation a server speaks to the session that is there: its new tools are that one's", async () => {
    await using model = await scriptedModel([
      { call: { tool: "mcp__s__one", args: {} } },
      { say: "ok" },
      { call: { tool: "mcp__s__one", args: {} } },
      { say: "ok" },
      { say: "bye" },
    ]);
    await using home = await temporaryHome({ model });
    const changes = { jsonrpc: "2.0" as const, method: "notifications/tools/list_changed" };
    const listed = (names: string[]) => ({ result: { tools: names.map((name) => tool(name)) } });
    const server = await fakeStdio(home, {
      capabilities: { tools: { listChanged: true } },
      on: {
        "tools/list": [listed(["one"]), listed(["one", "two"])],
        "tools/call": [{ text: "first" }, { notify: [changes], text: "second" }],
      },
    });
    home.write({ mcp: { mcpServers: { s: entryOf(server, { exposure: "direct" }) } } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("go");
    await pi.send({ type: "new_session" });
    await pi.prompt("go");
    await server.until("tools/list", 2);
    await pi.send({ type: "prompt", message: "/mcp" });
    await pi.prompt("and now?");
    const own = (model.requests.at(-1)?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith("mcp__"));
    expect(own.sort()).toEqual(["mcp__s__one", "mcp__s__two"]);
    expect(server.starts()).toHaveLength(1);
  });
});
