import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { FakeStdio, ServerScript, WireMessage } from "./fake-server.ts";
import { fakeHttp, fakeStdio, tool } from "./fake-server.ts";
import type { Home, HomeFiles } from "./home.ts";
import { temporaryHome } from "./home.ts";
import { finalText, toolRuns } from "./pi-events.ts";
import { isAlive, MARKER, survivors, waitUntilGone } from "./processes.ts";
import { rpcPi } from "./rpc-pi.ts";
import type { Host } from "./run-pi.ts";
import { HOSTS, runPi } from "./run-pi.ts";
import { scriptedModel, toolResults } from "./scripted-model.ts";
import { watchForStrays } from "./stray.ts";
import { until } from "./wait.ts";

/** Real hosts start slowly on a busy machine. */
vi.setConfig({ testTimeout: 90_000 });

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Is removed after the test, which fails if the home finds something left behind. */
async function newHome(files?: HomeFiles): Promise<Home> {
  const home = await temporaryHome(files);
  cleanups.push(() => home.remove());
  return home;
}

/** A client that knows nothing: it writes what it is given and collects what comes. */
interface RawClient {
  process: ChildProcess;
  write(text: string): void;
  send(message: object): void;
  out(): string;
  err(): string;
  /** Waits until stdout holds the text. */
  seen(text: string): Promise<unknown>;
  exit(): Promise<[number | null, string | null]>;
}

function start(home: Home, server: FakeStdio): RawClient {
  const child = spawn(server.command, [...server.args], { env: home.env(), cwd: home.cwd });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  child.stdin.on("error", () => {});
  const exit = once(child, "close") as Promise<[number | null, string | null]>;
  const write = (text: string): void => void child.stdin.write(text);
  return {
    process: child,
    write,
    send: (message) => write(`${JSON.stringify(message)}\n`),
    out: () => out,
    err: () => err,
    seen: (text) => until(`${text} on stdout`, () => (out.includes(text) ? true : undefined)),
    exit: () => exit,
  };
}

const request = (id: number | string, method: string, params?: object): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

function answers(client: RawClient): WireMessage[] {
  return client
    .out()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as WireMessage);
}

/** Sends all at once, then ends stdin, and gives what came back. */
async function converse(home: Home, script: ServerScript, ...messages: object[]): Promise<WireMessage[]> {
  const server = await fakeStdio(home, script);
  const client = start(home, server);
  for (const message of messages) client.send(message);
  await until("all answers", () => (client.out().split("\n").length > messages.length ? true : undefined));
  client.process.stdin?.end();
  await client.exit();
  return answers(client);
}

