import { describe, expect, test } from "vitest";
import { type FakeStdio, fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { toolRuns } from "../ground/pi-events.ts";
import { rpcPi } from "../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../ground/run-pi.ts";
import { type ModelRequest, scriptedModel, toolResults } from "../ground/scripted-model.ts";

const [newest, oldest] = HOSTS;
const names = (request: ModelRequest | undefined) => (request?.tools ?? []).map(({ name }) => name);
const entryOf = ({ command, args }: FakeStdio, more: object = {}) => ({ command, args, ...more });

const WEATHER = tool("get_weather", {
  description: "Tells how warm it is in a town.",
  inputSchema: { type: "object", properties: { town: { type: "string" } }, required: ["town"] },
  outputSchema: { type: "object", properties: { degrees: { type: "number" } } },
  annotations: { readOnlyHint: true },
});
const SEVENTEEN = { result: { content: [{ type: "text", text: "17 degrees" }], structuredContent: { degrees: 17 } } };

describe(newest.name, () => {
  test("the model finds a deferred tool with the host's tool_search, which loads it, and calls it", async () => {
    await using model = await scriptedModel([
      { call: { tool: "tool_search", args: { query: "how warm is it in a town" } } },
      { call: { tool: "mcp__weather__get_weather", args: { town: "Rome" } } },
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [WEATHER, tool("other")], on: { "tools/call": SEVENTEEN } });
    home.write({ mcp: { mcpServers: { weather: entryOf(server, { exposure: "deferred", surface: "direct" }) } } });
    const run = await runPi(newest, home, { mode: "json", prompt: "go", extension: EXTENSION });
    expect(run.code).toBe(0);
    const mine = (request: ModelRequest | undefined) =>
      names(request).filter((name) => /^mcp|search|codemode/.test(name));
    expect(mine(model.requests[0])).toEqual(["tool_search"]);
    expect(mine(model.requests[1]).sort()).toEqual(["mcp__weather__get_weather", "tool_search"]);
    expect(toolRuns(run.events)[1]).toMatchObject({ isError: false, text: expect.stringMatching(/^17 degrees/) });
    expect(server.params("tools/call")).toMatchObject([{ name: "get_weather", arguments: { town: "Rome" } }]);
  });

  test("a script of the host's codemode calls a tool and gets the whole result, a failed one too", async () => {
    const code = `
      const weather = await tools.mcp__weather__get_weather({ town: "Rome" });
      const broken = await tools.mcp__weather__broken({});
      return JSON.stringify([weather.structuredContent.degrees + 1, weather.content[0].text, broken.isError, broken.content[0].text]);
    `;
    await using model = await scriptedModel([{ call: { tool: "codemode", args: { code } } }, { say: "ok" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, {
      tools: [WEATHER, tool("broken")],
      on: {
        "tools/call get_weather": SEVENTEEN,
        "tools/call broken": { result: { content: [{ type: "text", text: "no paper" }], isError: true } },
      },
    });
    home.write({ mcp: { mcpServers: { weather: entryOf(server, { exposure: "codemode", surface: "direct" }) } } });
    const run = await runPi(newest, home, { mode: "json", prompt: "go", extension: EXTENSION });
    expect(names(model.requests[0])).toContain("codemode");
    expect(names(model.requests[0]).filter((name) => name.startsWith("mcp"))).toEqual([]);
    expect(toolResults(model.requests[1])[0]).toContain('[18,"17 degrees",true,"no paper"]');
    expect(run.code).toBe(0);
  });

  test("[S1-34] the host knows whose a tool is and what it is said to do, and a withdrawn one is found no more", async () => {
    await using model = await scriptedModel([{ say: "hi" }, { say: "hi" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [WEATHER, tool("rm"), tool("secret")] });
    const entry = entryOf(server, { exposure: "deferred", toolExposure: { rm: "direct", secret: "hidden" } });
    home.write({
      mcp: { mcpServers: { "my-weather": entry } },
      settings: { mcpServers: [{ name: "set", command: "x" }] },
    });
    const lister = `export default (pi) => pi.registerCommand("dump", { description: "", handler: async (_, ctx) =>
      ctx.ui.notify(JSON.stringify(pi.getAllTools().filter(({ name }) => name.startsWith("mcp")).map(
        ({ name, exposure, namespace, annotations }) => ({ name, exposure, namespace, annotations })))) });`;
    home.write({ files: { "project/lister.mjs": lister } });
    await using pi = await rpcPi(newest, home, { extension: EXTENSION, args: ["-e", `${home.cwd}/lister.mjs`] });
    await pi.prompt("hi");
    const dump = async () => {
      await pi.send({ type: "prompt", message: "/dump" });
      return JSON.parse(String(pi.ui.filter(({ method }) => method === "notify").at(-1)?.message)) as object[];
    };
    const all = await dump();
    const namespace = { name: "mcp__my_weather", aliases: ["my-weather"] };
    expect(all).toContainEqual(
      expect.objectContaining({
        name: "mcp__my_weather__get_weather",
        exposure: "deferred",
        namespace: expect.objectContaining(namespace),
        annotations: { readOnlyHint: true },
      }),
    );
    expect(all).toContainEqual(expect.objectContaining({ name: "mcp__my_weather__rm", exposure: "direct" }));
    expect(JSON.stringify(all)).not.toContain("secret");
    // The tools that reach all servers count as ones that write: what they will change is not known.
    for (const name of ["mcp", "mcp_call"]) {
      const annotations = { readOnlyHint: false, openWorldHint: true };
      expect(all).toContainEqual(expect.objectContaining({ name, annotations }));
    }
    home.write({ mcp: { mcpServers: {} }, settings: {} });
    await pi.prompt("hi again");
    expect((await dump()).map((each) => (each as { exposure: string }).exposure)).toEqual(all.map(() => "hidden"));
    expect(names(model.requests[1]).filter((name) => name.startsWith("mcp"))).toEqual([]);
  });
});

test(`${oldest.name} has no such tools: what is to be found is reached by mcp_load and mcp_call`, async () => {
  await using model = await scriptedModel([
    { call: { tool: "mcp_call", args: { selector: "weather.get_weather", args: { town: "Rome" } } } },
    { say: "ok" },
  ]);
  await using home = await temporaryHome({ model });
  const server = await fakeStdio(home, { tools: [WEATHER], on: { "tools/call": SEVENTEEN } });
  home.write({ mcp: { mcpServers: { weather: entryOf(server, { exposure: "codemode", surface: "direct" }) } } });
  const run = await runPi(oldest, home, { mode: "json", prompt: "go", extension: EXTENSION });
  expect(run.code).toBe(0);
  expect(names(model.requests[0]).filter((name) => name.startsWith("mcp"))).toEqual(["mcp_load", "mcp_call"]);
  expect(toolResults(model.requests[1])[0]).toContain("17 degrees");
  expect(server.starts()).toHaveLength(1);
});
