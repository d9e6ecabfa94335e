import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type FakeStdio, fakeStdio } from "../../ground/fake-server.ts";
import { type Home, temporaryHome } from "../../ground/home.ts";
import { isAlive, waitUntilGone } from "../../ground/processes.ts";
import { NODES, runCli, startCli } from "../../ground/run-cli.ts";
import { until } from "../../ground/wait.ts";

const [{ node }] = NODES as [(typeof NODES)[0]];

const isWindows = process.platform === "win32";

/** Of util-linux: runs a command on a terminal. */
const TERMINAL = "script";
const hasTerminal = spawnSync(TERMINAL, ["--version"]).status === 0;

/** One that ends by nothing but being killed, and has started another. */
function stubborn(home: Home): Promise<FakeStdio> {
  return fakeStdio(home, {
    startup: { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true },
    on: { "tools/call": { silent: true } },
  });
}

async function calling(home: Home, server: FakeStdio): Promise<readonly number[]> {
  await server.until("tools/call");
  const pids = [...server.starts(), ...server.grandchildren()];
  expect(pids.map(isAlive)).toEqual([true, true]);
  expect(home.survivors().length).toBeGreaterThan(2);
  return pids;
}

/** Those that guard the servers of one agent. */
function watchdogsOf(agent: number | undefined): number[] {
  const list = spawnSync("ps", ["-axww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).stdout.split("\n");
  return list
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/s.exec(line) ?? [])
    .filter(([, , parent, command]) => Number(parent) === agent && command?.includes("pi-mcp-watchdog"))
    .map(([, pid]) => Number(pid));
}

// Side by side, as most of it is waiting for what is to end.
describe.skipIf(isWindows)("an agent that is ended in the middle of a call", { concurrent: true }, () => {
  test.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const)("by %s leaves no server after 5 s", async (signal) => {
    await using home = await temporaryHome();
    const server = await stubborn(home);
    home.write({ settings: { mcpServers: [server.entry("stubborn")] } });
    const { child, ended } = startCli(node, home, ["call", "stubborn", "echo"]);
    await calling(home, server);
    const watchdogs = await until("the watchdog", () => {
      const found = watchdogsOf(child.pid);
      return found.length === 0 ? undefined : found;
    });
    child.kill(signal);
    await ended;
    expect(await waitUntilGone(() => home.survivors(), 5_000)).toEqual([]);
    expect(watchdogs).toHaveLength(1);
    await until("the watchdog to end", () => (watchdogs.some(isAlive) ? undefined : true));
  });

  test.each(["SIGKILL", "SIGINT"] as const)("by %s leaves no command that was to give a value", async (signal) => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    const mark = home.path("mark");
    const env = { TOKEN: `!touch ${mark}; sleep 300 & sleep 300` };
    home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, env } } } });
    const { child, ended } = startCli(node, home, ["call", "fake", "echo"]);
    await until("the command", () => (existsSync(mark) ? true : undefined));
    await until("the watchdog", () => (watchdogsOf(child.pid).length === 0 ? undefined : true));
    child.kill(signal);
    await ended;
    expect(await waitUntilGone(() => home.survivors(), 5_000)).toEqual([]);
    expect(server.starts()).toEqual([]);
  });

  // Nothing that npm brings can open a terminal without native code.
  test.skipIf(!hasTerminal)("by the closing of its terminal leaves no server after 5 s", async () => {
    await using home = await temporaryHome();
    const server = await stubborn(home);
    home.write({ settings: { mcpServers: [server.entry("stubborn")] } });
    const { child, ended } = startCli(node, home, ["--version"]);
    await ended;
    const command = [node, child.spawnargs[1], "call", "stubborn", "echo"].map((word) => `'${word}'`).join(" ");
    const terminal = spawn(TERMINAL, ["-qec", command, "/dev/null"], {
      cwd: home.cwd,
      env: home.env({ SHELL: "/bin/sh" }),
      stdio: "ignore",
    });
    await calling(home, server);
    terminal.kill("SIGKILL");
    expect(await waitUntilGone(() => home.survivors(), 5_000)).toEqual([]);
  });
});