describe("the fake server over stdio", () => {
  test("is by default a right legacy server", async () => {
    const home = await newHome();
    const got = await converse(
      home,
      { tools: [tool("add")] },
      request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {} }),
      request("two", "tools/list"),
      request(3, "tools/call", { name: "add", arguments: { a: 1 } }),
      request(4, "tools/call", { name: "subtract" }),
      request(5, "ping"),
      request(6, "shutdown"),
    );
    expect(got[0]).toMatchObject({
      id: 1,
      result: { protocolVersion: "2025-06-18", serverInfo: { name: "fake-server" } },
    });
    expect(got[1]).toMatchObject({ id: "two", result: { tools: [{ name: "add", inputSchema: { type: "object" } }] } });
    expect(got[2]).toMatchObject({ id: 3, result: { content: [{ type: "text", text: '{"a":1}' }] } });
    expect(got[3]).toMatchObject({ id: 4, error: { code: -32602 } });
    expect(got[4]).toEqual({ jsonrpc: "2.0", id: 5, result: {} });
    expect(got[5]).toMatchObject({ id: 6, error: { code: -32601 } });
  });

  test("pages its tools, or never comes to an end of them", async () => {
    const home = await newHome();
    const tools = ["a", "b", "c"].map((name) => tool(name));
    const paged = await converse(
      home,
      { tools, pageSize: 2 },
      request(1, "tools/list"),
      request(2, "tools/list", { cursor: "page-from-2" }),
    );
    expect(paged[0]).toMatchObject({ result: { tools: [{ name: "a" }, { name: "b" }], nextCursor: "page-from-2" } });
    expect(paged[1]?.result).toEqual({ tools: [tools[2]] });
    const endless = await converse(home, { endlessCursor: true }, request(1, "tools/list", { cursor: "page-from-7" }));
    expect(endless[0]).toMatchObject({ result: { tools: [{ name: "endless_7" }], nextCursor: "page-from-8" } });
  });

  test("goes on with its list of steps when it is started again", async () => {
    const home = await newHome();
    const server = await fakeStdio(home, {
      on: { "tools/call": [{ stderr: "out of memory\n", exit: 3 }, { text: "hi" }] },
    });
    const first = start(home, server);
    first.send(request(1, "tools/call", { name: "echo" }));
    expect(await first.exit()).toEqual([3, null]);
    expect(first.err()).toBe("out of memory\n");
    expect(first.out()).toBe("");

    const second = start(home, server);
    second.send(request(1, "tools/call", { name: "echo" }));
    await second.seen("hi");
    second.send(request(2, "tools/call", { name: "echo" }));
    await second.seen('"id":2');
    second.process.stdin?.end();
    expect(await second.exit()).toEqual([0, null]);
    expect(server.starts()).toEqual([first.process.pid, second.process.pid]);
    expect(server.methods()).toEqual(["tools/call", "tools/call", "tools/call"]);
    expect(server.journal().map((entry) => entry.type)).toContain("eof");
    expect(server.launches()[1]).toMatchObject({ cwd: home.cwd, env: { [MARKER]: home.marker } });
  });

  test("has a start of its own for each time", async () => {
    const home = await newHome();
    const server = await fakeStdio(home, { startup: [{ stderr: "no key\n", exit: 1 }, { stdout: "Welcome!\n" }] });
    const first = start(home, server);
    expect(await first.exit()).toEqual([1, null]);
    expect(first.err()).toBe("no key\n");
    const second = start(home, server);
    await second.seen("Welcome!");
    second.process.stdin?.end();
    await second.exit();
  });

  test("sends notifications and progress before an answer, and asks the client", async () => {
    const home = await newHome();
    const server = await fakeStdio(home, {
      on: {
        "tools/call": {
          notify: [{ jsonrpc: "2.0", method: "notifications/message", params: { data: "working" } }],
          progress: [1, { progress: 2, total: 2 }],
          ask: { method: "ping" },
          echo: true,
        },
      },
    });
    const client = start(home, server);
    client.send(request(9, "tools/call", { name: "echo", _meta: { progressToken: "t" } }));
    await client.seen('"ping"');
    expect(answers(client).map((message) => message.method)).toEqual([
      "notifications/message",
      "notifications/progress",
      "notifications/progress",
      "ping",
    ]);
    expect(answers(client)[2]?.params).toEqual({ progressToken: "t", progress: 2, total: 2 });
    expect(client.out()).not.toContain('"result"');
    client.send({ jsonrpc: "2.0", id: answers(client)[3]?.id, result: {} });
    await client.seen("(no arguments)");
    client.process.stdin?.end();
    await client.exit();
  });

  test("writes any bytes, with the id of the request where it is asked for", async () => {
    const home = await newHome();
    const raw = [
      '[{"jsonrpc":"2.0","id":{{id}},"result":{"text":"',
      { base64: Buffer.from("日").subarray(0, 1).toString("base64") },
      { pauseMs: 5 },
      { base64: Buffer.from("日").subarray(1).toString("base64") },
      { repeat: "x", times: 200_000 },
      '"}}]\n',
    ];
    const [batch] = await converse(home, { on: { ping: { raw } } }, request(5, "ping"));
    expect(batch).toEqual([{ jsonrpc: "2.0", id: 5, result: { text: `日${"x".repeat(200_000)}` } }]);
  });

  test("does not answer what was cancelled", async () => {
    const home = await newHome();
    const server = await fakeStdio(home, {
      on: {
        "tools/call": [
          { delayMs: 50, text: "too late" },
          { delayMs: 100, text: "in time" },
        ],
      },
    });
    const client = start(home, server);
    client.send(request(1, "tools/call", { name: "echo" }));
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await server.until("notifications/cancelled");
    // This answer comes after the time of the other one.
    client.send(request(2, "tools/call", { name: "echo" }));
    await client.seen("in time");
    client.process.stdin?.end();
    await client.exit();
    expect(client.out()).not.toContain("too late");
  });

  test("as a newline server skips what is no JSON, and so takes a frame that fits both framings", async () => {
    const home = await newHome();
    const server = await fakeStdio(home);
    const client = start(home, server);
    const json = JSON.stringify(request(1, "ping"));
    client.write(`Content-Length: ${json.length + 1}\r\n\r\n${json}\n`);
    await client.seen('"result":{}');
    client.process.stdin?.end();
    await client.exit();
    expect(server.journal().filter((entry) => entry.type === "junk")).toHaveLength(2);
  });

  test("as a Content-Length server counts bytes and does not hear newline frames", async () => {
    const home = await newHome();
    const server = await fakeStdio(home, { framing: "content-length" });
    const deaf = start(home, server);
    deaf.send(request(1, "ping"));
    deaf.process.stdin?.end();
    await deaf.exit();
    expect(deaf.out()).toBe("");
    const client = start(home, server);
    const json = JSON.stringify(request(1, "tools/call", { name: "echo", arguments: { word: "日本" } }));
    client.write(`Content-Length: ${Buffer.byteLength(json) + 1}\r\n\r\n${json}\n`);
    await client.seen("日本");
    expect(client.out()).toMatch(/^Content-Length: \d+\r\n\r\n\{/);
    client.process.stdin?.end();
    await client.exit();
    expect(server.params("tools/call")).toEqual([{ name: "echo", arguments: { word: "日本" } }]);
  });

  test("can ignore its end, and leave a grandchild", async () => {
    const home = await newHome();
    const server = await fakeStdio(home, {
      startup: { spawnGrandchild: true, ignoreEof: true, ignoreSigterm: true },
    });
    const client = start(home, server);
    client.send(request(1, "ping"));
    await client.seen('"result":{}');
    client.process.stdin?.end();
    await until("the end of stdin", () => server.journal().find((entry) => entry.type === "eof"));
    client.process.kill("SIGTERM");
    await until("the signal", () => server.journal().find((entry) => entry.type === "signal"));
    client.send(request(2, "ping"));
    const [grandchild = -1] = server.grandchildren();
    expect(isAlive(grandchild)).toBe(true);
    client.process.kill("SIGKILL");
    expect(await client.exit()).toEqual([null, "SIGKILL"]);
    expect(home.survivors().map(({ pid }) => pid)).toEqual([grandchild]);
    process.kill(grandchild, "SIGKILL");
    expect(await waitUntilGone(home.survivors)).toEqual([]);
  });
});

