import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AcpProxy } from "../../../src/acp/proxy/proxy.ts";
import {
  ADAPTERS,
  type Adapter,
  type Editor,
  type EditorOptions,
  openEditor,
  PI_SETTINGS,
} from "../../ground/acp-editor.ts";
import { fakeHttp, fakeStdio, tool } from "../../ground/fake-server.ts";
import { type Home, type HomeFiles, temporaryHome } from "../../ground/home.ts";
import { isAlive, waitUntilGone } from "../../ground/processes.ts";
import { type ScriptedModel, scriptedModel, type Turn, toolResults } from "../../ground/scripted-model.ts";
import { fakeSse } from "../../ground/sse-server.ts";
import { until } from "../../ground/wait.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const stdio = ({ command, args }: { command: string; args: readonly string[] }, name: string) => ({
  name,
  command,
  args: [...args],
  env: [],
});

const toolsOf = (model: ScriptedModel, request: number) =>
  (model.requests[request]?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith("mcp__"));

function ground(turns: readonly Turn[], files: HomeFiles = {}) {
  return scriptedModel(turns).then(async (model) => {
    const home = await temporaryHome({ model, settings: PI_SETTINGS, ...files });
    return { model, home, [Symbol.asyncDispose]: () => home.remove().finally(() => model.close()) };
  });
}

function open(home: Home, adapter: Adapter, options: EditorOptions = {}) {
  return openEditor(home, adapter, { proxy: [], ...options });
}

const call = (name: string, args: object = {}): Turn => ({ call: { tool: name, args } });

