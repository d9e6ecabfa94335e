import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import type { UiAnswer, UiRequest } from "../../ground/rpc-pi.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import type { Turn } from "../../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";

const call = (name: string, args: object = {}): Turn => ({
  call: { tool: "mcp", args: { action: "call", server: "files", tool: name, args } },
});

/** A person who gives these answers to dialogs one after the other; after the last one they do not answer. */
function person(...answers: readonly string[]) {
  const asked: UiRequest[] = [];
  return {
    asked,
    texts: () => asked.map(({ title }) => String(title)),
    dialogs: (request: UiRequest): UiAnswer | undefined => {
      if (!["select", "input", "confirm"].includes(request.method)) return undefined;
      const value = answers[asked.push(request) - 1];
      return value === undefined ? undefined : { value };
    },
  };
}

describe.each(HOSTS)("$name", (host) => {
  test("a call is asked about where the file says so: no, once, for the session, and not again", async () => {
    await using model = await scriptedModel([
      call("write", { path: "a" }),
      call("write", { path: "b" }),
      call("write", { path: "c" }),
      call("write", { path: "d" }),
      { say: "done" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [tool("write")], on: { "tools/call": { echo: true } } });
    home.write({
      settings: { mcpServers: [server.entry("files")] },
      files: { "agent/mcp.json": { permission: "ask" } },
    });
    const { dialogs, texts } = person("Deny", "Allow once", "Allow tool write for this session");
    await using pi = await rpcPi(host, home, { extension: EXTENSION, dialogs });
    await pi.prompt("go");
    const [denied, ...rest] = toolResults(model.requests[4]);
    expect(denied).toContain("User denied permission: tool `write` of MCP server `files` was not used");
    expect(rest.length).toBe(3);
    for (const text of rest) expect(text).toContain("tool `write`:");
    expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([
      { path: "b" },
      { path: "c" },
      { path: "d" },
    ]);
    expect(texts().map((text) => text.split("\n").slice(0, 2))).toEqual(
      ["a", "b", "c"].map((path) => ["Use tool `write` of MCP server `files`?", `  path: "${path}"`]),
    );
    expect(texts()[0]).toMatch(/You are asked because of mode `ask` \(.*mcp\.json:\d+\)/);
  });

  test("an abort takes the question away, and the server hears nothing of it", async () => {
    await using model = await scriptedModel([call("write"), { say: "done" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [tool("write")] });
    home.write({
      settings: { mcpServers: [server.entry("files")] },
      files: { "agent/mcp.json": { permission: "ask" } },
    });
    const { dialogs, asked } = person();
    await using pi = await rpcPi(host, home, { extension: EXTENSION, dialogs });
    const work = pi.prompt("go");
    await pi.waitFor(({ type, method }) => type === "extension_ui_request" && method === "select");
    await pi.send({ type: "abort" });
    await work;
    expect([asked.length, server.starts()]).toEqual([1, []]);
    await pi.send({ type: "prompt", message: "/mcp" });
  });

  test("print mode denies what would be asked about, tells the model why, and ends by itself", async () => {
    await using model = await scriptedModel([call("write"), { say: "done" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [tool("write")] });
    home.write({
      settings: { mcpServers: [server.entry("files")] },
      files: { "agent/mcp.json": { permission: "ask" } },
    });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([run.code, run.hung, server.starts()]).toEqual([0, false, []]);
    expect(toolResults(model.requests[1])[0]).toContain("nobody can be asked here. Do not try it again");
  });

  test("a server's form is filled in, corrected, reviewed and sent", async () => {
    await using model = await scriptedModel([call("ask"), { say: "done" }]);
    await using home = await temporaryHome({ model });
    const requestedSchema = {
      type: "object",
      properties: {
        name: { type: "string", title: "Your name", minLength: 2 },
        color: { type: "string", enum: ["red", "green"], default: "green" },
        sure: { type: "boolean" },
      },
      required: ["name", "sure"],
    };
    const ask = { method: "elicitation/create", params: { message: "Who are you?", requestedSchema } };
    const server = await fakeStdio(home, { tools: [tool("ask")], on: { "tools/call": { ask, text: "thanks" } } });
    const { name, ...entry } = server.entry("files");
    home.write({ files: { "agent/mcp.json": { mcpServers: { [name]: { ...entry, surface: "gateway" } } } } });
    const { dialogs, texts } = person("Answer", "A", "Ada", '(as the server has it: "green")', "Yes", "Send");
    await using pi = await rpcPi(host, home, { extension: EXTENSION, dialogs });
    await pi.prompt("go");
    const answer = server
      .received()
      .find(({ message }) => message?.method === undefined && message?.result !== undefined);
    expect(answer?.message?.result).toEqual({
      action: "accept",
      content: { name: "Ada", color: "green", sure: true },
    });
    expect(texts()[0]).toContain("MCP server `files` asks you:\nWho are you?");
    expect(texts()[2]).toContain("It must have at least 2 characters, not 1.");
    expect(texts()[5]).toContain('1. Your name: "Ada"\n  2. color: "green" (the server\'s default)\n  3. sure: true');
    const [initialize] = server.params("initialize");
    expect(initialize?.capabilities).toMatchObject({ elicitation: { form: {}, url: {} }, roots: {} });
  });

  test("an address is opened by nobody but the person", async () => {
    await using model = await scriptedModel([call("ask"), { say: "done" }]);
    await using home = await temporaryHome({ model });
    const params = { mode: "url", message: "Sign in.", url: "https://xn--pypal-4ve.com/a", elicitationId: "1" };
    const ask = { method: "elicitation/create", params };
    const server = await fakeStdio(home, { tools: [tool("ask")], on: { "tools/call": { ask, text: "thanks" } } });
    const { name, ...entry } = server.entry("files");
    home.write({ files: { "agent/mcp.json": { mcpServers: { [name]: { ...entry, surface: "gateway" } } } } });
    const { dialogs, texts } = person("I open it myself");
    await using pi = await rpcPi(host, home, { extension: EXTENSION, dialogs });
    await pi.prompt("go");
    const answer = server
      .received()
      .find(({ message }) => message?.method === undefined && message?.result !== undefined);
    expect(answer?.message?.result).toEqual({ action: "accept" });
    expect(texts()[0]).toContain("It leads to: xn--pypal-4ve.com\nCareful: written with letters of other scripts");
  });
});

test("what the file says by now holds, and is said", async () => {
  await using model = await scriptedModel([call("write"), { say: "one" }, call("write"), { say: "two" }]);
  await using home = await temporaryHome({ model });
  const server = await fakeStdio(home, { tools: [tool("write")] });
  home.write({ settings: { mcpServers: [server.entry("files")] } });
  const { dialogs, asked } = person("Deny");
  await using pi = await rpcPi(HOSTS[0], home, { extension: EXTENSION, dialogs });
  await pi.prompt("one");
  home.write({ files: { "agent/mcp.json": { permission: { mode: "ask", deny: ["other"] } } } });
  await pi.prompt("two");
  expect([asked.length, server.params("tools/call").length]).toEqual([1, 1]);
  const said = pi.ui.map(({ message }) => String(message));
  expect(said).toContainEqual(expect.stringMatching(/^Permission: mode ask \(.*mcp\.json:\d+\), 1 rule\.$/));
});

test("without anybody to ask, servers are not offered to ask", async () => {
  await using model = await scriptedModel([call("echo"), { say: "done" }]);
  await using home = await temporaryHome({ model });
  const server = await fakeStdio(home);
  const { name, ...entry } = server.entry("files");
  home.write({ files: { "agent/mcp.json": { mcpServers: { [name]: { ...entry, surface: "gateway" } } } } });
  await runPi(HOSTS[0], home, { mode: "print", prompt: "go", extension: EXTENSION });
  expect(server.params("initialize")[0]?.capabilities).not.toHaveProperty("elicitation");
});

const SAMPLING = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "How many?" } }], maxTokens: 50 },
};