describe.skipIf(process.platform !== "linux")("an agent that is killed together with its watchdog", () => {
  /** As after a crash that took both. */
  async function crashed(home: Home, server: FakeStdio): Promise<readonly number[]> {
    const { child, ended } = startCli(node, home, ["call", "stubborn", "echo"]);
    const pids = await calling(home, server);
    const watchdogs = await until("the watchdog", () => {
      const found = watchdogsOf(child.pid);
      return found.length === 0 ? undefined : found;
    });
    for (const pid of watchdogs) process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    await ended;
    return pids;
  }

  test("leaves servers that the next start ends, also one that starts none itself", async () => {
    await using home = await temporaryHome();
    const server = await stubborn(home);
    home.write({ settings: { mcpServers: [server.entry("stubborn")] } });
    const pids = await crashed(home, server);
    expect(pids.map(isAlive)).toEqual([true, true]);
    expect(await runCli(node, home, "list")).toMatchObject({ code: 0, stderr: "" });
    // They were killed, which takes the system a moment.
    await until("the servers to end", () => (pids.some(isAlive) ? undefined : true));
    expect(readdirSync(home.path("run/pi-mcp"))).toEqual([]);
  });

  test("is the only one whose servers are ended: those of a living agent go on", async () => {
    await using home = await temporaryHome();
    const [server, other] = [await stubborn(home), await stubborn(home)];
    home.write({ settings: { mcpServers: [server.entry("stubborn"), other.entry("other")] } });
    const living = startCli(node, home, ["call", "other", "echo"]);
    const theirs = await calling(home, other);
    await crashed(home, server);
    await runCli(node, home, "list");
    await until("the server to end", () => (server.starts().some(isAlive) ? undefined : true));
    expect(theirs.map(isAlive)).toEqual([true, true]);
    living.child.kill("SIGTERM");
    await living.ended;
  });
});

describe.skipIf(process.platform !== "linux")("a record of servers", () => {
  /** Starts something in a group of its own, as a server is. */
  function bystander(home: Home, env: Record<string, string> = {}) {
    const child = spawn("/bin/sleep", ["60"], { env: { ...home.env(), ...env }, detached: true, stdio: "ignore" });
    return { pid: child.pid as number, end: () => child.kill("SIGKILL") };
  }
  const MARK = "5f0e8b9c-0000-4000-8000-000000000000";
  const startOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ")[19];

  test.each([
    ["whose number now is of a process without the mark", {}, (pid: number) => `1 0 ${MARK}\n${pid} ${startOf(pid)}\n`],
    ["that started at another time", { PI_MCP_AGENT: MARK }, (pid: number) => `1 0 ${MARK}\n${pid} 1\n`],
    [
      "of an agent that lives",
      { PI_MCP_AGENT: MARK },
      (pid: number) => `1 ${startOf(1)} ${MARK}\n${pid} ${startOf(pid)}\n`,
    ],
    ["not in it", { PI_MCP_AGENT: MARK }, () => `1 0 ${MARK}\n`],
    ["in a file that is no record", { PI_MCP_AGENT: MARK }, (pid: number) => `${pid}\n${pid}`],
    ["in a file with wild numbers", { PI_MCP_AGENT: MARK }, () => `1 0 ${MARK}\n-1 0\n0 0\n1 0\nNaN x\n1e9 1`],
  ])("ends no process %s", async (_what, env, record) => {
    await using home = await temporaryHome({ settings: { mcpServers: [] } });
    const { pid, end } = bystander(home, env);
    const folder = home.path("run/pi-mcp");
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, MARK), record(pid));
    expect(await runCli(node, home, "list")).toMatchObject({ code: 0, stderr: "" });
    expect(isAlive(pid)).toBe(true);
    end();
  });

  test("is not read from a folder that others can write to", async () => {
    await using home = await temporaryHome({ settings: { mcpServers: [] } });
    const { pid, end } = bystander(home, { PI_MCP_AGENT: MARK });
    const folder = home.path("run/pi-mcp");
    mkdirSync(folder);
    writeFileSync(join(folder, MARK), `1 0 ${MARK}\n${pid} ${startOf(pid)}\n`);
    chmodSync(folder, 0o777);
    await runCli(node, home, "list");
    expect(isAlive(pid)).toBe(true);
    // The same in a folder of one's own ends it.
    chmodSync(folder, 0o700);
    await runCli(node, home, "list");
    await until("the process to end", () => (isAlive(pid) ? undefined : true));
    end();
  });
});

test("a server that ended with its agent leaves no record of it", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  await runCli(node, home, "call", "fake", "echo");
  const folder = join(home.path("run"), "pi-mcp");
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
});