describe("the fake server over HTTP", () => {
  const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

  async function served(script?: ServerScript): Promise<Awaited<ReturnType<typeof fakeHttp>>> {
    const server = await fakeHttp(script);
    cleanups.push(server.close);
    return server;
  }
  const post = (url: string, message: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) });

  async function session(url: string): Promise<Record<string, string>> {
    const response = await post(url, request(1, "initialize", { protocolVersion: "2025-06-18" }));
    await response.text();
    return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
  }

  test("gives out a session, demands it, and forgets it", async () => {
    const server = await served();
    expect((await post(server.url, request(2, "ping"))).status).toBe(400);
    const headers = await session(server.url);
    expect(server.sessions()).toEqual([headers["mcp-session-id"]]);
    expect(await (await post(server.url, request(2, "ping"), headers)).json()).toMatchObject({ id: 2, result: {} });
    expect((await post(server.url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)).status).toBe(202);
    expect((await fetch(server.url, { headers: { accept: "text/event-stream" } })).status).toBe(405);
    expect((await fetch(server.url, { method: "DELETE", headers })).status).toBe(200);
    expect((await post(server.url, request(3, "ping"), headers)).status).toBe(404);
    expect(server.methods()).toEqual(["ping", "initialize", "ping", "notifications/initialized", "ping"]);
    expect(server.received()[2]).toMatchObject({ httpMethod: "POST", path: "/mcp", headers });
    server.forgetSessions();
    expect(server.sessions()).toEqual([]);
  });

  test("answers with the status, headers and body of a step", async () => {
    const step = { status: 503, headers: { "retry-after": "1" }, body: "busy" };
    const server = await served({ on: { ping: [step, { usual: true }], GET: { status: 200, body: "hello" } } });
    const headers = await session(server.url);
    const first = await post(server.url, request(2, "ping"), headers);
    expect([first.status, first.headers.get("retry-after"), await first.text()]).toEqual([503, "1", "busy"]);
    expect((await post(server.url, request(2, "ping"), headers)).status).toBe(200);
    expect(await (await fetch(server.url)).text()).toBe("hello");
  });

  test("streams progress and the answer, ends a stream early, resets a connection", async () => {
    const server = await served({
      sessions: false,
      on: { "tools/call": [{ progress: [1], text: "done" }, { endStream: true }, { destroy: true }] },
    });
    const call = request(7, "tools/call", { name: "echo", _meta: { progressToken: 7 } });
    const streamed = await post(server.url, call);
    expect(streamed.headers.get("content-type")).toBe("text/event-stream");
    const events = (await streamed.text()).split("\n").filter((line) => line.startsWith("data: "));
    expect(events.map((line) => JSON.parse(line.slice(6)))).toMatchObject([
      { method: "notifications/progress" },
      { id: 7, result: { content: [{ text: "done" }] } },
    ]);
    expect(await (await post(server.url, call)).text()).toBe("");
    await expect(post(server.url, call)).rejects.toThrow();
  });

  test("pushes messages on a GET stream", async () => {
    const server = await served({ sessions: false, getStream: true });
    const stream = await fetch(server.url, { headers: { accept: "text/event-stream" } });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(server.push({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })).toBe(1);
    expect((await reader?.read())?.value).toContain("list_changed");
    await reader?.cancel();
  });

  test("refuses a script that only a process can play", async () => {
    await expect(fakeHttp({ on: { ping: { exit: 1 } } })).rejects.toThrow("exit");
  });
});

