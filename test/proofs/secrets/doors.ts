import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { vi } from "vitest";
import { ToolNames } from "../../../src/catalog/names.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { formatProblem } from "../../../src/config/problems.ts";
import { describeError, McpServerError, messageOf } from "../../../src/error.ts";
import type { CommandInput } from "../../../src/hosts/cli/command.ts";
import { COMMANDS } from "../../../src/hosts/cli/commands.ts";
import type { PiApi, PiTool } from "../../../src/hosts/pi/api.ts";
import { mcpAuthCommand } from "../../../src/hosts/pi/auth-command.ts";
import { mcpCommand } from "../../../src/hosts/pi/command.ts";
import { PiHost } from "../../../src/hosts/pi/host.ts";
import { createSession } from "../../../src/session/create-session.ts";
import { diagnose } from "../../../src/session/diagnose.ts";
import { reportServers } from "../../../src/session/report.ts";
import type { McpSession } from "../../../src/session/session.ts";
import { directTools } from "../../../src/tools/direct.ts";
import { runMcpTool } from "../../../src/tools/mcp.ts";
import { runMcpAuthTool } from "../../../src/tools/mcp-auth.ts";
import { runMcpCall, runMcpLoad } from "../../../src/tools/split.ts";
import type { Home } from "../../ground/home.ts";

/** What came out somewhere. */
export interface Said {
  readonly where: string;
  readonly text: string;
}

export interface Door {
  readonly server: string;
  /** One that it lists. */
  readonly tool: string;
  /** Of calls, for servers that never answer. */
  readonly callMs?: number;
}

/** Asks for everything that can be asked for, by every door, and gives all that was said. */
export async function throughAllDoors(home: Home, door: Door): Promise<Said[]> {
  const said: Said[] = [];
  const say = (where: string, what: unknown) => {
    said.push({ where, text: typeof what === "string" ? what : (JSON.stringify(what) ?? "") });
  };
  const errors = vi
    .spyOn(console, "error")
    .mockImplementation((...words) => say("stderr", words.map(String).join(" ")));
  const before = { env: process.env, cwd: process.cwd() };
  process.env = home.env();
  process.chdir(home.cwd);
  try {
    await byEngine(home, door, say);
    await byPi(home, door, say);
    await byShell(door, say);
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    errors.mockRestore();
  }
  sayFiles(home, say);
  return said;
}

type Say = (where: string, what: unknown) => void;

async function byEngine(home: Home, { server, tool, callMs }: Door, say: Say): Promise<void> {
  const env = home.env();
  const surroundings = { env, cwd: home.cwd, stderr: (_: string, line: string) => say("stderr of the server", line) };
  const session = createSession(loadConfig({ env, home: home.home, cwd: home.cwd }), surroundings, {
    log: (_, entry) => say("log", entry),
    notice: (_, text) => say("notice", text),
  });
  const args = { path: "a" };
  const onProgress = (progress: unknown) => say("progress", progress);
  const run = async (where: string, work: () => Promise<unknown>) => {
    try {
      say(where, await work());
    } catch (thrown) {
      say(`${where} failed`, [
        describeError(thrown),
        messageOf(thrown),
        thrown instanceof McpServerError && thrown.diagnostics,
      ]);
    }
  };
  const cancelled = () => AbortSignal.timeout(50);
  try {
    say("problems", session.problems.map(formatProblem));
    say("unused", session.unused);
    const mcp = (more: object, signal?: AbortSignal) => runMcpTool(session, { args: more, onProgress, signal });
    await run("mcp list_servers", () => mcp({ action: "list_servers" }));
    await run("mcp list_tools", () => mcp({ action: "list_tools", server }));
    await run("mcp search", () => mcp({ action: "search", query: "read a file all", limit: 20 }));
    await run("mcp describe", () => mcp({ action: "describe", server, tool }));
    await run("mcp call", () => mcp({ action: "call", server, tool, args }));
    await run("mcp call, cancelled", () => mcp({ action: "call", server, tool, args }, cancelled()));
    await run("mcp call, wrong arguments", () =>
      mcp({ action: "call", server, tool, args: { path: { a: 1 }, kind: 3 } }),
    );
    await run("mcp call, no arguments at all", () => mcp({ action: "call", server, tool, args: "[1" }));
    await run("mcp call, unknown tool", () => mcp({ action: "call", server, tool: "nosuch" }));
    await run("mcp call, unknown server", () => mcp({ action: "call", server: "nosuch", tool }));
    await run("mcp_load", () => runMcpLoad(session, { args: { server } }));
    await run("mcp_load of a tool", () => runMcpLoad(session, { args: { server, tool } }));
    const timeout = callMs === undefined ? {} : { timeout: 1 };
    await run("mcp_call", () => runMcpCall(session, { args: { server, tool, args, ...timeout }, onProgress }));
    for (const action of ["status", "start", "complete"]) {
      await run(`mcp_auth ${action}`, () => runMcpAuthTool(session, { args: { action, server, code: "xyz" } }));
    }
    await run("direct tools", async () => {
      const tools = await session.listTools(server);
      const direct = directTools(session, server, tools, new ToolNames());
      const answers = await Promise.all(direct.slice(0, 2).map((each) => each.run({ args, onProgress })));
      return [
        tools,
        direct,
        answers,
        tools.map(({ name }) => session.knownTool(server, name)),
        session.knownTools(server),
      ];
    });
    await run("describe", () => session.describe(server));
    await run("pins", async () => session.pins(server));
    await run("report", () => reportServers(session));
    await run("diagnosis", () => Promise.all(diagnose(session, surroundings, undefined, { limitMs: 20_000 })));
    await run("reconnect", () => session.reconnect(server));
    await run("sign-out", () => session.signIn(server).status());
    await run("status", async () => statusOf(session));
    // Files of results end with the session.
    sayFiles(home, say);
  } finally {
    await session.close();
  }
}

