import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { rpcPi } from "../ground/rpc-pi.ts";
import { runCli as cli, NODES } from "../ground/run-cli.ts";
import { EXTENSION, HOSTS, runPi } from "../ground/run-pi.ts";
import type { Turn } from "../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../ground/scripted-model.ts";
import { until } from "../ground/wait.ts";
import { REAL } from "./real-servers.ts";

const callMcp = (args: object): Turn => ({ call: { tool: "mcp", args } });

describe.each(HOSTS)("$name", (host) => {
  test("the model searches, reads the schema and calls; in the next session it needs no server to find the tool", async () => {
    await using home = await temporaryHome();
    home.write({ settings: { mcpServers: [REAL.everything("everything", "stdio")] } });
    const find = [
      callMcp({ action: "search", query: "add two numbers" }),
      callMcp({ action: "describe", server: "everything", tool: "get-sum" }),
    ];
    const run = async (turns: readonly Turn[]) => {
      await using model = await scriptedModel([...turns, { say: "done" }]);
      home.write({ model });
      const { code, hung } = await runPi(host, home, { mode: "json", prompt: "Add", extension: EXTENSION });
      expect([code, hung]).toEqual([0, false]);
      // What a provider has cached of a session stays good.
      expect(new Set(model.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
      return toolResults(model.requests.at(-1));
    };
    const first = await run([
      ...find,
      callMcp({ action: "search", query: "add two numbers" }),
      callMcp({ action: "call", server: "everything", tool: "get-sum", args: { a: 40, b: 2 } }),
    ]);
    const [unknown, schema, found, sum] = first;
    expect(unknown).toContain("not known yet: everything; action list_tools (server) makes them known");
    expect(schema).toMatch(/^MCP server `everything` tool `get-sum`.*\nArguments: \{.*"required":\["a","b"\]/s);
    expect(found?.split("\n")[1]).toMatch(/^- everything: get-sum\(a: number, b: number\) \/\/ /);
    expect(sum).toContain("The sum of 40 and 2 is 42.");

    const second = await run(find);
    expect(second).toEqual([found, schema]);
  });

  test("tools of their own are there from the first request on though their server is not started before it is called", async () => {
    await using home = await temporaryHome();
    const listed = (names: string[]) => ({ result: { tools: names.map((name) => tool(name)) } });
    const server = await fakeStdio(home, {
      on: { "tools/list": [listed(["one"]), listed(["one", "two"])], "tools/call": { text: "called" } },
    });
    home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
    const own = (tools: readonly { name: string }[] = []) =>
      tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__"));

    await using first = await scriptedModel([{ say: "hi" }]);
    home.write({ model: first });
    await runPi(host, home, { mode: "print", prompt: "hi", extension: EXTENSION });
    expect(own(first.requests[0]?.tools)).toEqual(["mcp__fake__one"]);
    expect(server.starts()).toHaveLength(1);

    await using second = await scriptedModel([
      { say: "hi" },
      { call: { tool: "mcp__fake__one", args: {} } },
      { say: "ok" },
      { say: "bye" },
    ]);
    home.write({ model: second });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("hi");
    expect(own(second.requests[0]?.tools)).toEqual(["mcp__fake__one"]);
    expect(server.starts()).toHaveLength(1);
    await pi.prompt("call it");
    expect(toolResults(second.requests[2]).at(-1)).toBe("called");
    expect(server.starts()).toHaveLength(2);
    await server.until("tools/list", 2);
    await until("the newer list to be kept", () => {
      const folder = join(home.agentDir, "mcp-catalog");
      const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
      return texts.some((text) => text.includes('"two"')) ? true : undefined;
    });
    await pi.prompt("and now?");
    expect(own(second.requests[3]?.tools)).toEqual(["mcp__fake__one", "mcp__fake__two"]);
  });
});

describe.each(NODES)("pi-mcp on $name", ({ node }) => {
  test("search and describe answer from what is known, and say how to know more", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("read_file", { description: "Reads a file." })] });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const unknown = await cli(node, home, "search", "read", "a", "file");
    expect([unknown.code, unknown.stdout]).toEqual([
      0,
      'No tools are known to search for "read a file".\n[Not searched, since their tools are not known yet: fake; `pi-mcp list <server>` makes them known]\n',
    ]);
    expect(server.starts()).toEqual([]);
    const described = await cli(node, home, "describe", "fake", "read_file");
    expect([described.code, described.stdout]).toEqual([
      0,
      'MCP server `fake` tool `read_file`:\nReads a file.\nArguments: {"type":"object"}\n',
    ]);
    const found = await cli(node, home, "search", "read a file", "--server", "fake");
    expect(found.stdout).toContain("- fake: read_file() // Reads a file.\n");
    const json = JSON.parse((await cli(node, home, "search", "--json", "read")).stdout);
    expect(json).toMatchObject({ found: [{ server: "fake", tool: { name: "read_file" } }], total: 1, unlisted: [] });
    expect(JSON.parse((await cli(node, home, "describe", "fake", "read_file", "--json")).stdout)).toEqual({
      server: "fake",
      tool: { name: "read_file", description: "Reads a file.", inputSchema: { type: "object" }, annotations: {} },
    });
    expect(server.starts()).toHaveLength(1);
    const wrong = [["search"], ["search", "x", "--server", "nope"], ["describe", "fake"], ["describe", "fake", "nope"]];
    const codes = await Promise.all(wrong.map(async (words) => (await cli(node, home, ...words)).code));
    expect(codes).toEqual([2, 3, 2, 7]);
    writeFileSync(join(home.agentDir, "settings.json"), "{}");
    expect((await cli(node, home, "search", "x")).stdout).toBe('No tools are known to search for "x".\n');
  });
});
