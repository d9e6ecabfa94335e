import { describe, expect, test } from "vitest";
import type { McpSession } from "../../src/session/session.ts";
import { fakeHttp, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

test("[S1-18] [S1-24] [S1-25] list_servers shows each configured server with its name and transport", async () => {
  await using home = await temporaryHome({
    settings: {
      mcpServers: [
        { name: "zeta", command: "npx", args: ["-y", "x"] },
        { name: "alpha", command: "server" },
      ],
    },
  });
  await using session = sessionOf(home);
  const { text, isError } = await mcp(session, { action: "list_servers" });
  expect(text).toBe("MCP servers (2 configured):\n- alpha (stdio: server)\n- zeta (stdio: npx -y x)");
  expect(isError).toBe(false);
});

test("list_servers shows an HTTP server's address without its secrets", async () => {
  const url = "https://user:hunter22@example.invalid/mcp?key=abcdef123456";
  await using home = await temporaryHome({ mcp: { mcpServers: { web: { url } } } });
  await using session = sessionOf(home);
  const { text } = await mcp(session, { action: "list_servers" });
  expect(text).toContain("- web (http: https://***@example.invalid/mcp?key=***)");
});

test("list_servers shows a command line without the secrets in it, also inside a script", async () => {
  const token = `ghp_${"a1".repeat(18)}`;
  await using home = await temporaryHome({
    settings: {
      mcpServers: [
        { name: "a", command: "sh", args: ["-c", `curl -H 'Authorization: Bearer ${token}' x`] },
        { name: "b", command: "sh", args: ["-c", "export API_KEY=hunter2hunter2; exec server"] },
      ],
    },
  });
  await using session = sessionOf(home);
  const { text } = await mcp(session, { action: "list_servers" });
  expect(text).not.toContain(token);
  expect(text).not.toContain("hunter2hunter2");
});

test("list_servers says what to do when nothing is configured", async () => {
  await using home = await temporaryHome();
  await using session = sessionOf(home);
  expect((await mcp(session, { action: "list_servers" })).text).toContain("No MCP servers configured. Add entries");
});

test("[S1-37] [S1-26] a server is started by the first call that needs it and marked live until it is gone", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  expect((await mcp(session, { action: "list_servers" })).text).not.toContain("(live)");
  expect(server.starts()).toEqual([]);
  await mcp(session, { action: "call", server: "fake", tool: "echo" });
  expect((await mcp(session, { action: "list_servers" })).text).toContain("- fake (live)");
  process.kill(session.status("fake").pid ?? 0, "SIGKILL");
  await until("the session to notice", () => session.status("fake").state === "stopped" || undefined);
  expect((await mcp(session, { action: "list_servers" })).text).not.toContain("(live)");
});

test("[S1-19] [S1-30] list_tools gives one row for each tool with name and description", async () => {
  await using home = await temporaryHome();
  const tools = [
    tool("add", { description: "Adds\n two numbers. " }),
    tool("bare", { description: undefined }),
    tool("long", { description: "x".repeat(300) }),
  ];
  const { session } = await sessionWith(home, { tools });
  await using _ = session;
  const { text } = await mcp(session, { action: "list_tools", server: " fake " });
  expect(text.split("\n")).toEqual([
    "Tools from MCP server `fake` (3):",
    "- add — Adds two numbers.",
    "- bare",
    `- long — ${"x".repeat(200)}…`,
  ]);
});

test("list_tools says so when there are none", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, { tools: [] });
  await using _ = session;
  expect((await mcp(session, { action: "list_tools", server: "fake" })).text).toBe(
    "MCP server `fake` advertises no tools.",
  );
});

