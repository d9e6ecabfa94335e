import { openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { runCli as cli, NODES, startCli } from "../ground/run-cli.ts";
import { until } from "../ground/wait.ts";
import { REAL } from "./real-servers.ts";

describe.each(NODES)("pi-mcp on $name", ({ node }) => {
  test("[E046] list shows the configured servers and starts none; list <server> shows its tools", async () => {
    await using home = await temporaryHome();
    const never = await fakeStdio(home);
    home.write({
      settings: { mcpServers: [REAL.everything("everything", "stdio"), never.entry("never")] },
    });
    const servers = await cli(node, home, "list");
    expect(servers).toMatchObject({ code: 0, stderr: "" });
    expect(servers.stdout).toMatch(/^everything {2}stdio: .*\nnever {2}stdio: .*\n$/);
    expect(never.starts()).toEqual([]);
    const tools = await cli(node, home, "list", "everything");
    expect(tools.code).toBe(0);
    expect(tools.stdout).toMatch(/^echo {2}Echoes back the input/m);
    const json = await cli(node, home, "list", "everything", "--json");
    const parsed = JSON.parse(json.stdout) as { tools: { name: string; inputSchema: object }[] };
    expect(parsed.tools.find(({ name }) => name === "get-sum")?.inputSchema).toHaveProperty("properties.a");
  });

  test("call takes JSON or key=value typed by the schema, and prints the whole result", async () => {
    await using home = await temporaryHome({
      settings: { mcpServers: [REAL.everything("everything", "stdio")] },
    });
    const results = await Promise.all([
      cli(node, home, "call", "everything", "echo", '{"message":"ça va"}'),
      cli(node, home, "call", "everything", "get-sum", "a=1", "b=2.5"),
      cli(node, home, "call", "everything", "echo", "message=007"),
      cli(node, home, "call", "everything", "get-sum", '{"a":1,"b":2}', "--json"),
    ]);
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, ""]));
    expect(results[0]?.stdout).toBe("Echo: ça va\n");
    expect(results[1]?.stdout).toBe("The sum of 1 and 2.5 is 3.5.\n");
    expect(results[2]?.stdout).toBe("Echo: 007\n");
    expect(JSON.parse(results[3]?.stdout ?? "")).toMatchObject({ content: [{ type: "text" }] });
  });

  test("a result that cannot be written is a failure, one that nobody reads is none", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { text: "x".repeat(1_000_000) } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const full = await startCli(node, home, ["call", "fake", "echo"], { stdout: openSync("/dev/full", "w") }).ended;
    expect(full).toMatchObject({ code: 10, stderr: "pi-mcp: the output could not be written (ENOSPC)\n" });
    const { child, ended } = startCli(node, home, ["call", "fake", "echo"]);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    await until("the servers to end", () => (server.starts().some(isAlive) ? undefined : true));
  });

  test("Ctrl-C cancels the call at the server and leaves nothing", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { silent: true } }, startup: { ignoreEof: true } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const { child, ended } = startCli(node, home, ["call", "fake", "echo"]);
    await server.until("tools/call");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, stderr: "pi-mcp: MCP server `fake`: the request was cancelled\n" });
    expect(server.methods()).toContain("notifications/cancelled");
    expect(server.starts().filter(isAlive)).toEqual([]);
  });

  test("a 10 MB result arrives whole through a pipe", async () => {
    await using home = await temporaryHome();
    const text = "€".repeat(3_500_000);
    const server = await fakeStdio(home, { on: { "tools/call": { text } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const { code, stdout } = await cli(node, home, "call", "fake", "echo");
    expect([code, stdout.length, stdout === `${text}\n`]).toEqual([0, text.length + 1, true]);
  });
});

// What takes nothing of Node that could be older.
describe.each(NODES.slice(0, 1))("pi-mcp on $name", ({ node }) => {
  test("each failure is one clear line that names the server, with an exit code of its own and no stack", async () => {
    await using home = await temporaryHome();
    const dying = await fakeStdio(home, { startup: { exit: 1 } });
    const silent = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
    const failing = await fakeStdio(home, { on: { "tools/call": { text: "no such city", isError: true } } });
    const refusing = await fakeStdio(home, {
      on: { "tools/call": { error: { code: -32602, message: "a is missing" } } },
    });
    home.write({
      settings: {
        mcpServers: [
          dying.entry("dying"),
          silent.entry("silent"),
          failing.entry("failing"),
          refusing.entry("refusing"),
          { name: "gone", command: "no-such-command-here" },
        ],
      },
    });
    const cases: [string[], number, RegExp][] = [
      [["call", "nope", "echo"], 3, /^pi-mcp: no MCP server configured with name `nope`; configured: dying, failing, /],
      [["call", "silent", "echo", '{"a":'], 2, /^pi-mcp: silent echo: the arguments must parse to a JSON object: /],
      [
        ["call", "silent", "echo", "[1]"],
        2,
        /^pi-mcp: silent echo: the arguments must parse to a JSON object, not an array$/,
      ],
      [
        ["call", "silent", "echo", "word"],
        2,
        /^pi-mcp: silent echo: the argument `word` is neither JSON nor key=value$/,
      ],
      [
        ["call", "dying", "echo"],
        4,
        /^pi-mcp: MCP server `dying` failed to initialize: its process exited with code 1 \(tried 3 times\)\. Check its entry in .*settings\.json:3$/,
      ],
      [
        ["call", "gone", "echo"],
        4,
        /^pi-mcp: MCP server `gone` failed to initialize: its command .* was not found\. .*settings\.json:\d+ \(tried 3 times\)$/,
      ],
      [
        ["call", "silent", "echo", "--timeout", "0.3"],
        6,
        /^pi-mcp: MCP server `silent`: `tools\/call` timed out after 0\.3s/,
      ],
      [["call", "silent", "nope", "a=1"], 7, /^pi-mcp: MCP server `silent` has no tool `nope` \(available: echo\)$/],
      [["call", "refusing", "echo"], 8, /^pi-mcp: MCP server `refusing`: it answered with error -32602: a is missing$/],
      [["call"], 2, /^pi-mcp: call needs a server and a tool\. See `pi-mcp --help`\.$/],
      [
        ["fly"],
        2,
        /^pi-mcp: unknown command `fly` \(there are: list, search, describe, call, read, prompt, doctor, pins, add, .*\)\. See/,
      ],
      [["list", "--fly"], 2, /^pi-mcp: .*--fly.*\. See/],
    ];
    for (const [args, code, line] of cases) {
      const ended = await cli(node, home, ...args);
      expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: "" });
      expect(ended.stderr.trimEnd()).toMatch(line);
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    }
    const reported = await cli(node, home, "call", "failing", "echo");
    expect(reported).toEqual({ code: 1, stdout: "no such city\n", stderr: "" });
    const json = await cli(node, home, "call", "dying", "echo", "--json");
    expect(JSON.parse(json.stderr)).toEqual({
      error: {
        category: "connection",
        server: "dying",
        message: expect.stringContaining("MCP server `dying` failed to initialize: its process exited with code 1"),
      },
    });
  });

  test("a command starts no server but the one it is for, whatever their lifecycle", async () => {
    await using home = await temporaryHome();
    const [eager, kept] = [await fakeStdio(home), await fakeStdio(home)];
    const entries = [eager.entry("eager", { lifecycle: "eager" }), kept.entry("kept", { lifecycle: "keep-alive" })];
    home.write({ settings: { mcpServers: entries } });
    expect((await cli(node, home, "list")).code).toBe(0);
    expect((await cli(node, home, "call", "kept", "echo")).code).toBe(0);
    expect([eager.starts().length, kept.starts().length]).toEqual([0, 1]);
  });

  test("what a server said on stderr before it died stands below the line", async () => {
    await using home = await temporaryHome();
    const dying = await fakeStdio(home, { startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } });
    home.write({ settings: { mcpServers: [dying.entry("dying")] } });
    expect((await cli(node, home, "call", "dying", "echo")).stderr).toMatch(
      /^pi-mcp: MCP server `dying` failed to initialize: its process exited with code 1.*\n--- server stderr ---\nFATAL: missing API_KEY\n$/,
    );
    const json = await cli(node, home, "call", "dying", "echo", "--json");
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { diagnostics: "FATAL: missing API_KEY" } });
  });

  test("arguments that cannot be sent as they are written are refused or kept as text", async () => {
    await using home = await temporaryHome();
    const integer = tool("typed", { inputSchema: { type: "object", properties: { id: { type: "integer" } } } });
    const server = await fakeStdio(home, { tools: [tool("echo"), integer] });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const id = "12345678901234567890";
    const refused: [string[], RegExp][] = [
      [["echo", '{"q":"a=b"}', "limit=1"], /as JSON must be one word, in quotes, and the only one: `\{"q":"a=b"\}`/],
      [["echo", "limit=1", '{"q":"a=b"}'], /as JSON must be one word/],
      [["echo", '{"a":', "1}"], /as JSON must be one word/],
      [["echo", `{"id":${id}}`], new RegExp(`${id} is too large`)],
      [["typed", `id=${id}`], new RegExp(`must be of type integer, not \`${id}\`, which is too large`)],
    ];
    for (const [words, line] of refused) {
      const ended = await cli(node, home, "call", "fake", ...words);
      expect([ended.code, ended.stdout]).toEqual([2, ""]);
      expect(ended.stderr).toMatch(line);
    }
    expect(server.params("tools/call")).toEqual([]);
    expect(await cli(node, home, "call", "fake", "echo", `id=${id}`, `ids=[${id}]`, "far=1e999", "n=7")).toMatchObject({
      code: 0,
    });
    expect(server.params("tools/call")[0]?.arguments).toEqual({ id, ids: `[${id}]`, far: "1e999", n: 7 });
  });

  test("call mends arguments, and says what was expected, as the tools of a model do", async () => {
    await using home = await temporaryHome();
    const properties = { path: { type: "string" }, limit: { type: "integer" }, tags: { type: "array" } };
    const inputSchema = { type: "object", properties, required: ["path"] };
    const refusal = { code: -32602, message: "no" };
    const server = await fakeStdio(home, {
      tools: [tool("find", { inputSchema }), tool("refuse", { inputSchema }), tool("fail", { inputSchema })],
      on: {
        "tools/call refuse": { error: refusal },
        "tools/call fail": { text: "Input validation error", isError: true },
      },
    });
    home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args } } } });
    await cli(node, home, "list", "fake");
    const mended = "changed before sending: limit: read as integer; tags: put into a list";
    const json = await cli(node, home, "call", "fake", "find", '{"path":"a","limit":"5","tags":"x"}');
    expect(json).toMatchObject({ code: 0, stderr: `pi-mcp: ${mended}\n` });
    const pairs = await cli(node, home, "call", "fake", "find", "path=7", "limit=5", "tags=x", "--json");
    expect(pairs).toMatchObject({ code: 0, stderr: '{"repairs":["tags: put into a list"]}\n' });
    expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([
      { path: "a", limit: 5, tags: ["x"] },
      { path: "7", limit: 5, tags: ["x"] },
    ]);
    const expected = /"path" is missing[\s\S]*Expected parameters:[\s\S]*Nearest valid call: \{.*"path":"<path>"\}/;
    const refused = await cli(node, home, "call", "fake", "refuse", "limit=many");
    expect(refused).toMatchObject({ code: 8, stdout: "", stderr: expect.stringMatching(expected) });
    const failed = await cli(node, home, "call", "fake", "fail", "{}");
    expect(failed).toMatchObject({
      code: 1,
      stdout: "Input validation error\n",
      stderr: expect.stringMatching(expected),
    });
  });

  test("a limit longer than a timer can wait is no limit of a moment", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { delayMs: 300, echo: true } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    for (const seconds of ["172800", "1e9"]) {
      const ended = await cli(node, home, "call", "fake", "echo", "--timeout", seconds);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
    }
    for (const text of ["Infinity", "0", "soon"]) {
      const { code, stderr } = await cli(node, home, "call", "fake", "echo", "--timeout", text);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`a number of seconds above 0, not \`${text}\``)]);
    }
  });
});