describe("the scripted model", () => {
  test("plays its turns and keeps what it was asked", async () => {
    const model = await scriptedModel([
      { call: [{ tool: "a", args: { x: 1 } }, { tool: "b" }] },
      { say: (asked) => `It says ${toolResults(asked).join(" and ")}.` },
    ]);
    cleanups.push(model.close);
    const ask = async (messages: object[]): Promise<string> =>
      (
        await fetch(`${model.origin}/v1/chat/completions`, {
          method: "POST",
          body: JSON.stringify({ messages, tools: [{ type: "function", function: { name: "a" } }] }),
        })
      ).text();
    const first = await ask([
      { role: "system", content: "Be good." },
      { role: "user", content: "go" },
    ]);
    expect(first).toContain('"name":"a","arguments":"{\\"x\\":1}"');
    expect(first).toContain('"index":1');
    expect(first).toContain('"finish_reason":"tool_calls"');
    expect(model.unplayed()).toBe(1);
    expect(
      await ask([
        { role: "tool", content: "one" },
        { role: "tool", content: [{ type: "text", text: "two" }] },
      ]),
    ).toContain("It says one and two.");
    expect(await ask([])).toContain("(no more turns)");
    expect(model.requests[0]).toMatchObject({ system: "Be good.", tools: [{ name: "a" }] });
  });

  test("refuses and reports whoever wants to go out", async () => {
    const model = await scriptedModel([]);
    cleanups.push(model.close);
    const home = await newHome({ model });
    const script = "fetch('http://a.example/x').catch(() => {}).then(() => fetch('https://b.example').catch(() => {}))";
    await once(spawn(process.execPath, ["-e", script], { env: home.env(), stdio: "ignore" }), "exit");
    expect(model.outside()).toEqual(["a.example:80", "b.example:443"]);
  });
});

describe("the temporary home", () => {
  test("writes its files where they belong and hands on nothing of the test's environment", async () => {
    process.env.PI_MCP_LEAK = "secret";
    const home = await newHome({
      settings: { theme: "dark" },
      mcp: "{ // as written",
      files: { "~/.config/mcp/mcp.json": {}, "project/.mcp.json": {} },
      env: { TOKEN: "t" },
    });
    delete process.env.PI_MCP_LEAK;
    for (const file of [".pi/agent/settings.json", ".pi/agent/mcp.json", ".config/mcp/mcp.json"])
      expect(existsSync(join(home.home, file))).toBe(true);
    expect(existsSync(join(home.cwd, ".mcp.json"))).toBe(true);
    expect(home.env()).toMatchObject({ TOKEN: "t", HOME: home.home, [MARKER]: home.marker });
    expect(JSON.stringify(home.env())).not.toContain("secret");
  });

  test("reports a process that was left behind, and ends it", async () => {
    const home = await temporaryHome();
    const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 20_000)"], { env: home.env(), stdio: "ignore" });
    const ended = once(child, "exit");
    expect(home.survivors().map(({ pid }) => pid)).toEqual([child.pid]);
    expect(survivors("another-marker", "/another/root")).toEqual([]);
    await expect(home.remove(0)).rejects.toThrow(`Left running: ${child.pid}`);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(isAlive(child.pid ?? -1)).toBe(false);
    expect(existsSync(home.root)).toBe(false);
  });
});