test("[S1-61] list_tools gives as many whole rows as the server's limit has room for, and the number of the others", async () => {
  await using home = await temporaryHome();
  const tools = Array.from({ length: 512 }, (_, n) => tool(`tool_${n}`, { description: "d".repeat(300) }));
  const { session } = await sessionWith(home, { tools });
  await using _ = session;
  const { text } = await mcp(session, { action: "list_tools", server: "fake" });
  const [heading, ...rows] = text.split("\n");
  const notice = rows.pop();
  expect(heading).toBe("Tools from MCP server `fake` (512):");
  expect(Buffer.byteLength(rows.join("\n"))).toBeLessThan(32 * 1024);
  expect(Buffer.byteLength(rows.join("\n"))).toBeGreaterThan(32 * 1024 - 250);
  expect(rows).toEqual(rows.map((_, n) => `- tool_${n} — ${"d".repeat(200)}…`));
  expect(notice).toBe(`[${512 - rows.length} more tools not shown; they can be called, too]`);
});

test("[S1-20] [S1-21] [S1-22] call sends the arguments as an object, given as an object, as JSON text or not at all", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  const call = { action: "call", server: "fake", tool: "echo" };
  for (const args of [{ a: 1 }, '{"a":1}', undefined, null, " "]) {
    expect((await mcp(session, { ...call, args })).isError).toBe(false);
  }
  expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([
    { a: 1 },
    { a: 1 },
    undefined,
    undefined,
    undefined,
  ]);
});

test("[S1-23] call refuses arguments that are no object, and sends nothing", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  for (const args of [[1], 7, "not json", "[1]", '"text"', true]) {
    const { text, isError, details } = await mcp(session, { action: "call", server: "fake", tool: "echo", args });
    expect([isError, details.category]).toEqual([true, "validation"]);
    expect(text).toMatch(/^mcp call `args` must (be a JSON object or a JSON string|parse to a JSON object)/);
  }
  expect(server.starts()).toEqual([]);
});

test("call refuses a number that would arrive as another one, and sends nothing", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await using _ = session;
  const call = { action: "call", server: "fake", tool: "echo" };
  for (const number of ["12345678901234567890", "-9007199254740993", "1e999"]) {
    const { text, isError } = await mcp(session, { ...call, args: `{"id": ["\\"7", ${number}]}` });
    expect([text, isError]).toEqual([
      `mcp call \`args\` must hold numbers that can be sent unchanged, and ${number} is too large; is it meant as text, in quotes?`,
      true,
    ]);
  }
  expect(server.starts()).toEqual([]);
  const text = '{"id":"12345678901234567890","n":[0.1,1e21,9007199254740992,100000000000000000000]}';
  expect((await mcp(session, { ...call, args: text })).isError).toBe(false);
  expect(server.params("tools/call")[0]?.arguments).toEqual(JSON.parse(text));
});

test("a failure that is nobody's wrong use is not called one", async () => {
  const broken = {
    get servers(): never {
      throw new TypeError("a defect");
    },
  } as unknown as McpSession;
  const { text, details } = await mcp(broken, { action: "list_servers" });
  expect([text, details.category]).toEqual(["a defect", "other"]);
});

test.each([
  [{}, "mcp action is required (one of: list_servers, list_tools, call)"],
  [{ action: "fly" }, "unknown mcp action `fly` (expected one of: list_servers, list_tools, call)"],
  [{ action: "list_tools" }, "mcp `server` is required for this action"],
  [{ action: "call", server: "fake" }, "mcp call requires a `tool` name"],
  [{ action: "call", server: "nope", tool: "x" }, "no MCP server configured with name `nope`; configured: fake"],
])("a wrong use %j is answered with what is missing", async (args, message) => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, {});
  await using _ = session;
  const { text, isError } = await mcp(session, args);
  expect(text).toBe(message);
  expect(isError).toBe(true);
});

test("a tool that reports an error is an answer and keeps its connection", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: { "tools/call": { text: "no such city", isError: true } },
  });
  await using _ = session;
  const first = await mcp(session, { action: "call", server: "fake", tool: "echo" });
  await mcp(session, { action: "call", server: "fake", tool: "echo" });
  expect(first.text).toBe("MCP server `fake` tool `echo` reported an error:\nno such city\n");
  expect(first.details).toMatchObject({ server: "fake", tool: "echo", isError: true });
  expect(server.starts()).toHaveLength(1);
});

