import { chmodSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { readAcpServers } from "../../../src/config/acp.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { createSession } from "../../../src/session/create-session.ts";
import { LegacySseTransport } from "../../../src/transport/legacy-sse.ts";
import { fakeHttp, fakeStdio, tool } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { fakeSse } from "../../ground/sse-server.ts";
import { until } from "../../ground/wait.ts";
import { discoverResult } from "../../protocol/open.ts";
import { mcp, sessionOf, sessionWith } from "../../session/open.ts";

const call = { action: "call", server: "fake", tool: "echo" };
const soon = <T>(promise: Promise<T>, ms = 4_000) =>
  Promise.race([
    promise.then(
      (value) => ({ value }),
      (error: Error) => ({ error: error.message }),
    ),
    sleep(ms, "still waiting"),
  ]);

test("a call the server made a task of is not made again when the session is lost while it is looked at", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    tools: [tool("echo", { execution: { taskSupport: "required" } })],
    on: {
      "tools/call": { result: { task: { taskId: "t", status: "working", pollInterval: 50 } } },
      "tasks/get": [{ status: 404, body: "" }, { result: { taskId: "t", status: "completed" } }],
      "tasks/result": { result: { content: [{ type: "text", text: "done" }] } },
    },
  });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  const answer = await mcp(session, call);
  await session.close();
  await server.close();
  expect(server.params("tools/call")).toHaveLength(1);
  expect(answer.text).toContain("may have run");
});

test("a call the server made a task of is not made again when its process ends between two looks", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: {
      "server/discover": { result: discoverResult() },
      "tools/call": { result: { resultType: "task", taskId: "t", status: "working", pollIntervalMs: 1_000 }, exit: 0 },
    },
  });
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args } } } });
  await using session = sessionOf(home);
  const answer = await mcp(session, call);
  expect(server.params("tools/call")).toHaveLength(1);
  expect(answer.text).toContain("may have run");
});

test("a call that has reported progress is not made again when its error speaks of a session", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({
    on: {
      "tools/call": [
        { progress: [1, 2], error: { code: -32600, message: "Browser session expired" } },
        { text: "again" },
      ],
    },
  });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  await mcp(session, call);
  await session.close();
  await server.close();
  expect(server.params("tools/call")).toHaveLength(1);
});

test("closing the session ends a call beside one that was refused with 401", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({
    tools: [tool("slow"), tool("refused")],
    on: { "tools/call slow": { silent: true }, "tools/call refused": { status: 401 } },
  });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  const slow = soon(session.callTool("fake", "slow", {}));
  await server.until("tools/call");
  await session.callTool("fake", "refused", {}).catch(() => {});
  await session.close();
  const ended = await slow;
  await server.close();
  expect(ended).toHaveProperty("error");
});

test("closing the session ends a call on a connection whose session another call found lost", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ tools: [tool("slow"), tool("echo")], on: { "tools/call slow": { silent: true } } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  const slow = soon(session.callTool("fake", "slow", {}));
  await server.until("tools/call");
  server.forgetSessions();
  await session.callTool("fake", "echo", {});
  await session.close();
  const ended = await slow;
  await server.close();
  expect(ended).toHaveProperty("error");
});

test("after a sleep all calls wait for the answer to the question whether the server lives", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: {
      ping: { silent: true },
      "tools/call": [{ usual: true }, { delayMs: 4_000, text: "from the dead" }, { usual: true }],
    },
  });
  await using _ = session;
  await mcp(session, call);
  const now = Date.now;
  const slept = vi.spyOn(Date, "now").mockImplementation(() => now() + 240_000);
  const answers = await Promise.all([mcp(session, call), mcp(session, call)]);
  slept.mockRestore();
  expect(server.starts()).toHaveLength(2);
  expect(answers.map(({ isError }) => isError)).toEqual([false, false]);
});

test("a stream of the older transport that is closed while it opens stays closed", async () => {
  const server = await fakeSse();
  const transport = new LegacySseTransport({ url: server.url, headers: {}, env: {} });
  const opening = transport
    .open({ message: () => {}, lost: () => {}, notice: () => {}, closed: () => {} })
    .catch(() => {});
  await transport.close();
  await opening;
  await sleep(300);
  const streams = server.push({ jsonrpc: "2.0", method: "x" });
  await server.close();
  expect(streams).toBe(0);
});

test("a container is started again in the other framing though the engine writes no id over another", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { startup: { exitOnJunk: true } });
  const log = home.path("docker.log");
  // As the engine does: a file that is there already is refused.
  const docker = `#!/bin/sh
echo "$@" >> ${log}
case "$1" in
  run) for arg; do case "$arg" in --cidfile=*)
         file="\${arg#--cidfile=}"
         if [ -e "$file" ]; then echo "container ID file found, make sure the other container isn't running or delete $file" >&2; exit 125; fi
         echo abc123 > "$file";; esac; done
       exec ${server.command} ${server.args.join(" ")};;
esac
`;
  home.write({ files: { "~/bin/docker": docker } });
  const command = `${home.home}/bin/docker`;
  chmodSync(command, 0o755);
  home.write({ settings: { mcpServers: [{ name: "fake", command, args: ["run", "-i", "--rm", "some/image"] }] } });
  await using session = sessionOf(home);
  const answer = await mcp(session, call);
  expect(readFileSync(log, "utf8")).toContain("run --cidfile=");
  expect(answer.text).toContain("(no arguments)");
});

