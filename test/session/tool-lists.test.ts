import { describe, expect, test } from "vitest";
import { readAcpServers } from "../../src/config/acp.ts";
import { createSession } from "../../src/session/create-session.ts";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

describe("a server that can be asked for one tool", () => {
  const CAPABILITIES = { tools: { search_tool: true } };
  const search = (names: readonly string[]) => ({ result: { tools: names.map((name) => tool(name)) } });

  test("[S1-49] is asked for the name before the call", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: CAPABILITIES,
      on: { "tools/search": search(["echoes", "echo"]) },
    });
    await using _ = session;
    expect((await session.callTool("fake", "echo", { text: "hi" })).isError).toBe(false);
    expect(server.methods().filter((method) => method.startsWith("tools/"))).toEqual(["tools/search", "tools/call"]);
    expect(server.params("tools/search")).toEqual([{ name: "echo" }]);
  });

  test.each([
    [true, true],
    [{}, true],
    [{ version: 1 }, true],
    [false, false],
    [null, false],
    ["yes", false],
  ])("[S1-50] says so also under `experimental`: %j", async (value, isAsked) => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: { tools: {}, experimental: { search_tool: value } },
      on: { "tools/search": search(["echo"]) },
    });
    await using _ = session;
    await session.callTool("fake", "echo", {});
    expect(server.methods().includes("tools/search")).toBe(isAsked);
  });

  test("[S1-51] is asked once for each tool, and never for its list", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: CAPABILITIES,
      on: { "tools/search": search(["echo"]) },
    });
    await using _ = session;
    for (let call = 0; call < 3; call++) await session.callTool("fake", "echo", {});
    const asked = server.methods().filter((method) => method.startsWith("tools/"));
    expect(asked).toEqual(["tools/search", "tools/call", "tools/call", "tools/call"]);
    expect(session.knownTool("fake", "echo")?.name).toBe("echo");
  });

  test("[S1-32] is believed when it has no such tool, and the call is not sent", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: CAPABILITIES,
      on: { "tools/search": search(["echoes"]) },
    });
    await using _ = session;
    await expect(session.callTool("fake", "echo", {})).rejects.toMatchObject({ category: "unknown-tool" });
    expect(server.methods()).not.toContain("tools/call");
    expect(server.methods()).not.toContain("tools/list");
  });

  test("[S1-49] that fails at it is asked for its list instead, once", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: CAPABILITIES,
      on: { "tools/search": { error: { code: -32601, message: "no such method" } } },
    });
    await using _ = session;
    await session.callTool("fake", "echo", {});
    await session.callTool("fake", "echo", {});
    const asked = server.methods().filter((method) => method.startsWith("tools/"));
    expect(asked).toEqual(["tools/search", "tools/list", "tools/call", "tools/call"]);
    await expect(session.callTool("fake", "nope", {})).rejects.toMatchObject({ category: "unknown-tool" });
  });

  test("whose list is known is not asked", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: CAPABILITIES,
      on: { "tools/search": search(["echo"]) },
    });
    await using _ = session;
    await session.listTools("fake");
    await session.callTool("fake", "echo", {});
    expect(server.methods()).not.toContain("tools/search");
  });
});

test("of a server in mcp.json ten thousand tools are read, and the listing says that there are more", async () => {
  await using home = await temporaryHome();
  const tools = Array.from({ length: 10_001 }, (_, index) => tool(`t${index}`));
  const server = await fakeStdio(home, { tools });
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args } } } });
  await using session = sessionOf(home);
  expect(await session.listTools("fake")).toHaveLength(10_000);
  expect(session.status("fake").notices.join()).toContain("more than 10000 tools");
});

test("`maxListItems` and `maxListPages` say how much of a list is read", async () => {
  await using home = await temporaryHome();
  const many = await fakeStdio(home, { tools: ["a", "b", "c"].map((name) => tool(name)) });
  const pages = await fakeStdio(home, { endlessCursor: true });
  home.write({
    settings: { mcpServers: [many.entry("many", { maxListItems: 2 }), pages.entry("pages", { maxListPages: 3 })] },
  });
  await using session = sessionOf(home);
  expect(await session.listTools("many")).toHaveLength(2);
  expect(await session.listTools("pages")).toHaveLength(3);
});

test("[S1-31] an unknown name is refused once the tools are known, with the names there are, and not sent", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { tools: [tool("echo"), tool("add")] });
  await using _ = session;
  await session.listTools("fake");
  await expect(session.callTool("fake", "ecco", {})).rejects.toMatchObject({
    category: "unknown-tool",
    message: expect.stringContaining("(available: echo, add)"),
  });
  expect(server.methods()).not.toContain("tools/call");
});

test("[S2-62] a server of an editor that says its tools have changed is listed again, and the host is told", async () => {
  await using home = await temporaryHome();
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const { command, args } = await fakeStdio(home, {
    capabilities: { tools: { listChanged: true } },
    on: {
      "tools/list": [{ result: { tools: [tool("echo")] } }, { result: { tools: [tool("echo"), tool("added")] } }],
      "tools/call": { notify: [changed], text: "ok" },
    },
  });
  const config = readAcpServers([{ name: "fake", command, args, env: [] }]);
  let tell: (server: string) => void = () => {};
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  await using session = createSession(config, { env: home.env(), cwd: home.cwd }, { toolsChanged: tell });
  expect((await session.listTools("fake")).map(({ name }) => name)).toEqual(["echo"]);
  await session.callTool("fake", "echo", {});
  expect(await told).toBe("fake");
  expect(session.knownTool("fake", "added")?.name).toBe("added");
});

test("[S1-63] a configured value is taken out of what a server sends back: of a result, a failed one, data and an error", async () => {
  const secret = 'pa"ss/word of-mine';
  await using home = await temporaryHome();
  const { session } = await sessionWith(
    home,
    {
      on: {
        "tools/call": [
          { env: "TOKEN" },
          { text: `so: ${secret}`, isError: true },
          { result: { content: [], structuredContent: { list: [{ token: secret }] } } },
          { error: { code: -32000, message: `no ${secret} here` } },
        ],
      },
    },
    { env: { TOKEN: secret } },
  );
  await using _ = session;
  for (let count = 0; count < 4; count++) {
    const { text } = await mcp(session, { action: "call", server: "fake", tool: "echo" });
    expect([count, text.includes("word of-mine"), text.length > 0]).toEqual([count, false, true]);
  }
});