function statusOf(session: McpSession): unknown {
  return session.servers.map(({ name }) => session.status(name));
}

async function byPi(home: Home, { server, tool }: Door, say: Say): Promise<void> {
  const tools: PiTool[] = [];
  const pi = {
    registerTool: (each: PiTool) => tools.push(each),
    getActiveTools: () => [],
    getAllTools: () => tools,
    setActiveTools() {},
    registerCommand() {},
    on() {},
  } as unknown as PiApi;
  const host = new PiHost(pi);
  const notify = (text: string) => say("notice in pi", text);
  const ctx = {
    cwd: home.cwd,
    hasUI: true,
    ui: { notify, select: async () => undefined, input: async () => undefined },
  };
  host.begin(ctx);
  await host.awaitDirectTools();
  const onUpdate = (update: unknown) => say("progress in pi", update);
  const args = { path: "a" };
  const calls: Readonly<Record<string, object>> = {
    mcp: { action: "call", server, tool, args },
    mcp_load: { server },
    mcp_call: { server, tool, args },
    [`mcp__${server}__${tool}`]: args,
  };
  for (const { name, execute } of [...tools]) {
    if (calls[name] === undefined) continue;
    say(`${name} in pi`, await execute("1", calls[name], AbortSignal.timeout(3_000), onUpdate));
  }
  const { handler } = mcpCommand(host);
  for (const words of ["", `reconnect ${server}`, "reconnect nosuch"]) await handler(words, ctx);
  for (const words of [`status ${server}`, `complete ${server} x`]) await mcpAuthCommand(host).handler(words, ctx);
  await host.end();
  say("tools in pi", tools);
}

async function byShell({ server, tool, callMs }: Door, say: Say): Promise<void> {
  const lines: readonly (readonly [name: string, ...words: string[]])[] = [
    ["list", server],
    ["search", "read", "all"],
    ["describe", server, tool],
    ["call", server, tool, "path=a"],
    ["get", server],
    ["config"],
    ["doctor", server],
    ["pins", server],
    ["auth", "status", server],
  ];
  const more: typeof lines = [
    ["list"],
    ["call", server, tool, '{"path":{"a":1}}'],
    ["auth", "status"],
    ["auth", "complete", server, "http://127.0.0.1:1/callback?code=x&state=y"],
  ];
  for (const [line, json] of [
    ...[...lines, ...more].map((each) => [each, false] as const),
    ...lines.map((each) => [each, true] as const),
  ]) {
    const [name, ...words] = line;
    const where = `pi-mcp ${line.join(" ")}${json ? " --json" : ""}`;
    const command = COMMANDS.find((each) => each.name === name);
    const terminal = { json, write: (text: string) => say(where, text) };
    const options = { signal: new AbortController().signal, ...(callMs !== undefined && { timeoutMs: callMs }) };
    const input: CommandInput = { terminal, words, rest: undefined, values: {}, options };
    try {
      await command?.run(input);
    } catch (thrown) {
      const diagnostics = thrown instanceof McpServerError ? thrown.diagnostics : "";
      say(`${where} failed`, [describeError(thrown), messageOf(thrown), diagnostics]);
    }
  }
}

function sayFiles(home: Home, say: Say): void {
  for (const { name, content } of filesOf(home)) {
    say(`name of ${name}`, name);
    say(`file ${name}`, content);
  }
}

/** What was written by us: no configuration, no tokens, no raw log, nothing of the servers of the test. */
function filesOf(home: Home): { name: string; content: string }[] {
  const all = readdirSync(home.root, { recursive: true, encoding: "utf8" }).map((name) => join(home.root, name));
  const skipped = /^(?:server|echo)|\/(?:settings\.(?:json|toml)|mcp\.json|\.mcp\.json)$|\/mcp-oauth\/|\/logs\/mcp\//;
  return all
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() && !skipped.test(relative(home.root, path)))
    .map((path) => ({ name: relative(home.root, path), content: readFileSync(path, "latin1") }));
}
