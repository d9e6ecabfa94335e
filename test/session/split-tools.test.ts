import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { McpSession } from "../../src/session/session.ts";
import { runMcpCall, runMcpLoad } from "../../src/tools/split.ts";
import type { ToolAnswer } from "../../src/tools/tool.ts";
import { type FakeStdio, fakeHttp, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { sessionOf } from "./open.ts";

interface Told extends ToolAnswer {
  readonly text: string;
}

function told(answer: ToolAnswer): Told {
  return { ...answer, text: answer.content.map((block) => (block.type === "text" ? block.text : "")).join("\n") };
}

const load = async (session: McpSession, args: object): Promise<Told> => told(await runMcpLoad(session, { args }));
const call = async (session: McpSession, args: object): Promise<Told> => told(await runMcpCall(session, { args }));

async function stdioSession(home: Home, script: ServerScript, more: object = {}): Promise<[FakeStdio, McpSession]> {
  const server = await fakeStdio(home, script);
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, ...more } } } });
  return [server, sessionOf(home)];
}

const FIND = tool("find", {
  description: "Finds things.\nSlowly.",
  inputSchema: {
    type: "object",
    required: ["query"],
    properties: {
      query: { type: "string", description: "What to find" },
      kind: { type: "string", enum: ["a", "b"] },
      where: { type: "object", properties: { deep: { type: "boolean" } } },
    },
  },
});