test("a file that appears or changes outside is reported", async () => {
  const home = await newHome();
  const places = { folders: [home.path("person")], shared: home.tmp, names: /^pi-/ };
  mkdirSync(home.path("person"));
  writeFileSync(home.path("person/old"), "old");
  utimesSync(home.path("person/old"), 1, 1);
  const strays = watchForStrays(places);
  expect(strays()).toEqual([]);
  writeFileSync(home.path("person/old"), "new");
  writeFileSync(home.path("person/new"), "");
  writeFileSync(join(home.tmp, "pi-crash.log"), "");
  writeFileSync(join(home.tmp, "something else"), "");
  expect(
    strays()
      .map((file) => basename(file.split(" (")[0] ?? ""))
      .sort(),
  ).toEqual(["new", "old", "pi-crash.log"]);
});

describe.each(HOSTS)("$name", (host) => {
  test("says hello through a scripted model, inside its home and without going out", async () => {
    const model = await scriptedModel([{ say: "Hello from the script." }]);
    cleanups.push(model.close);
    const home = await newHome({ model, settings: {} });
    const run = await runPi(host, home, { mode: "print", prompt: "Say hello." });
    expect(run).toMatchObject({ code: 0, signal: null, hung: false, stdout: "Hello from the script.\n", stderr: "" });
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ role: "user" });
    expect(model.unplayed()).toBe(0);
    expect(model.outside()).toEqual([]);
    expect(home.survivors()).toEqual([]);
  });

  test("calls a tool of an extension, which the events of JSON mode show", async () => {
    const model = await scriptedModel([
      { call: { tool: "greet", args: { who: "you" } } },
      { say: (asked) => `The tool said: ${toolResults(asked).join()}` },
    ]);
    cleanups.push(model.close);
    const home = await newHome({ model });
    const extension = home.path("greet.mjs");
    writeFileSync(extension, GREET);
    const run = await runPi(host, home, { mode: "json", prompt: "Greet me.", extension });
    expect(run).toMatchObject({ code: 0, hung: false });
    expect(toolRuns(run.events)).toMatchObject([
      { tool: "greet", args: { who: "you" }, text: "Hello you", isError: false },
    ]);
    expect(finalText(run.events)).toBe("The tool said: Hello you");
    expect(model.requests[0]?.tools.map((each) => each.name)).toContain("greet");
  });

  test("is driven over RPC: prompts, dialogs, and an end of its own", async () => {
    const model = await scriptedModel([{ call: { tool: "greet", args: { who: "you" } } }, { say: "Done." }]);
    cleanups.push(model.close);
    const home = await newHome({ model });
    const extension = home.path("greet.mjs");
    writeFileSync(extension, GREET);
    const pi = await rpcPi(host, home, { extension, dialogs: () => ({ confirmed: true }) });
    expect(home.survivors().map(({ pid }) => pid)).toEqual([pi.pid]);
    await pi.prompt("Greet me.");
    expect(finalText(pi.events)).toBe("Done.");
    await pi.send({ type: "prompt", message: "/ask" });
    expect(pi.ui.map((each) => [each.method, each.title ?? each.message])).toEqual([
      ["confirm", "Really?"],
      ["notify", "yes"],
    ]);
    expect(await pi.close()).toEqual({ code: 0, signal: null, hung: false });
  });
});

test("a pi that an extension holds counts as hung, and is ended", async () => {
  const hold = async (host: Host): Promise<void> => {
    const model = await scriptedModel([{ say: "Hello." }]);
    cleanups.push(model.close);
    const home = await newHome({ model });
    const extension = home.path("hold.mjs");
    writeFileSync(extension, "export default () => void setInterval(() => {}, 1000);");
    const run = await runPi(host, home, { mode: "print", prompt: "Say hello.", extension, timeoutMs: 6_000 });
    expect(run).toMatchObject({ code: null, signal: "SIGKILL", hung: true, stdout: "Hello.\n" });
    expect(await waitUntilGone(home.survivors)).toEqual([]);
  };
  await Promise.all(HOSTS.map(hold));
});

const GREET = `export default function (pi) {
  pi.registerTool({
    name: "greet",
    label: "Greet",
    description: "Greets somebody.",
    parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
    execute: async (id, { who }) => ({ content: [{ type: "text", text: "Hello " + who }], details: {} }),
  });
  pi.registerCommand("ask", {
    description: "Asks.",
    handler: async (args, ctx) => ctx.ui.notify((await ctx.ui.confirm("Really?", "Say.")) ? "yes" : "no", "info"),
  });
}
`;
