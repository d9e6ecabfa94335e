import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS } from "../../ground/run-pi.ts";
import { scriptedModel } from "../../ground/scripted-model.ts";

// Servers that need longer than a first turn waits: a file of its own, for it takes that long.
// The wait is ours, and so are the ways to both hosts that other tests take: one of them is enough for this.
describe.each(HOSTS.slice(0, 1))("$name", (host) => {
  test("[E040] [E041] [S2-21] [S2-38] [S2-39] the first turn waits ten seconds for declared tools, and a later one has them", async () => {
    await using model = await scriptedModel([{ say: "first" }, { say: "second" }]);
    await using home = await temporaryHome({ model });
    const quick = await fakeStdio(home, { startup: { delayMs: 2_000 }, tools: [tool("soon")] });
    const slow = await fakeStdio(home, { startup: { delayMs: 12_000 }, tools: [tool("late")] });
    const direct = { exposure: "direct" };
    home.write({ settings: { mcpServers: [quick.entry("quick", direct), slow.entry("slow", direct)] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    const asked = Date.now();
    await pi.prompt("one", 30_000);
    const mcpTools = (request: number) =>
      model.requests[request]?.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__"));
    expect(mcpTools(0)).toEqual(["mcp__quick__soon"]);
    expect(pi.ui.map(({ message }) => message)).toEqual([
      "MCP servers still starting: slow. Their tools join when they are ready.",
    ]);
    expect((model.requests[0]?.at ?? 0) - asked).toBeGreaterThan(7_000);
    await slow.until("tools/list");
    await pi.send({ type: "prompt", message: "/mcp" });
    await pi.prompt("two");
    expect(mcpTools(1)?.toSorted()).toEqual(["mcp__quick__soon", "mcp__slow__late"]);
  });
});