test("a server that may ask the model does so with two consents, where the host can ask its model", async () => {
  await using model = await scriptedModel([call("ask"), { say: "Five." }, { say: "done" }]);
  await using home = await temporaryHome({ model });
  const server = await fakeStdio(home, {
    tools: [tool("ask")],
    on: { "tools/call": { ask: SAMPLING, text: "thanks" } },
  });
  home.write({ settings: { mcpServers: [server.entry("files", { sampling: true })] } });
  const { dialogs, texts } = person("Ask the model", "Send it");
  await using pi = await rpcPi(HOSTS[0], home, { extension: EXTENSION, dialogs });
  await pi.prompt("go");
  expect(server.params("initialize")[0]?.capabilities).toHaveProperty("sampling");
  const answer = server
    .received()
    .find(({ message }) => message?.method === undefined && message?.result !== undefined);
  expect(answer?.message?.result).toEqual({
    role: "assistant",
    content: { type: "text", text: "Five." },
    model: "scripted-1",
    stopReason: "endTurn",
  });
  expect(model.requests[1]?.tools).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "user" });
  expect(texts()).toEqual([
    "MCP server `files` wants to ask your model (scripted-1, at most 50 tokens):\n\nuser: How many?",
    "The answer of scripted-1, to be sent to MCP server `files`:\n\nFive.",
  ]);
});

test("the oldest pi has no way to ask its model: it is not offered, and that is said", async () => {
  await using model = await scriptedModel([call("echo"), { say: "done" }]);
  await using home = await temporaryHome({ model });
  const server = await fakeStdio(home);
  home.write({ settings: { mcpServers: [server.entry("files", { sampling: true })] } });
  await using pi = await rpcPi(HOSTS[1], home, { extension: EXTENSION });
  await pi.prompt("go");
  expect(server.params("initialize")[0]?.capabilities).not.toHaveProperty("sampling");
  expect(pi.ui.map(({ message }) => message)).toContainEqual(
    expect.stringContaining("no way to ask its model: files."),
  );
});

test("nobody is offered to ask the model who may not", async () => {
  await using model = await scriptedModel([call("echo"), { say: "done" }]);
  await using home = await temporaryHome({ model });
  const server = await fakeStdio(home);
  home.write({ settings: { mcpServers: [server.entry("files")] } });
  await using pi = await rpcPi(HOSTS[0], home, { extension: EXTENSION });
  await pi.prompt("go");
  expect(server.params("initialize")[0]?.capabilities).not.toHaveProperty("sampling");
});
