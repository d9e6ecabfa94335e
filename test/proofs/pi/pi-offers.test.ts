import { describe, expect, test } from "vitest";
import { fakeStdio, type ServerScript } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import { type ModelRequest, scriptedModel, toolResults } from "../../ground/scripted-model.ts";
import { until } from "../../ground/wait.ts";
import { sessionOf } from "../../session/open.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

const GUIDE: ServerScript = {
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  on: {
    "resources/list": {
      result: {
        resources: [
          { uri: "note://1", name: "one", title: "one", description: "The first.", mimeType: "text/plain", size: 5 },
          { uri: "ui://screen", name: "screen" },
        ],
      },
    },
    "resources/templates/list": { result: { resourceTemplates: [{ uriTemplate: "note://{id}", name: "any" }] } },
    "resources/read": {
      result: {
        contents: [
          { uri: "note://1", text: "first\u001b[31m" },
          { uri: "note://1/p", mimeType: "image/png", blob: PIXEL },
          { uri: "note://1/b", mimeType: "application/zip", blob: "UEsDBA==" },
        ],
      },
    },
    "prompts/list": {
      result: {
        prompts: [
          {
            name: "travel plan",
            description: "Plans a journey.",
            arguments: [{ name: "city", required: true, description: "Where to" }, { name: "days" }],
          },
        ],
      },
    },
    "prompts/get": {
      result: {
        messages: [
          { role: "user", content: { type: "text", text: "Plan a journey." } },
          { role: "user", content: { type: "resource", resource: { uri: "note://1", text: "By train." } } },
          { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
        ],
      },
    },
  },
};

const COMMAND = "mcp__guide__travel_plan";
const RESOURCE_TOOLS = ["list_mcp_resource_templates", "list_mcp_resources", "read_mcp_resource"];

function toolsOf(request: ModelRequest | undefined): string[] {
  return (request?.tools ?? []).map(({ name }) => name).sort();
}

/** The last message of the person, as the model gets it. */
function saidBy(request: ModelRequest | undefined): string {
  const { content } = request?.messages.findLast(({ role }) => role === "user") ?? {};
  return JSON.stringify(content);
}

describe.each(HOSTS)("$name", (host) => {
  test("the model has tools for resources where a server is known to have any, and reads texts, images and files", async () => {
    await using model = await scriptedModel([
      { call: { tool: "mcp", args: { action: "list_tools", server: "guide" } } },
      { say: "ok" },
      { call: { tool: "list_mcp_resources" } },
      { call: { tool: "list_mcp_resource_templates", args: { server: "guide" } } },
      { call: { tool: "read_mcp_resource", args: { server: "guide", uri: "note://1" } } },
      { say: "done" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, GUIDE);
    home.write({ settings: { mcpServers: [server.entry("guide")] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("hi");
    await pi.prompt("read");
    expect(toolsOf(model.requests[0]).filter((name) => RESOURCE_TOOLS.includes(name))).toEqual([]);
    expect(toolsOf(model.requests[2]).filter((name) => RESOURCE_TOOLS.includes(name))).toEqual(RESOURCE_TOOLS);
    const [, list, templates, read] = toolResults(model.requests.at(-1));
    expect(JSON.parse(list ?? "")).toEqual({
      resources: [
        { server: "guide", uri: "note://1", name: "one", description: "The first.", mimeType: "text/plain", size: 5 },
      ],
    });
    expect(JSON.parse(templates ?? "")).toEqual({
      server: "guide",
      resourceTemplates: [{ uriTemplate: "note://{id}", name: "any" }],
    });
    expect(read).toMatch(
      /^\[resource note:\/\/1\]\nfirst\s*\[resource note:\/\/1\/b \(application\/zip\), 4 bytes, saved to [^\]]+\.zip\]$/,
    );
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(PIXEL.slice(0, 40));
  });

  test("a prompt is a command from the next session on, which sends what the server writes with the arguments it was given", async () => {
    await using model = await scriptedModel(Array.from({ length: 5 }, () => ({ say: "ok" })));
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, GUIDE);
    home.write({ settings: { mcpServers: [server.entry("guide", { lifecycle: "eager" })] } });
    const commands = async (pi: Awaited<ReturnType<typeof rpcPi>>) => {
      const { data } = (await pi.send({ type: "get_commands" })) as unknown as {
        data: { commands: { name: string; description: string }[] };
      };
      return data.commands.filter(({ name }) => name.startsWith("mcp__"));
    };
    const described = [
      expect.objectContaining({
        name: COMMAND,
        description: "<city> [days] Plans a journey. (MCP server guide)",
      }),
    ];
    {
      await using pi = await rpcPi(host, home, { extension: EXTENSION });
      await pi.prompt("hi");
      await server.until("prompts/list", 1);
      await until("the command", async () => ((await commands(pi)).length > 0 ? true : undefined));
      expect(await commands(pi)).toEqual(described);
    }
    home.write({ settings: { mcpServers: [server.entry("guide")] } });
    const asked: string[] = [];
    await using pi = await rpcPi(host, home, {
      extension: EXTENSION,
      dialogs: ({ method, title }) => {
        if (method === "input") asked.push(String(title));
        return method === "input" ? { value: "Paris" } : undefined;
      },
    });
    expect(await commands(pi)).toEqual(described);
    expect(server.starts()).toHaveLength(1);
    const send = async (message: string) => {
      const from = pi.events.length;
      await pi.send({ type: "prompt", message });
      return pi.waitFor((event) => event.type === "agent_end" || event.method === "notify", from);
    };
    await send(`/${COMMAND} "New York" three whole days`);
    expect(server.params("prompts/get")[0]).toMatchObject({
      name: "travel plan",
      arguments: { city: "New York", days: "three whole days" },
    });
    const said = saidBy(model.requests.at(-1));
    expect(said).toContain("Plan a journey.\\n[resource note://1]\\nBy train.");
    expect(said).toContain(PIXEL.slice(0, 40));
    await send(`/${COMMAND} days=2`);
    expect(asked).toEqual(["travel plan: city"]);
    expect(server.params("prompts/get")[1]).toMatchObject({ arguments: { city: "Paris", days: "2" } });
    const { message } = await send(`/${COMMAND} city=Rome days=2 more`);
    expect(message).toBe(`"more" is none of the arguments: /${COMMAND} <city> [days]`);
    expect(server.params("prompts/get")).toHaveLength(2);
  });

  test("in a run without a person a prompt is sent and answered, and what is missing is said in one line", async () => {
    await using model = await scriptedModel([{ say: "A journey." }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, GUIDE);
    home.write({ settings: { mcpServers: [server.entry("guide")] } });
    const session = sessionOf(home);
    await session.listPrompts("guide");
    await session.close();
    const run = (prompt: string) => runPi(host, home, { mode: "print", prompt, extension: EXTENSION });
    const missing = await run(`/${COMMAND}`);
    expect(missing.stderr).toContain(`The prompt needs \`city\`: /${COMMAND} <city> [days]`);
    const { code, hung, stdout } = await run(`/${COMMAND} Rome`);
    expect([code, hung, stdout.trim()]).toEqual([0, false, "A journey."]);
    expect(saidBy(model.requests.at(-1))).toContain("Plan a journey.");
  });
});
