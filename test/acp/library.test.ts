import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { type AcpServersOptions, acpMcpCapabilities, connectAcpServers } from "../../src/acp/index.ts";
import type { JsonObject } from "../../src/protocol/types.ts";
import { fakeHttp, fakeStdio, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";

/** An editor that shows what it is sent, and answers what it is asked. */
function editor(answers: Record<string, unknown> = {}) {
  const shown: { sessionId: string; update: JsonObject }[] = [];
  const asked: { method: string; params: JsonObject }[] = [];
  const answer = (method: string) => async (params: JsonObject) => {
    asked.push({ method, params });
    return answers[method];
  };
  return {
    shown,
    asked,
    port: {
      update: (sessionId: string, update: JsonObject) => void shown.push({ sessionId, update }),
      requestPermission: answer("permission"),
      elicit: answer("elicitation"),
    },
  };
}

function connect(home: Home, list: unknown, options: AcpServersOptions = {}) {
  return connectAcpServers(list, { env: home.env(), cwd: home.cwd, ...options });
}

const stdio = ({ command, args }: { command: string; args: readonly string[] }, name: string) => ({
  name,
  command,
  args,
  env: [],
});

test("servers of each transport are connected, and their tools called by name", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, { tools: [tool("echo")] });
  const http = await fakeHttp({ tools: [tool("echo")] });
  await using servers = connect(home, [
    stdio(local, "my files/1"),
    { type: "http", name: "web", url: http.url, headers: [] },
  ]);
  await servers.ready();
  expect(servers.tools().map(({ name, server, tool, kind }) => ({ name, server, tool, kind }))).toEqual([
    { name: "mcp__my_files_1__echo", server: "my files/1", tool: "echo", kind: "other" },
    { name: "mcp__web__echo", server: "web", tool: "echo", kind: "other" },
  ]);
  for (const { name } of servers.tools()) expect(await servers.call(name, {})).toMatchObject({ isError: false });
  await http.close();
});

test("a bad entry, a server that does not start and a bad list cost nothing but themselves, and are said once, when the session has its id", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, { tools: [tool("echo")] });
  const { port, shown } = editor();
  const broken = { name: "broken", command: home.path("nothing"), args: [], env: [] };
  const list = [null, { type: "carrier-pigeon", name: "odd" }, broken, stdio(local, "good")];
  await using servers = connect(home, list, { port });
  await servers.ready();
  await servers.ready();
  expect(shown).toEqual([]);
  servers.bind("s1");
  expect(shown.map(({ sessionId, update }) => [sessionId, update.sessionUpdate])).toEqual(
    shown.map(() => ["s1", "agent_message_chunk"]),
  );
  const texts = shown.map(({ update }) => (update.content as { text: string }).text).join("");
  expect(texts).toContain('"odd"');
  expect(texts).toContain('MCP server "broken" did not start');
  expect(texts).not.toContain(home.path("nothing"));
  expect(shown).toHaveLength(3);
  expect(servers.tools().map(({ name }) => name)).toEqual(["mcp__good__echo"]);
});

test("an editor that shows notices gets notices", async () => {
  await using home = await temporaryHome();
  const { port, shown } = editor();
  const clientCapabilities = { session: { notices: {} } };
  await using servers = connect(home, [{ name: "odd" }], { port, clientCapabilities });
  servers.bind("s1");
  expect(shown.map(({ update }) => update)).toMatchObject([{ sessionUpdate: "notice", severity: "warning" }]);
});

test("[S2-22] nothing is said when all is well", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, { tools: [tool("echo")] });
  const { port, shown } = editor();
  await using servers = connect(home, [stdio(local, "good")], { port });
  servers.bind("s1");
  await servers.ready();
  await servers.call("mcp__good__echo", {});
  expect(shown).toEqual([]);
});