test("a header name no header can have is named as the fault, not as a lost connection", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp();
  const config = readAcpServers([
    { type: "http", name: "fake", url: server.url, headers: [{ name: "X Key", value: "1" }] },
  ]);
  const session = createSession(config, { env: home.env(), cwd: home.cwd });
  const answer = await mcp(session, call);
  await session.close();
  await server.close();
  expect(answer.text).toContain("headers");
  expect(answer.text).not.toContain("connection was lost");
});

test("aborting a call during the wake-up question does not leave a dead server trusted", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: { ping: { silent: true }, "tools/call": [{ usual: true }, { delayMs: 4_000, text: "from the dead" }] },
  });
  await using _ = session;
  await mcp(session, call);
  const now = Date.now;
  const slept = vi.spyOn(Date, "now").mockImplementation(() => now() + 240_000);
  const abort = new AbortController();
  const first = session.callTool("fake", "echo", {}, { signal: abort.signal }).catch(() => {});
  await server.until("ping");
  abort.abort();
  await first;
  const second = session.callTool("fake", "echo", {}).catch(() => {});
  await until("a second start", () => server.starts()[1], 6_000).finally(() => slept.mockRestore());
  void second;
});

test("a call that was answered with a question is not begun anew when its process ends meanwhile", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: {
      "server/discover": { result: discoverResult() },
      "tools/call": {
        result: {
          resultType: "input_required",
          inputRequests: { q: { method: "elicitation/create", params: { message: "?" } } },
        },
        exit: 0,
      },
    },
  });
  const config = readAcpServers([{ name: "fake", command: server.command, args: server.args }]);
  let asked = 0;
  const ask = async () => {
    asked++;
    await sleep(800);
    return { action: "accept" as const };
  };
  await using session = createSession(config, { env: home.env(), cwd: home.cwd }, { elicit: { modes: ["form"], ask } });
  const answer = await mcp(session, call);
  expect(answer.isError).toBe(true);
  expect([asked, server.params("tools/call").length]).toEqual([1, 1]);
});

test("the question whether a server lives after a sleep has its limit also while a person is asked something", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    tools: [tool("asks"), tool("echo")],
    on: {
      "server/discover": { error: { code: -32601, message: "Method not found" } },
      "tools/call asks": { ask: { method: "elicitation/create", params: { message: "?" } }, usual: true },
      ping: { silent: true },
    },
  });
  const config = readAcpServers([{ name: "fake", command: server.command, args: server.args }]);
  let asked = 0;
  const ask = () => {
    asked++;
    return new Promise<never>(() => {});
  };
  await using session = createSession(config, { env: home.env(), cwd: home.cwd }, { elicit: { modes: ["form"], ask } });
  const abort = new AbortController();
  const first = session.callTool("fake", "asks", {}, { signal: abort.signal }).catch(() => {});
  await until("the question", () => asked || undefined);
  abort.abort();
  await first;
  const now = Date.now;
  const slept = vi.spyOn(Date, "now").mockImplementation(() => now() + 240_000);
  const second = soon(session.callTool("fake", "echo", {}), 8_000);
  expect(await second.finally(() => slept.mockRestore())).toHaveProperty("value");
});

test("closing the session ends a listing that waits to be tried again", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/list": { status: 503, headers: { "retry-after": "9" } } } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
  const session = sessionOf(home);
  const listing = soon(session.listTools("fake"));
  await server.until("tools/list");
  await sleep(200);
  await session.close();
  const ended = await listing;
  await server.close();
  expect(ended).toHaveProperty("error");
});

test("a host function that throws at once is still an answer to the server", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, {
    on: { "tools/call": { ask: { method: "sampling/createMessage", params: {} }, usual: true } },
  });
  home.write({ settings: { mcpServers: [server.entry("fake", { sampling: true })] } });
  const config = loadConfig({ env: home.env(), home: home.home });
  const sample = () => {
    throw new Error("no model");
  };
  await using session = createSession(config, { env: home.env(), cwd: home.cwd }, { sample });
  expect(await soon(session.callTool("fake", "echo", {}))).toHaveProperty("value");
  expect(server.received().find(({ message }) => message?.error)?.message?.error?.code).toBe(-32603);
});

test("a server that announces a change with every listing is not listed without end", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, {
    on: { "tools/list": { notify: [{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }], usual: true } },
  });
  await using _ = session;
  await session.listTools("fake");
  await sleep(4_000);
  const listings = server.params("tools/list").length;
  // It settles, or slows down: a listing every tenth of a second, for ever, does neither.
  expect(listings).toBeLessThan(10);
});

test("a line of noise that looks like a header does not swallow the answers of a server that writes lines", async () => {
  await using home = await temporaryHome();
  const answer = '{"jsonrpc":"2.0","id":{{id}},"result":{"content":[{"type":"text","text":"ok"}]}}\n';
  const { session } = await sessionWith(
    home,
    {
      on: {
        "tools/call": { raw: ["HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 50000\n\n", answer] },
      },
    },
    { requestTimeoutMs: 3_000 },
  );
  await using _ = session;
  await session.listTools("fake");
  expect((await mcp(session, call)).text).toContain("ok");
});