test("an unknown tool is answered without asking the server once its tools are known", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { tools: [tool("echo"), tool("add")] });
  await using _ = session;
  await mcp(session, { action: "list_tools", server: "fake" });
  const { text, details } = await mcp(session, { action: "call", server: "fake", tool: "ecko" });
  expect(text).toBe("MCP server `fake` has no tool `ecko` (available: echo, add)");
  expect(details).toMatchObject({ category: "unknown-tool" });
  expect(server.methods()).not.toContain("tools/call");
});

test("[S1-33] a result is cut at 32 KiB, says so, and is whole text up to there", async () => {
  await using home = await temporaryHome();
  const { session } = await sessionWith(home, { on: { "tools/call": { text: "é".repeat(50_000) } } });
  await using _ = session;
  const { text, details } = await mcp(session, { action: "call", server: "fake", tool: "echo" });
  const [head, ...rest] = text.split("\n");
  const body = rest.join("\n").slice(0, rest.join("\n").indexOf("\n[output truncated"));
  expect(head).toBe("MCP server `fake` tool `echo`:");
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(32 * 1024);
  expect(Buffer.byteLength(body)).toBeGreaterThan(32 * 1024 - 4);
  expect(body).not.toContain("\uFFFD");
  expect(text).toContain("[output truncated");
  expect(details).toMatchObject({ truncated: true });
});

test("[S2-12] [S3-43] a server with only a url is called over Streamable HTTP, answers as JSON or as a stream", async () => {
  await using home = await temporaryHome();
  for (const sse of [false, true]) {
    const server = await fakeHttp({ sse });
    home.write({ mcp: { mcpServers: { web: { url: server.url } } } });
    await using session = sessionOf(home);
    const { text } = await mcp(session, { action: "call", server: "web", tool: "echo", args: { a: "é" } });
    expect(text).toContain('{"a":"é"}');
    const posts = server.received().filter(({ httpMethod }) => httpMethod === "POST");
    expect(posts.map(({ headers }) => headers?.accept)).toContain("application/json, text/event-stream");
    expect(posts.at(-1)?.headers?.["mcp-session-id"]).toBeTruthy();
    expect(posts.at(-1)?.headers?.["mcp-protocol-version"]).toBe("2025-11-25");
    await session.close();
    expect(server.received().at(-1)?.httpMethod).toBe("DELETE");
  }
});

test("[S3-01] servers are read from the mcpServers object of mcp.json, by name", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp();
  home.write({ mcp: { mcpServers: { one: { url: server.url }, two: { command: "never-started" } } } });
  await using session = sessionOf(home);
  expect(session.servers.map(({ name }) => name)).toEqual(["one", "two"]);
  expect((await mcp(session, { action: "list_tools", server: "one" })).text).toContain("- echo");
});

test("no process is alive after the session was closed", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {});
  await mcp(session, { action: "call", server: "fake", tool: "echo" });
  await session.close();
  expect(server.starts().filter(isAlive)).toEqual([]);
  const { text, isError } = await mcp(session, { action: "call", server: "fake", tool: "echo" });
  expect([text, isError]).toEqual(["MCP server `fake`: the session is closed", true]);
});

