import { describe, expect, test } from "vitest";
import { type FakeStdio, fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { rpcPi } from "../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../ground/run-pi.ts";
import { type ModelRequest, scriptedModel, toolResults } from "../ground/scripted-model.ts";

const own = (request: ModelRequest | undefined) =>
  (request?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith("mcp"));

const entryOf = ({ command, args }: FakeStdio, more: object = {}) => ({ command, args, ...more });

describe.each(HOSTS)("$name", (host) => {
  test("each kind of server brings its tools along, and each of these reaches every server", async () => {
    await using model = await scriptedModel([
      {
        call: [
          { tool: "mcp", args: { action: "call", server: "handed", tool: "echo", args: { a: 1 } } },
          { tool: "mcp", args: { action: "call", server: "mine", tool: "echo", args: { a: 2 } } },
          { tool: "mcp_call", args: { selector: "set.echo", args: { a: 3 } } },
          { tool: "mcp_call", args: { server: "handed", tool: "echo", args: { a: 4 } } },
          { tool: "mcp_load", args: { query: "echo" } },
          { tool: "mcp__handed__echo", args: { a: 5 } },
        ],
      },
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const [set, mine, handed] = [await fakeStdio(home), await fakeStdio(home), await fakeStdio(home)];
    home.write({ settings: { mcpServers: [set.entry("set")] }, mcp: { mcpServers: { mine: entryOf(mine) } } });
    const env = { PI_ACP_MCP_SERVERS: JSON.stringify([{ name: "handed", ...entryOf(handed), env: [] }]) };
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION, env });
    expect(run.code).toBe(0);
    expect(own(model.requests[0]).sort()).toEqual(["mcp", "mcp__handed__echo", "mcp_call", "mcp_load"]);
    const texts = toolResults(model.requests[1]);
    expect(texts.slice(0, 2)).toEqual([
      'MCP server `handed` tool `echo`:\n{"a":1}\n',
      'MCP server `mine` tool `echo`:\n{"a":2}\n',
    ]);
    expect(texts.slice(2, 4)).toEqual(['{"a":3}', '{"a":4}']);
    expect(texts[4]).toMatch(/^Tools for "echo".*\n- \w+: echo\(\)/);
    expect(texts[5]).toBe('{"a":5}');
    const load = model.requests[0]?.tools.find(({ name }) => name === "mcp_load");
    expect(load?.description).toContain("Servers: handed, mine, set.");
  });

  test("mcpSurface overrides them all, and a hidden tool is out of reach", async () => {
    await using model = await scriptedModel([
      {
        call: [
          { tool: "mcp_load", args: { server: "set" } },
          { tool: "mcp_call", args: { selector: "set.rm" } },
        ],
      },
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [tool("ls"), tool("rm")] });
    home.write({
      settings: { mcpSurface: "split", mcpServers: [server.entry("set", { toolExposure: { "r*": "hidden" } })] },
    });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect(run.code).toBe(0);
    expect(own(model.requests[0])).toEqual(["mcp_load", "mcp_call"]);
    const [listed, refused] = toolResults(model.requests[1]);
    expect(listed).toMatch(/^## set \(1 tool\)\n\n### set\.ls/);
    expect(refused).toMatch(/its tool `rm` is left out by the configuration, "toolExposure" in .*settings\.json/);
    expect(server.params("tools/call")).toEqual([]);
  });

  test("[S3-71] an mcp.json with a URL brings mcp_load, mcp_call and mcp_auth along; the command /mcp-auth is always there", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    home.write({ mcp: { mcpServers: { web: { url: "http://127.0.0.1:9/mcp" } } } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("hi");
    expect(own(model.requests[0]).sort()).toEqual(["mcp_auth", "mcp_call", "mcp_load"]);
    const commands = expect.arrayContaining([expect.objectContaining({ name: "mcp-auth" })]);
    expect((await pi.send({ type: "get_commands" })).data).toMatchObject({ commands });
    await pi.send({ type: "prompt", message: "/mcp-auth login nobody" });
    expect(String(pi.ui.at(-1)?.message)).toMatch(/No MCP server of that name.* login <server>.* complete <server>/);
  });

  test("with nothing configured nothing is registered, and /mcp answers all the same", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("hi");
    expect(own(model.requests[0])).toEqual([]);
    await pi.send({ type: "prompt", message: "/mcp" });
    expect(String(pi.ui.at(-1)?.message)).toContain("No MCP servers");
  });
});