describe("mcp_load", () => {
  test("[S3-48] shows every tool of every page with all its parameters", async () => {
    await using home = await temporaryHome();
    const [, session] = await stdioSession(home, { tools: [FIND, tool("other")], pageSize: 1 });
    await using _ = session;
    const { text, isError, details } = await load(session, { server: "fake" });
    expect([isError, details.toolCount]).toEqual([false, 2]);
    expect(text).toBe(
      [
        "## fake (2 tools)",
        "",
        "### fake.find",
        "Finds things.",
        "Slowly.",
        "  query: string (required) — What to find",
        '  kind: {"type":"string","enum":["a","b"]} (optional)',
        '  where: {"type":"object","properties":{"deep":{"type":"boolean"}}} (optional)',
        "",
        "### fake.other",
        "The tool other.",
      ].join("\n"),
    );
  });

  test("[S3-48] shows one line for each when there are too many, and one in full when asked", async () => {
    await using home = await temporaryHome();
    const many = Array.from({ length: 300 }, (_, n) => ({ ...FIND, name: `find_${n}` }));
    const [, session] = await stdioSession(home, { tools: many });
    await using _ = session;
    const { text } = await load(session, { server: "fake" });
    expect(text.length).toBeLessThan(36_000);
    expect(text).toContain("mcp_load with `server` and `tool` shows one in full");
    expect(text).toContain('find_299(query: string, kind?: "a"|"b"');
    const one = await load(session, { server: "fake", tool: "find_7" });
    expect(one.text).toMatch(
      /^MCP server `fake` tool `find_7`:\nFinds things\.\nSlowly\.\nArguments: \{"type":"object"/,
    );
    expect(one.text).toContain('"deep":{"type":"boolean"}');
    expect(await load(session, { server: "fake", tool: "nope" })).toMatchObject({
      isError: true,
      details: { category: "unknown-tool" },
    });
  });

  test("[S3-22] connects a lazy server, which is what a server is that says nothing", async () => {
    await using home = await temporaryHome();
    const [server, session] = await stdioSession(home, {});
    await using _ = session;
    expect([server.starts().length, session.status("fake").state]).toEqual([0, "idle"]);
    await load(session, { server: "fake" });
    expect([server.starts().length, session.status("fake").state]).toEqual([1, "ready"]);
  });

  test("[S3-11] connects again after a failed check has ended the connection", async () => {
    await using home = await temporaryHome();
    const [server, session] = await stdioSession(home, { tools: [FIND] });
    await using _ = session;
    await load(session, { server: "fake" });
    process.kill(server.starts()[0] ?? 0, "SIGKILL");
    while (session.status("fake").state === "ready") await sleep(10);
    expect((await load(session, { server: "fake" })).text).toContain("### fake.find");
    expect(server.starts()).toHaveLength(2);
  });

  test("hides nothing hostile: what a server writes is cleaned, and a flood is cut", async () => {
    await using home = await temporaryHome();
    const description = `\u001b[2Jevil \u202e${"x".repeat(400_000)}`;
    const [, session] = await stdioSession(home, { tools: [tool("a", { description })] });
    await using _ = session;
    const { text } = await load(session, { server: "fake" });
    expect(text.length).toBeLessThan(36_000);
    const one = await load(session, { server: "fake", tool: "a" });
    expect(one.text.length).toBeLessThan(53_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    expect(text + one.text).not.toMatch(/[\u001b\u202e]/);
  });

  test("shows no configured secret, also not within a schema", async () => {
    const secret = "s3cr3t-value-of-mine";
    await using home = await temporaryHome();
    const inputSchema = {
      type: "object",
      properties: { key: { type: "string", description: `such as ${secret}`, default: secret } },
    };
    const [, session] = await stdioSession(home, { tools: [tool("a", { inputSchema })] }, { env: { TOKEN: secret } });
    await using _ = session;
    const texts = [await load(session, { server: "fake" }), await load(session, { server: "fake", tool: "a" })];
    for (const { text, isError } of texts)
      expect([isError, text.includes("key"), text.includes(secret)]).toEqual([false, true, false]);
  });

  test.each([[{}], [{ server: " " }], [{ server: 7 }], [null]])(
    "lists the servers when it is asked for none: %j",
    async (args) => {
      await using home = await temporaryHome();
      const [server, session] = await stdioSession(home, {});
      await using _ = session;
      expect(await load(session, args as object)).toMatchObject({
        isError: false,
        text: expect.stringMatching(/^MCP servers \(1 configured\):\n- fake \(stdio: /),
      });
      expect(server.starts()).toEqual([]);
    },
  );

  test("finds tools of all servers, or of one, by what they do, and starts none for it", async () => {
    await using home = await temporaryHome();
    const [server, session] = await stdioSession(home, { tools: [FIND, tool("other")] });
    await using _ = session;
    const before = await load(session, { query: "find things" });
    expect(before).toMatchObject({
      isError: false,
      text: expect.stringContaining("not known yet: fake; mcp_load with server"),
    });
    expect(server.starts()).toEqual([]);
    await load(session, { server: "fake" });
    for (const more of [{}, { server: "fake" }]) {
      const { text } = await load(session, { query: "find things", ...more });
      expect(text).toMatch(/^Tools for "find things" \(1 of 2\).*\n- fake: find\(query: string, /);
      expect(text).toContain("Call one with mcp_call");
    }
    expect(await load(session, { query: "x", server: "nope" })).toMatchObject({
      isError: true,
      details: { category: "unknown-server" },
    });
  });

  test("says that a tool alone is not enough", async () => {
    await using home = await temporaryHome();
    const [, session] = await stdioSession(home, {});
    await using _ = session;
    expect(await load(session, { tool: "find" })).toMatchObject({ isError: true, details: { category: "validation" } });
  });
});

describe("mcp_call", () => {
  test.each([
    [{ selector: "fake.echo", args: { a: 1 } }],
    [{ selector: " fake.echo ", args: '{"a":1}' }],
    [{ server: "fake", tool: "echo", args: { a: 1 } }],
  ])("takes %j", async (args) => {
    await using home = await temporaryHome();
    const [server, session] = await stdioSession(home, {});
    await using _ = session;
    expect((await call(session, args)).isError).toBe(false);
    expect(server.params("tools/call")).toMatchObject([{ name: "echo", arguments: { a: 1 } }]);
  });

  test("knows a server whose name holds a dot, and a tool's", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("b.c")] });
    const entry = { command: server.command, args: server.args };
    home.write({ mcp: { mcpServers: { a: { command: "x" }, "a.b": entry, "a.b.long": { command: "x" } } } });
    await using session = sessionOf(home);
    expect((await call(session, { selector: "a.b.b.c" })).isError).toBe(false);
    expect(server.params("tools/call")).toMatchObject([{ name: "b.c" }]);
  });

  test("[S3-12] connects again after the connection has ended", async () => {
    await using home = await temporaryHome();
    const [server, session] = await stdioSession(home, {});
    await using _ = session;
    await load(session, { server: "fake" });
    process.kill(server.starts()[0] ?? 0, "SIGKILL");
    while (session.status("fake").state === "ready") await sleep(10);
    expect((await call(session, { selector: "fake.echo" })).isError).toBe(false);
    expect(server.starts()).toHaveLength(2);
  });

  /** Calls as they reached an HTTP server whose session lives. */
  async function overHttp(script: ServerScript): Promise<{ answer: Told; ids: (string | undefined)[]; all: string[] }> {
    await using home = await temporaryHome();
    const server = await fakeHttp(script);
    home.write({ mcp: { mcpServers: { web: { url: server.url, protocolVersion: "2025-06-18" } } } });
    await using session = sessionOf(home);
    await load(session, { server: "web" });
    const answer = await call(session, { selector: "web.echo" });
    const received = server.received();
    const ids = received.flatMap(({ headers, message }) =>
      message?.method === "tools/call" ? [headers?.["mcp-session-id"]] : [],
    );
    await session.close();
    await server.close();
    return { answer, ids, all: received.flatMap(({ message }) => message?.method ?? []) };
  }

  test("[S3-16] repeats a call after passing faults, on the same session", async () => {
    const { answer, ids } = await overHttp({
      on: { "tools/call": [{ destroy: true }, { status: 503 }, { text: "at last" }] },
    });
    expect([answer.isError, answer.text]).toEqual([false, "at last"]);
    expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
  });

  test("[S3-19] goes on in a full reconnect when the session dies meanwhile, the remembered id being tried first", async () => {
    const { answer, ids, all } = await overHttp({
      on: { "tools/call": [{ destroy: true }, { status: 404 }, { text: "at last" }] },
    });
    expect([answer.isError, answer.text]).toEqual([false, "at last"]);
    expect([ids.length, ids[1] === ids[0], ids[2] === ids[0]]).toEqual([3, true, false]);
    expect(all.filter((method) => method === "initialize")).toHaveLength(2);
  });

  test("[S3-17] repeats it at most twice in place", async () => {
    const { answer, ids } = await overHttp({ on: { "tools/call": { status: 503 } } });
    expect(answer.isError).toBe(true);
    expect(ids).toHaveLength(3);
  });

  describe("a failure has a category", () => {
    async function failing(script: ServerScript, args: object = {}, more: object = {}): Promise<Told> {
      await using home = await temporaryHome();
      const server = await fakeHttp(script);
      home.write({ mcp: { mcpServers: { web: { url: server.url, ...more } } } });
      await using session = sessionOf(home);
      const answer = await call(session, { selector: "web.echo", ...args });
      await session.close();
      await server.close();
      return answer;
    }

    test.each([
      ["[S3-64] [S3-65] needs-auth", { on: { "tools/call": { status: 401 } } }, {}],
      ["[S3-64] [S3-66] timeout", { on: { "tools/call": { silent: true } } }, { timeout: 1 }],
      ["[S3-64] [S3-67] connection", { on: { "tools/call": { destroy: true } } }, {}],
      ["[S3-64] [S3-68] unknown-tool", { tools: [tool("other")] }, {}],
      [
        "[S3-64] [S3-69] validation",
        { on: { "tools/call": { error: { code: -32602, message: "a is missing" } } } },
        {},
      ],
      ["[S3-64] [S3-70] other", { on: { "tools/call": { error: { code: -32000, message: "out of paper" } } } }, {}],
    ] as const)("%s", async (name, script, args) => {
      const { isError, details, text } = await failing(script as ServerScript, args);
      expect([isError, details.category]).toEqual([true, name.split(" ").at(-1)]);
      expect(text).toContain("`web`");
    });

    test.each([
      [{}],
      [{ selector: "nodot" }],
      [{ selector: "web." }],
      [{ selector: ".echo" }],
      [{ server: "web" }],
      [{ selector: "web.echo", args: [1] }],
      [{ selector: "web.echo", args: "{" }],
    ])("[S3-69] validation, before anything is sent, for %j", async (args) => {
      await using home = await temporaryHome();
      const [server, session] = await stdioSession(home, {});
      await using _ = session;
      expect(await call(session, args)).toMatchObject({ isError: true, details: { category: "validation" } });
      expect(server.starts()).toEqual([]);
    });
  });

  test("a limit is given in seconds and kept between 1 and 300", async () => {
    await using home = await temporaryHome();
    const [, session] = await stdioSession(home, { on: { "tools/call": { silent: true } } });
    await using _ = session;
    const { text } = await call(session, { selector: "fake.echo", timeout: 0.001 });
    expect(text).toContain("timed out after 1s");
    const quick = await call(session, { selector: "fake.echo", timeout: "1" });
    expect(quick.text).toContain("timed out after 1s");
  });
});
