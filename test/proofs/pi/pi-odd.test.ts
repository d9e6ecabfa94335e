import { describe, expect, test } from "vitest";
import { fakeStdio } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, ending, HOSTS, runPi, startPi } from "../../ground/run-pi.ts";
import type { Turn } from "../../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";
import { until } from "../../ground/wait.ts";

const callMcp = (args: object): Turn => ({ call: { tool: "mcp", args } });
const call = callMcp({ action: "call", server: "fake", tool: "echo" });
const quoteResult: Turn = { say: (request) => `The tool says: ${toolResults(request).at(-1)}` };

describe.each(HOSTS)("$name", (host) => {
  test("new sessions asked for at once, before the first has loaded the engine, do not end pi", async () => {
    await using model = await scriptedModel([]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home);
    home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct" })] } });
    const pi = startPi(host, home, { extension: EXTENSION }, ["--mode", "rpc"], "pipe");
    let stderr = "";
    pi.stderr?.on("data", (text) => {
      stderr += String(text);
    });
    pi.stdin?.on("error", () => {});
    const ended = ending(pi, 20_000);
    for (const id of ["a", "b", "c"]) pi.stdin?.write(`${JSON.stringify({ type: "new_session", id })}\n`);
    await Promise.race([ended, server.until("tools/list", 2, 4_000).catch(() => {})]);
    pi.stdin?.end();
    expect([(await ended).code, stderr.includes("    at ")]).toEqual([0, false]);
  });
});

// What is decided before any host is asked is the same on all of them.
describe.each(HOSTS.slice(0, 1))("$name", (host) => {
  test("a progress token that is no primitive does not end pi", async () => {
    await using model = await scriptedModel([call, quoteResult]);
    await using home = await temporaryHome({ model });
    const params = { progress: 1, progressToken: { toString: 1, valueOf: 1 } };
    const server = await fakeStdio(home, {
      on: { "tools/call": { notify: [{ jsonrpc: "2.0", method: "notifications/progress", params }], text: "fine" } },
    });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([run.code, run.stdout.includes("fine")]).toEqual([0, true]);
  });

  test("progress that a server reports reaches the host without secrets and escape sequences", async () => {
    const secret = "s3cr3t-value-of-mine";
    await using model = await scriptedModel([call, quoteResult]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, {
      on: { "tools/call": { progress: [{ progress: 1, message: `\u001b[2J${secret}` }], text: "fine" } },
    });
    home.write({ settings: { mcpServers: [server.entry("fake", { env: { TOKEN: secret } })] } });
    const run = await runPi(host, home, { mode: "json", prompt: "go", extension: EXTENSION });
    expect(run.stdout).toContain("tool_execution_update");
    expect(run.stdout).not.toContain(secret);
    expect(run.stdout).not.toContain("\\u001b[2J");
  });

  test("/mcp reconnect of a server that fails shows what it said on stderr", async () => {
    await using model = await scriptedModel([]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.send({ type: "prompt", message: "/mcp reconnect fake" });
    await until("the notice", () => (pi.ui.length > 0 ? true : undefined));
    expect(String(pi.ui.at(-1)?.message)).toContain("FATAL: missing API_KEY");
  });

  test("a server with direct tools that hangs holds up the first turn and no other", async () => {
    await using model = await scriptedModel([{ say: "one" }, { say: "two" }]);
    await using home = await temporaryHome({ model, env: { PI_MCP_FIRST_TURN_WAIT: "5" } });
    const server = await fakeStdio(home, { on: { initialize: { silent: true } } });
    home.write({ settings: { mcpServers: [server.entry("fake", { exposure: "direct", requestTimeoutMs: 300_000 })] } });
    await using pi = await rpcPi(host, home, { extension: EXTENSION });
    await pi.prompt("one");
    const sent = pi.send({ type: "prompt", message: "two" });
    const asked = await model.until(2, 4_500).catch(() => undefined);
    await sent;
    expect(asked).toBeDefined();
  });
});
