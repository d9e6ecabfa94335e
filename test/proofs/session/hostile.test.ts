import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { reportServers } from "../../../src/session/report.ts";
import { fakeHttp, fakeStdio, tool } from "../../ground/fake-server.ts";
import type { Home } from "../../ground/home.ts";
import { temporaryHome } from "../../ground/home.ts";
import { HOSTS } from "../../ground/run-pi.ts";
import { mcp, sessionOf, sessionWith } from "../../session/open.ts";

const CLI = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));
const call = { action: "call", server: "fake", tool: "echo" };

function cli(
  node: string,
  home: Home,
  ...args: string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(node, [CLI, ...args], { cwd: home.cwd, env: home.env(), stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, ...output }));
  });
}

const nodes = HOSTS.map(({ version, node }) => ({ version, node }));

describe.each(nodes)("on the Node of pi $version", ({ node }) => {
  test("a progress token that is no primitive costs that notification, not the process", async () => {
    await using home = await temporaryHome();
    const params = { progress: 1, progressToken: { toString: 1, valueOf: 1 } };
    const server = await fakeStdio(home, {
      on: { "tools/call": { notify: [{ jsonrpc: "2.0", method: "notifications/progress", params }], text: "fine" } },
    });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    expect(await cli(node, home, "call", "fake", "echo")).toEqual({ code: 0, stdout: "fine\n", stderr: "" });
  });

  test("an error without a message and nested deeply is a failed call, not the end of the process", async () => {
    await using home = await temporaryHome();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const raw = `{"jsonrpc":"2.0","id":{{id}},"error":{"code":1,"data":${deep}}}\n`;
    const server = await fakeStdio(home, { on: { "tools/call": { raw } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const ended = await cli(node, home, "call", "fake", "echo");
    expect(ended.stderr).toMatch(/^pi-mcp: MCP server `fake`: .*\n$/);
    expect(ended.code).toBe(10);
  });

  test("an error code that is no number reaches no terminal as it is", async () => {
    await using home = await temporaryHome();
    const raw = `{"jsonrpc":"2.0","id":{{id}},"error":{"code":"\\u001b]0;pwned\\u0007\\u001b[2J","message":"no"}}\n`;
    const server = await fakeStdio(home, { on: { "tools/call": { raw } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const ended = await cli(node, home, "call", "fake", "echo");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(ended.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

test("an error code that is an object is still an McpServerError", async () => {
  await using home = await temporaryHome();
  const raw = `{"jsonrpc":"2.0","id":{{id}},"error":{"code":{"toString":1},"message":"no"}}\n`;
  const { session } = await sessionWith(home, { on: { "tools/call": { raw } } });
  await using _ = session;
  await expect(session.callTool("fake", "echo", {})).rejects.toMatchObject({ name: "McpServerError" });
});

test("a secret that lies across the cut of a server's error text is not shown in part", async () => {
  const secret = "s3cr3t-value-of-mine";
  await using home = await temporaryHome();
  const message = `${"x".repeat(1_990)}${secret}`;
  const { session } = await sessionWith(
    home,
    { on: { "tools/call": { error: { code: -32000, message } } } },
    { env: { TOKEN: secret } },
  );
  await using _ = session;
  expect((await mcp(session, call)).text).not.toContain("s3cr3t-val");
});

test("progress messages are cleaned and hold no configured secret", async () => {
  const secret = "s3cr3t-value-of-mine";
  await using home = await temporaryHome();
  const { session } = await sessionWith(
    home,
    { on: { "tools/call": { progress: [{ progress: 1, message: `\u001b[2Jusing ${secret}` }], text: "done" } } },
    { env: { TOKEN: secret } },
  );
  await using _ = session;
  const seen: string[] = [];
  await session.callTool("fake", "echo", {}, { onProgress: ({ message }) => seen.push(String(message)) });
  expect(seen.join()).not.toContain(secret);
});

test("a tool behind the 512th is called after a listing as it is before one", async () => {
  await using home = await temporaryHome();
  const tools = Array.from({ length: 600 }, (_, index) => tool(`t${index}`));
  const { session } = await sessionWith(home, { tools });
  await using _ = session;
  expect((await mcp(session, { ...call, tool: "t599" })).isError).toBe(false);
  await mcp(session, { action: "list_tools", server: "fake" });
  expect((await mcp(session, { ...call, tool: "t599" })).isError).toBe(false);
});

test("a tool that came with list_changed is called", async () => {
  await using home = await temporaryHome();
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  const { session } = await sessionWith(home, {
    tools: [tool("echo"), tool("added")],
    on: {
      "tools/list": [{ result: { tools: [tool("echo")] } }, { usual: true }],
      "tools/call echo": { notify: [changed], text: "ok" },
    },
  });
  await using _ = session;
  await mcp(session, { action: "list_tools", server: "fake" });
  await mcp(session, call);
  expect(await mcp(session, { ...call, tool: "added" })).toMatchObject({ isError: false });
});

test("a tool whose name holds a configured value can be listed and then called", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, { tools: [tool("basic_search")] }, { env: { AUTH_MODE: "basic" } });
  await using _ = session;
  const [listed] = await session.listTools("fake");
  expect(await mcp(session, { ...call, tool: listed?.name })).toMatchObject({ isError: false });
});

test("a request limit of a day is no limit of a millisecond", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(
    home,
    { on: { "tools/call": { delayMs: 300, echo: true } } },
    { requestTimeoutMs: 86_400_000 },
  );
  await using _ = session;
  expect(await mcp(session, call)).toMatchObject({ isError: false });
});

test("a listener that throws does not end the host", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, { on: { "tools/call": { progress: [1], text: "done" } } });
  await using _ = session;
  const uncaught: unknown[] = [];
  const before = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => uncaught.push(error));
  try {
    const onProgress = () => {
      throw new Error("listener");
    };
    await session.callTool("fake", "echo", {}, { onProgress, timeoutMs: 2000 }).catch(() => {});
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const each of before) process.on("uncaughtException", each);
  }
  expect(uncaught).toEqual([]);
});

test("an answer that repeats its method is an answer", async () => {
  await using home = await temporaryHome();
  const raw = `{"jsonrpc":"2.0","id":{{id}},"method":"tools/call","result":{"content":[{"type":"text","text":"fine"}]}}\n`;
  const { session } = await sessionWith(home, { on: { "tools/call": { raw } } }, { requestTimeoutMs: 1_000 });
  await using _ = session;
  expect(await mcp(session, call)).toMatchObject({ isError: false });
});

test("an error answer with the id null fails the one request there is, with what it says", async () => {
  await using home = await temporaryHome();
  const raw = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: line too long"}}\n`;
  const { session } = await sessionWith(home, { on: { "tools/call": { raw } } }, { requestTimeoutMs: 2_000 });
  await using _ = session;
  await session.listTools("fake");
  expect((await mcp(session, call)).text).toContain("line too long");
});

test("a server that asks without end and reads no answer does not fill the memory", async () => {
  await using home = await temporaryHome();
  const code = `process.stdin.once("data", (d) => { process.stdin.pause(); const m = JSON.parse(String(d).split("\\n")[0]);
    process.stdout.write(JSON.stringify({jsonrpc:"2.0",id:m.id,result:{protocolVersion:"2024-11-05",capabilities:{},serverInfo:{name:"x",version:"1"}}})+"\\n");
    const chunk = (JSON.stringify({jsonrpc:"2.0",id:7,method:"ping"})+"\\n").repeat(1000);
    const go = () => { while (process.stdout.write(chunk)); process.stdout.once("drain", go); }; setTimeout(go, 50); });`;
  home.write({ settings: { mcpServers: [{ name: "fake", command: process.execPath, args: ["-e", code] }] } });
  const [host] = HOSTS;
  const child = spawn(host.node, ["--max-old-space-size=128", CLI, "call", "fake", "echo", "--timeout", "4"], {
    cwd: home.cwd,
    env: home.env(),
    stdio: "ignore",
  });
  const ended = await new Promise((resolve) => child.once("close", (code, signal) => resolve([code, signal])));
  expect(ended).toEqual([4, null]);
});

test("a schema keeps its numbers, enums and required names whatever the environment holds", async () => {
  await using home = await temporaryHome();
  const inputSchema = {
    type: "object",
    properties: { token: { type: "string" }, mode: { enum: ["basic", "token"] }, n: { type: "number", maximum: 100 } },
    required: ["token"],
  };
  const { session } = await sessionWith(
    home,
    { tools: [tool("echo", { inputSchema })] },
    { env: { MAX_TOKENS: "100", AUTH_MODE: "token" } },
  );
  await using _ = session;
  const [listed] = await session.listTools("fake");
  expect(listed?.inputSchema).toEqual(inputSchema);
});

test("a variable that is not set is named when the server then refuses", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { initialize: { status: 401, body: "" } } });
  home.write({
    mcp: { mcpServers: { fake: { url: server.url, headers: { Authorization: "Bearer ${DOCS_TOKEN}" } } } },
  });
  const session = sessionOf(home);
  const { text } = await mcp(session, call);
  await session.close();
  await server.close();
  expect(text).toContain("DOCS_TOKEN");
});

test("a list of tools that is no list is told, not shown as a server without tools", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, { on: { "tools/list": { result: { tools: "none" } } } });
  await using _ = session;
  expect((await mcp(session, { action: "list_tools", server: "fake" })).text).toMatch(/no list/);
});