test("the first turn does not wait longer than it is told to, and says who is missing; its tools join later", async () => {
  await using home = await temporaryHome();
  const slow = await fakeStdio(home, { tools: [tool("echo")], on: { initialize: [{ delayMs: 400, usual: true }] } });
  const { port, shown } = editor();
  await using servers = connect(home, [stdio(slow, "slow")], { port, firstTurnMs: 20 });
  servers.bind("s1");
  // A turn that is cancelled waits for nothing, and one that has waited leaves nothing on its signal.
  await servers.ready(AbortSignal.abort());
  expect(shown).toEqual([]);
  const { signal } = new AbortController();
  await servers.ready(signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(JSON.stringify(shown)).toContain('\\"slow\\" is still starting');
  let told = 0;
  servers.on("tools", () => told++);
  await until("its tools", () => (servers.tools().length === 1 ? true : undefined));
  expect(told).toBe(1);
});

test("[S2-42] [S2-43] [S2-44] in mode ask each call is asked about under its own id, but for tools that say they are harmless; a refused one never reaches the server", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, {
    tools: [tool("write"), { ...tool("look"), annotations: { readOnlyHint: true } }],
  });
  const outcome = { outcome: { outcome: "selected", optionId: "deny" } };
  const { port, asked } = editor({ permission: outcome });
  await using servers = connect(home, [stdio(local, "fake")], { port, permission: "ask" });
  servers.bind("s1");
  await servers.ready();
  const refused = await servers.call("mcp__fake__write", { path: "a" }, { toolCallId: "call-7" });
  expect(refused).toMatchObject({ isError: true, details: { category: "denied" } });
  expect(asked).toMatchObject([
    {
      method: "permission",
      params: {
        sessionId: "s1",
        toolCall: { toolCallId: "call-7", title: "fake: write", kind: "other", rawInput: { path: "a" } },
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
      },
    },
  ]);
  expect(await servers.call("mcp__fake__look", {})).toMatchObject({ isError: false });
  expect(asked).toHaveLength(1);
  expect(local.params("tools/call")).toMatchObject([{ name: "look" }]);
});

test("[S2-28] [S2-29] [S2-30] [S2-31] /mcp shows the servers with state and tools, and connects one again", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, { tools: [tool("echo"), tool("more")] });
  await using servers = connect(home, [
    stdio(local, "good"),
    { name: "broken", command: home.path("nothing"), args: [] },
  ]);
  await servers.ready();
  const text = await servers.command("/mcp");
  expect(text).toContain("good: connected, 2 tools");
  expect(text).toContain("broken: failed");
  expect(await servers.command(" /mcp reconnect good")).toContain("good: connected");
  expect(local.starts()).toHaveLength(2);
  expect(await servers.command("/mcp reconnect nobody")).toContain("no MCP server configured with name `nobody`");
  expect(servers.command("/mcphisto")).toBeUndefined();
  expect(servers.command("what is /mcp?")).toBeUndefined();
});

test("a list that comes again changes only what is different in it", async () => {
  await using home = await temporaryHome();
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => fakeStdio(home, { tools: [tool("echo")] })));
  if (!one || !two || !three) throw new Error("no servers");
  await using servers = connect(home, [stdio(one, "one"), stdio(two, "two")]);
  await servers.ready();
  await servers.update([stdio(one, "one"), stdio(three, "three")]);
  await until("the tools of both", () => (servers.tools().length === 2 ? true : undefined));
  expect(servers.tools().map(({ name }) => name)).toEqual(["mcp__one__echo", "mcp__three__echo"]);
  expect(one.starts()).toHaveLength(1);
  expect(await servers.call("mcp__two__echo", {})).toMatchObject({ isError: true });
  await servers.update(undefined);
  expect(servers.tools()).toEqual([]);
});

test("of two servers of one name the one that is wanted is used, and it is said", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, { tools: [tool("echo")] });
  const names = async (onConflict: "acp" | "own" | "rename") => {
    const { port, shown } = editor();
    await using servers = connect(home, [stdio(local, "files")], { port, own: ["files"], onConflict });
    servers.bind("s1");
    await servers.ready();
    return [servers.tools().map(({ server }) => server), shown.length];
  };
  expect(await names("acp")).toEqual([["files"], 1]);
  expect(await names("own")).toEqual([[], 1]);
  expect(await names("rename")).toEqual([["files_2"], 0]);
});

test("a server that asks the person is heard through the editor, in the session it belongs to", async () => {
  await using home = await temporaryHome();
  const request = { message: "Which?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } };
  const local = await fakeStdio(home, {
    tools: [tool("echo")],
    on: { "tools/call": [{ ask: { method: "elicitation/create", params: request }, echo: true }] },
  });
  const { port, asked } = editor({ elicitation: { action: "accept", content: { a: "b" } } });
  await using servers = connect(home, [stdio(local, "fake")], {
    port,
    clientCapabilities: { elicitation: { form: {} } },
  });
  servers.bind("s1");
  await servers.ready();
  await servers.call("mcp__fake__echo", {});
  expect(asked).toMatchObject([
    { method: "elicitation", params: { sessionId: "s1", mode: "form", message: 'MCP server "fake": Which?' } },
  ]);
});

test("an agent says that servers are welcome in the words of its version", () => {
  expect(acpMcpCapabilities()).toEqual({ http: true, sse: true });
  expect(acpMcpCapabilities({ protocol: 2 })).toEqual({ stdio: {}, http: {} });
});