describe("an answer that sounds as if there were no such tool", () => {
  const call = { action: "call", server: "fake", tool: "nope" };

  test.each([
    ["an error of the protocol", undefined],
    ["an error of another code", { error: { code: -32601, message: "Method not found" } }],
    ["an error in words of its own", { error: { code: -32000, message: "Tool nope doesn't exist" } }],
    ["a result", { text: "MCP error -32602: Tool nope not found", isError: true as const }],
  ])("is taken for that when the server's list has none: %s", async (_, step) => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, step ? { on: { "tools/call": step } } : {});
    await using _session = session;
    const { text, details } = await mcp(session, call);
    expect(text).toBe("MCP server `fake` has no tool `nope` (available: echo)");
    expect(details).toMatchObject({ category: "unknown-tool", isError: true });
    expect(server.methods().filter((method) => method.startsWith("tools/"))).toEqual(["tools/call", "tools/list"]);
  });

  test("stays what it is when the list has the tool, cannot be had, or does not end", async () => {
    await using home = await temporaryHome();
    const text = "tool echo not found in the kitchen";
    const says = { "tools/call": { text, isError: true as const } };
    const refused = { error: { code: -32601, message: "no lists here" } };
    for (const script of [
      { on: says },
      { on: { ...says, "tools/list": refused } },
      { on: says, tools: [tool("other")], endlessCursor: true },
    ]) {
      const { session } = await sessionWith(home, script);
      await using _ = session;
      const answer = await mcp(session, { ...call, tool: "echo" });
      expect(answer.text).toBe(`MCP server \`fake\` tool \`echo\` reported an error:\n${text}\n`);
      expect(answer.details).not.toHaveProperty("category");
    }
  });

  test("is the only reason for a listing: a call that goes well, or fails otherwise, costs none", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      on: { "tools/call": [{ echo: true }, { text: "this tool could not reach the moon", isError: true }] },
    });
    await using _ = session;
    for (let round = 0; round < 2; round++) await mcp(session, { ...call, tool: "echo" });
    expect(server.methods()).not.toContain("tools/list");
  });
});

test("a time-out names what set the limit", async () => {
  await using home = await temporaryHome();
  const silent = await fakeHttp({ on: { "tools/call": { silent: true }, "tools/list": { silent: true } } });
  const mute = await fakeHttp({ on: { initialize: { silent: true } } });
  const entry = (name: string, { url }: { url: string }, more: object = {}) => ({ name, url, ...more });
  home.write({
    settings: {
      mcpServers: [
        entry("both", silent, { requestTimeoutMs: 1_500 }),
        entry("call", silent, { requestTimeoutMs: 1_500, timeout: 0.2 }),
        entry("tool", silent, { tool_timeout_sec: 0.2, startup_timeout_sec: 1.4 }),
        entry("none", silent),
        entry("start", mute, { startup_timeout_sec: 0.2, timeout: 5 }),
      ],
    },
  });
  await using session = sessionOf(home);
  const hint = async (failing: Promise<unknown>) => {
    const error = await failing.then(
      () => new Error("it did not fail"),
      (thrown: unknown) => thrown as Error,
    );
    return error.message.replace(/^.*timed out after /, "").replace(/ in \/.*settings\.json:\d+/, " in FILE");
  };
  const texts = await Promise.all([
    hint(session.callTool("both", "echo", {})),
    hint(session.listTools("both")),
    hint(session.callTool("call", "echo", {})),
    hint(session.listTools("call")),
    hint(session.callTool("tool", "echo", {})),
    hint(session.listTools("tool")),
    hint(session.callTool("start", "echo", {}, { timeoutMs: 100 })),
    hint(session.callTool("none", "echo", {}, { timeoutMs: 100 })),
  ]);
  expect(texts).toEqual([
    "1.5s. If it needs longer, raise `requestTimeoutMs` in FILE",
    "1.5s. If it needs longer, raise `requestTimeoutMs` in FILE",
    "0.2s. If it needs longer, raise `timeout` in FILE",
    "1.5s. If it needs longer, raise `requestTimeoutMs` in FILE",
    "0.2s. If it needs longer, raise `tool_timeout_sec` in FILE",
    "1.4s. If it needs longer, raise `startup_timeout_sec` in FILE",
    "0.2s. If it needs longer, raise `startup_timeout_sec` in FILE",
    "0.1s. That limit came with the call (on the command line: `--timeout`)",
  ]);
  await session.close();
  await Promise.all([silent.close(), mute.close()]);
});
