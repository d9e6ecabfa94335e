import { expect, test } from "vitest";
import { ToolNames } from "../../src/catalog/names.ts";
import { readAcpServers } from "../../src/config/acp.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import { directTools } from "../../src/tools/direct.ts";
import { fakeHttp, fakeStdio, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { mcp } from "./open.ts";

function sessionOver(home: Home, list: unknown, more: Record<string, string> = {}): McpSession {
  return createSession(readAcpServers(list), { env: home.env(more), cwd: home.cwd });
}

const call = { action: "call", server: "fake", tool: "echo" };

test("[S2-11] [S2-12] a stdio and an HTTP server of an editor are connected and called", async () => {
  await using home = await temporaryHome();
  const stdio = await fakeStdio(home, { tools: [tool("echo")] });
  const http = await fakeHttp({ tools: [tool("echo")] });
  const { command, args } = stdio;
  const list = [
    { name: "local", command, args, env: [] },
    { type: "http", name: "remote", url: http.url, headers: [] },
  ];
  const session = sessionOver(home, list);
  for (const server of ["local", "remote"]) expect((await mcp(session, { ...call, server })).isError).toBe(false);
  await session.close();
  await http.close();
});

test("[S2-45] [S2-46] [S2-47] [S2-48] [S2-49] its process gets what it needs, what the editor passed as it is, and nothing of the agent's own", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const { command, args } = server;
  const env = [
    { name: "TERM", value: "editor" },
    { name: "LITERAL", value: "${HOME}" },
  ];
  const agent = { ANTHROPIC_API_KEY: "sk-of-the-agent", SHELL: "/bin/sh", LOGNAME: "me", SSL_CERT_FILE: "/ca.pem" };
  const session = sessionOver(home, [{ name: "fake", command, args, env }], agent);
  await mcp(session, call);
  await session.close();
  const given = server.launches()[0]?.env ?? {};
  for (const name of ["HOME", "LOGNAME", "PATH", "SHELL", "USER"]) expect(given).toHaveProperty(name);
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"]) expect(given).toHaveProperty(name);
  expect(given).toMatchObject({ TERM: "editor", LITERAL: "${HOME}" });
  expect(given).not.toHaveProperty("ANTHROPIC_API_KEY");
});

test("[S2-27] a call that was under way when the server died fails with that reason and is not repeated", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { on: { "tools/call": [{ exit: 1 }, { echo: true }] } });
  const { command, args } = server;
  const session = sessionOver(home, [{ name: "fake", command, args, env: [] }]);
  expect((await mcp(session, call)).text).toBe(
    "MCP server `fake`: its process exited with code 1. The request may have run; it was not repeated",
  );
  expect(server.params("tools/call")).toHaveLength(1);
  await session.close();
});

test("[S2-53] no error holds the address, a header, an argument or a value of the environment", async () => {
  await using home = await temporaryHome();
  const unauthorized = await fakeHttp({ on: { "*": { status: 401 } } });
  const gone = await fakeHttp();
  await gone.close();
  const secret = "zq-hidden-zq";
  const headers = [{ name: "X-Api-Key", value: secret }];
  const dying = await fakeStdio(home, { startup: { exit: 1 } });
  const list = [
    { type: "http", name: "refused", url: `${gone.url}?key=${secret}`, headers },
    { type: "http", name: "unauthorized", url: `${unauthorized.url}?key=${secret}`, headers },
    { type: "http", name: "nowhere", url: `http://${secret}.invalid/mcp`, headers },
    { name: "missing", command: `/no/such/${secret}`, args: [secret], env: [{ name: "TOKEN", value: secret }] },
    { name: "dying", command: dying.command, args: [...dying.args, secret], env: [{ name: "TOKEN", value: secret }] },
  ];
  const session = sessionOver(home, list);
  for (const { name } of list) {
    const { text, isError } = await mcp(session, { ...call, server: name });
    expect(isError).toBe(true);
    expect(text).toContain(`MCP server \`${name}\``);
    expect(text).not.toMatch(/zq-hidden-zq|127\.0\.0\.1|http:|stdio-process|invalid/);
  }
  await session.close();
  await unauthorized.close();
});

test("[S2-40] [S2-41] more than 50 KB of text is cut, and only then a note says so", async () => {
  await using home = await temporaryHome();
  const texts = ["é".repeat(25 * 1024), "é".repeat(25 * 1024 + 1), "line of text\n".repeat(20_000)];
  const steps = texts.flatMap((text) => [{ text }, { text }]);
  const { command, args } = await fakeStdio(home, { on: { "tools/call": steps } });
  await using session = sessionOver(home, [{ name: "fake", command, args, env: [] }]);
  const tools = await session.listTools("fake");
  for (const [index, text] of texts.entries()) {
    const direct = await directTools(session, "fake", tools, new ToolNames())[0]?.run({ args: {} });
    const [block] = direct?.content ?? [];
    const said = [block?.type === "text" ? block.text : "", (await mcp(session, call)).text.replace(/^.*\n/, "")];
    for (const each of said) {
      const [, shown = each, note] = /^(.*)\n(\[output truncated: .*\])\n?$/s.exec(each) ?? [];
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(50 * 1024 + (index === 0 ? 1 : 0));
      expect(note !== undefined).toBe(index > 0);
      if (index === 0) expect(shown.trimEnd()).toBe(text);
    }
  }
});

test("[S2-60] it is offered no resources, prompts, sampling, roots or elicitation, and asking for them is answered so", async () => {
  await using home = await temporaryHome();
  const methods = ["sampling/createMessage", "roots/list", "elicitation/create", "resources/list", "prompts/list"];
  const { command, args, ...server } = await fakeStdio(home, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    on: { "tools/call": methods.map((method) => ({ ask: { method, params: {} }, echo: true as const })) },
  });
  await using session = sessionOver(home, [{ name: "fake", command, args, env: [] }]);
  for (const _ of methods) expect((await mcp(session, call)).isError).toBe(false);
  const [declared] = server.params("initialize").map((params) => params?.capabilities as object);
  for (const name of ["roots", "sampling", "elicitation"]) expect(declared).not.toHaveProperty(name);
  const answers = server
    .received()
    .flatMap(({ message }) => (message?.method === undefined ? [message?.error?.code] : []));
  expect(answers).toEqual(methods.map(() => -32601));
  expect(server.methods().filter((method) => /^(resources|prompts)\//.test(method))).toEqual([]);
});