test("a dropped tool is told", async () => {
  await using home = await temporaryHome();
  const tools = [tool("good"), { name: "scalar", inputSchema: { type: "string" } }];
  const { session } = await sessionWith(home, { on: { "tools/list": { result: { tools } } } });
  await using _ = session;
  expect(await session.listTools("fake")).toHaveLength(1);
  expect(await reportServers(session)).toMatch(/^fake: connected, 1 tool\n {4}\(tool "scalar" was left out: .*\)$/);
});

test("a secret that lies across the cut of noise on stdout is not shown in part", async () => {
  const secret = "s3cr3t-value-of-mine";
  await using home = await temporaryHome();
  const { session } = await sessionWith(
    home,
    { startup: { stdout: `${"x".repeat(185)}${secret}\n`, exit: 1 } },
    { env: { TOKEN: secret } },
  );
  await using _ = session;
  expect((await mcp(session, call)).text).not.toContain("s3cr3t-value");
});

test("an answer over the message cap fails its call with that reason, not as a time-out", async () => {
  await using home = await temporaryHome();
  const raw = [
    `{"jsonrpc":"2.0","id":{{id}},"result":{"content":[{"type":"text","text":"`,
    { repeat: "x".repeat(1024), times: 65 * 1024 },
    `"}]}}\n`,
  ];
  const { session } = await sessionWith(home, { on: { "tools/call": { raw } } }, { requestTimeoutMs: 8_000 });
  await using _ = session;
  const answer = await mcp(session, call);
  expect(answer.text).not.toContain("timed out");
  expect(answer.text).toMatch(/larger|too large|64 MiB/);
});