describe.each(ADAPTERS)("$name behind the proxy", (adapter) => {
  test("a session that was recorded without the proxy is the same with it, but for what the agent is said to take", async () => {
    await using all = await ground([{ call: { tool: "bash", args: { command: "echo hi" } } }, { say: "done" }]);
    const editor = await openEditor(all.home, adapter);
    const session = await editor.open([]);
    await editor.prompt(session, "go");
    await editor.close();
    const out: { from: string; text: string }[] = [];
    const proxy = new AcpProxy({
      toAgent: (line) => out.push({ from: "editor", text: line.toString() }),
      toEditor: (line) => out.push({ from: "agent", text: line.toString() }),
      listed: () => {},
      command: async () => "",
    });
    for (const { from, bytes } of editor.lines) {
      if (from === "editor") proxy.fromEditor(bytes);
      else proxy.fromAgent(bytes);
    }
    const sent = editor.lines.map(({ from, bytes }) => ({ from, text: bytes.toString() }));
    expect(sent.length).toBeGreaterThan(10);
    const { id } = JSON.parse(sent[0]?.text ?? "{}");
    const answer = sent.findIndex(({ from, text }) => from === "agent" && JSON.parse(text).id === id);
    const expected = JSON.parse(sent[answer]?.text ?? "{}");
    Object.assign(expected.result.agentCapabilities.mcpCapabilities, { http: true, sse: true });
    expect(JSON.parse(out[answer]?.text ?? "{}")).toEqual(expected);
    expect(out.toSpliced(answer, 1)).toEqual(sent.toSpliced(answer, 1));
  });

  test("[S2-01] [S2-02] [S2-05] the editor's servers reach the model, with no other setting and without a word", async () => {
    await using all = await ground([
      {
        call: [
          { tool: "mcp__my_files_1__echo", args: { a: 1 } },
          { tool: "mcp__web__echo" },
          { tool: "mcp__old__echo" },
        ],
      },
      { say: "done" },
    ]);
    const { home, model } = all;
    const [local, web, old] = [await fakeStdio(home), await fakeHttp(), await fakeSse()];
    await using editor = await open(home, adapter);
    expect(editor.agent).toMatchObject({ agentCapabilities: { mcpCapabilities: { http: true, sse: true } } });
    const session = await editor.open([
      stdio(local, "my files/1"),
      { type: "http", name: "web", url: web.url, headers: [] },
      { type: "sse", name: "old", url: old.url, headers: [] },
    ]);
    expect(await editor.prompt(session, "go")).toBe("end_turn");
    expect(editor.text(session)).toBe("done");
    expect(toolsOf(model, 0).sort()).toEqual(["mcp__my_files_1__echo", "mcp__old__echo", "mcp__web__echo"]);
    expect(toolResults(model.requests[1])).toEqual(['{"a":1}', "{}", "{}"]);
    // Nothing pi starts has the way to the proxy.
    expect(Object.keys(local.launches()[0]?.env ?? {}).filter((name) => name.startsWith("PI_MCP_ACP"))).toEqual([]);
    await Promise.all([web.close(), old.close()]);
  });

  test("[S2-15] [S2-16] [S2-20] bad entries and servers that do not start cost themselves and a notice; /mcp is answered", async () => {
    await using all = await ground([{ say: "one" }, call("mcp__good__echo"), { say: "two" }]);
    const { home, model } = all;
    const good = await fakeStdio(home);
    await using editor = await open(home, adapter, { capabilities: { session: { notices: {} } } });
    const session = await editor.open([
      { type: "carrier-pigeon", name: "odd" },
      { name: "half" },
      { name: "broken", command: home.path("nothing"), args: [], env: [] },
      { type: "http", name: "far", url: "http://127.0.0.1:9/mcp", headers: [] },
      stdio(good, "good"),
    ]);
    expect(await editor.prompt(session, "go")).toBe("end_turn");
    expect(toolsOf(model, 0)).toEqual(["mcp__good__echo"]);
    const said = JSON.stringify(editor.updates);
    for (const name of ["odd", "half"]) expect(said.split(`Server \\"${name}\\"`)).toHaveLength(2);
    for (const name of ["broken", "far"]) expect(said.split(`MCP server \`${name}\``)).toHaveLength(2);
    expect(said).not.toContain(home.path("nothing"));
    expect(editor.commands(session)).toContain("mcp");
    const before = editor.text(session).length;
    expect(await editor.prompt(session, "/mcp")).toBe("end_turn");
    const report = editor.text(session).slice(before);
    expect(report).toContain("good: connected, 1 tool");
    expect(report).toContain("broken: failed");
    expect(await editor.prompt(session, "/mcp reconnect good")).toBe("end_turn");
    expect(good.starts()).toHaveLength(2);
    expect(await editor.prompt(session, "/mcp reconnect nobody")).toBe("end_turn");
    expect(editor.text(session)).toContain("no MCP server configured with name `nobody`");
    expect(await editor.prompt(session, "again")).toBe("end_turn");
    expect(toolResults(model.requests[2])).toEqual(["{}"]);
  });

  test("[S2-21] [S2-38] [S2-39] the first turn waits for a slow server, not for a slower one, whose tools come later", async () => {
    await using all = await ground([{ say: "one" }, { say: "two" }], { env: { PI_MCP_FIRST_TURN_WAIT: "6" } });
    const { home, model } = all;
    const slow = (delayMs: number) => fakeStdio(home, { on: { initialize: [{ delayMs, usual: true }] } });
    const [late, later] = [await slow(2_000), await slow(14_000)];
    await using editor = await open(home, adapter);
    const session = await editor.open([stdio(late, "late"), stdio(later, "later")]);
    await editor.prompt(session, "go");
    expect(toolsOf(model, 0)).toEqual(["mcp__late__echo"]);
    await editor.said(session, "still starting: later");
    await until("its tools", () => (later.params("tools/list").length > 0 ? true : undefined));
    await editor.prompt(session, "/mcp");
    await editor.prompt(session, "on");
    expect(toolsOf(model, 1).sort()).toEqual(["mcp__late__echo", "mcp__later__echo"]);
  });

  test("[S2-14] two sessions that are made at once have their own servers, also when the adapter restarts one; so has one that is loaded", async () => {
    const turns = ["one", "two", "one", "one", "three"].flatMap((name) => [call(`mcp__${name}__echo`), { say: name }]);
    // The older adapter has ended one of the two, and only loading brings it back.
    const skipped = adapter.restarts ? 0 : 3;
    await using all = await ground(turns.slice(skipped * 2));
    const { home, model } = all;
    const [one, two, three] = [await fakeStdio(home), await fakeStdio(home), await fakeStdio(home)];
    const sessions: string[] = [];
    const turn = async (editor: Editor, session: string, name: string) => {
      const first = model.requests.length;
      expect(await editor.prompt(session, "go")).toBe("end_turn");
      expect(toolsOf(model, first)).toEqual([`mcp__${name}__echo`]);
      expect(toolResults(model.requests[first + 1]).at(-1)).toBe("{}");
      expect(editor.text(session).endsWith(name)).toBe(true);
    };
    {
      await using editor = await open(home, adapter);
      sessions.push(...(await Promise.all([editor.open([stdio(one, "one")]), editor.open([stdio(two, "two")])])));
      const [first = "", second = ""] = sessions;
      if (adapter.restarts) {
        await turn(editor, first, "one");
        await turn(editor, second, "two");
        await turn(editor, first, "one");
      }
      sessions.unshift(await editor.open([stdio(one, "one")]));
      await turn(editor, sessions[0] ?? "", "one");
    }
    expect(await waitUntilGone(() => home.survivors())).toEqual([]);
    const [sessionId = ""] = sessions;
    await using editor = await open(home, adapter);
    await editor.request("session/load", { sessionId, cwd: home.cwd, mcpServers: [stdio(three, "three")] });
    await turn(editor, sessionId, "three");
  });

  test("a turn that is cancelled in the middle of a call ends, and the server is told", async () => {
    await using all = await ground([call("mcp__slow__echo"), { say: "never" }]);
    const { home } = all;
    const slow = await fakeStdio(home, { on: { "tools/call": [{ delayMs: 20_000, usual: true }] } });
    await using editor = await open(home, adapter);
    const session = await editor.open([stdio(slow, "slow")]);
    const turn = editor.prompt(session, "go");
    await slow.until("tools/call");
    await editor.notify("session/cancel", { sessionId: session });
    expect(await turn).toBe("cancelled");
    await slow.until("notifications/cancelled");
  });

  test("[S2-42] [S2-43] the editor asks before a call, with the call's id, and shows what a server asks", async () => {
    await using all = await ground([
      ...[call("mcp__fake__write", { path: "a" }), { say: "1" }],
      ...[call("mcp__fake__write", { path: "b" }), { say: "2" }],
      ...[call("mcp__fake__look"), { say: "3" }],
    ]);
    const { home, model } = all;
    const params = { message: "Which?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } };
    const fake = await fakeStdio(home, {
      tools: [tool("write"), { ...tool("look"), annotations: { readOnlyHint: true } }],
      on: { "tools/call look": [{ ask: { method: "elicitation/create", params }, text: "seen" }] },
    });
    const answers = ["deny", "once"];
    await using editor = await open(home, adapter, {
      proxy: ["--permission", "ask"],
      capabilities: { elicitation: { form: {} } },
      permission: () => ({ outcome: { outcome: "selected", optionId: answers.shift() } }),
      elicitation: () => ({ action: "accept", content: { a: "b" } }),
    });
    const session = await editor.open([stdio(fake, "fake")]);
    for (const prompt of ["one", "two", "three"]) expect(await editor.prompt(session, prompt)).toBe("end_turn");
    const calls = editor.updates.flatMap(({ update }) =>
      update.sessionUpdate === "tool_call" ? [String(update.toolCallId)] : [],
    );
    expect(editor.asked).toMatchObject([
      {
        method: "permission",
        params: {
          sessionId: session,
          toolCall: { toolCallId: calls[0], title: "fake: write", rawInput: { path: "a" } },
          options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
        },
      },
      { method: "permission", params: { toolCall: { toolCallId: calls[1], rawInput: { path: "b" } } } },
      { method: "elicitation", params: { sessionId: session, mode: "form", message: 'MCP server "fake": Which?' } },
    ]);
    expect(fake.params("tools/call").map((params) => [params?.name, params?.arguments])).toEqual([
      ["write", { path: "b" }],
      ["look", {}],
    ]);
    expect(toolResults(model.requests[1])[0]).toContain("User denied permission");
  });

  test("[S2-03] [S2-04] without the extension no server is started, and one message names them", async () => {
    await using all = await ground([{ say: "done" }]);
    const { home, model } = all;
    const [local, web] = [await fakeStdio(home), await fakeHttp()];
    await using editor = await open(home, adapter, { proxy: ["--no-shim"] });
    const secret = { name: "Authorization", value: "Bearer s3cr3t" };
    const session = await editor.open([
      stdio(local, "files"),
      { type: "http", name: "web", url: web.url, headers: [secret] },
    ]);
    const text = await editor.said(session, "MCP servers are not connected");
    expect(text).toContain("not connected: files, web");
    expect(text).toContain("pi install npm:pi-mcp");
    expect(text).not.toContain("s3cr3t");
    expect(await editor.prompt(session, "go")).toBe("end_turn");
    expect(toolsOf(model, 0)).toEqual([]);
    expect(await editor.prompt(session, "/mcp")).toBe("end_turn");
    expect(editor.text(session).split("not connected")).toHaveLength(2);
    expect(local.starts()).toEqual([]);
    expect(web.received()).toEqual([]);
    await web.close();
  });

  test("[S2-06] the package as it is published, installed in pi, and the checkout that the proxy brings along are one", async () => {
    await using all = await ground([call("mcp__local__echo"), { say: "done" }]);
    const { home, model } = all;
    const folder = home.path("installed");
    mkdirSync(folder);
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, args, { cwd: ROOT, env: home.env(), encoding: "utf8" });
    const tarball = run("npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder).trim();
    run("tar", "-xzf", `${folder}/${tarball}`, "-C", folder);
    symlinkSync(`${ROOT}node_modules`, `${folder}/package/node_modules`);
    run(adapter.pi.node, adapter.pi.cli, "install", `${folder}/package`);
    const local = await fakeStdio(home);
    for (const proxy of [[], ["--no-shim"]]) {
      await using editor = await open(home, adapter, { proxy });
      const session = await editor.open([stdio(local, "local")]);
      expect(await editor.prompt(session, "go")).toBe("end_turn");
    }
    expect(toolResults(model.requests[1])).toEqual(["{}"]);
    expect(toolsOf(model, 2)).toEqual(["mcp__local__echo"]);
    expect(local.starts()).toHaveLength(2);
  });

  test.each(["editor", "proxy", "agent", "pi"] as const)("nothing is left when the %s is killed", async (who) => {
    await using all = await ground([call("mcp__stubborn__echo"), { say: "never" }]);
    const { home } = all;
    const stubborn = await fakeStdio(home, {
      startup: { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true },
      on: { "tools/call": { silent: true } },
    });
    const editor = await open(home, adapter);
    const session = await editor.open([stdio(stubborn, "stubborn")]);
    const turn = editor.prompt(session, "go").catch(() => "failed");
    await stubborn.until("tools/call");
    const pids = [...stubborn.starts(), ...stubborn.grandchildren()];
    expect(pids.map(isAlive)).toEqual([true, true]);
    if (who === "editor") editor.child.stdin?.end();
    else process.kill(pidOf(home, adapter, editor.child.pid, who), "SIGKILL");
    if (who === "pi") {
      await until("the servers to end", () => (pids.some(isAlive) ? undefined : true), 5_000);
      await editor.close();
    }
    expect(await waitUntilGone(() => home.survivors(), 8_000)).toEqual([]);
    await turn;
    // What a killed proxy could not remove the next one does.
    await (await open(home, adapter)).close();
    expect(readdirSync(home.path("run")).filter((name) => name.startsWith("pi-mcp-acp"))).toEqual([]);
  });
});

function pidOf(home: Home, adapter: Adapter, proxy: number | undefined, who: "proxy" | "agent" | "pi"): number {
  if (who === "proxy") return proxy ?? Number.NaN;
  const part = who === "agent" ? adapter.entry : adapter.pi.cli;
  // Of pi, which may give itself another title, it is what the agent has started.
  const agent = home.survivors().find(({ parent, command }) => parent === proxy && command.includes(adapter.entry));
  const found = home
    .survivors()
    .find(({ parent, command }) => (who === "agent" ? command.includes(part) : parent === agent?.pid));
  if (found === undefined) throw new Error(`There is no ${who}.`);
  return found.pid;
}
