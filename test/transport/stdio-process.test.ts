import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import { groupOf, isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "../session/open.ts";
import { openFake, openStdio, textOf } from "./stdio-open.ts";

const STUBBORN = { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true };

test("[E017] [S1-62] of 100 MB on stderr the last 64 KiB are kept, and nothing is held up", async () => {
  await using home = await temporaryHome();
  const stderr = [{ repeat: "0123456789abcde\n", times: 100 * 65_536 }, "the last words\n"];
  await using opened = await openFake(home, { on: { "tools/call": { stderr, text: "ok" } } });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("ok");
  const kept = () => opened.transport.diagnostics();
  await until("the last words", () => kept().endsWith("\nthe last words") || undefined);
  expect(Buffer.byteLength(kept())).toBeLessThanOrEqual(65_536);
  expect(Buffer.byteLength(kept())).toBeGreaterThan(65_000);
});

test.each([
  [{ startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } }, "its process exited with code 1"],
  [
    { on: { initialize: { stderr: "FATAL: missing API_KEY\n", signal: "SIGKILL" as const } } },
    "its process was ended by SIGKILL",
  ],
  [{ on: { initialize: { stderr: "FATAL: missing API_KEY\n", exit: 0 } } }, "its process exited with code 0"],
])(
  "[E017] a server that ends while it starts is told with how it ended and its last words %#",
  async (script, reason) => {
    await using home = await temporaryHome();
    await using opened = await openFake(home, script);
    await expect(opened.request("initialize")).rejects.toMatchObject({ failure: "ended", message: reason });
    expect((await opened.closed).message).toBe(reason);
    expect(opened.transport.diagnostics()).toBe("FATAL: missing API_KEY");
    await expect(opened.request("ping")).rejects.toMatchObject({ delivery: "not-sent", message: reason });
  },
);

test("[E035] calls in flight fail at once with how the server ended, whatever their time limit", async () => {
  await using home = await temporaryHome({ settings: { mcpServers: [] } });
  const server = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  home.write({ settings: { mcpServers: [server.entry("fake", { tool_timeout_sec: 1_800, replay: "never" })] } });
  await using session = sessionOf(home);
  const calls = [1, 2, 3].map(() => mcp(session, { action: "call", server: "fake", tool: "echo" }));
  await server.until("tools/call", 3);
  process.kill(server.starts()[0] as number, "SIGKILL");
  for (const { text } of await Promise.all(calls)) expect(text).toContain("its process was ended by SIGKILL");
});

test("an answer that was written before the end arrives before it", async () => {
  await using home = await temporaryHome();
  const text = "x".repeat(1_000_000);
  await using opened = await openFake(home, { on: { "tools/call": { text, exit: 0 } } });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe(text);
  expect((await opened.closed).message).toBe("its process exited with code 0");
});

test("a server that closes its output and lives on is over", async () => {
  await using home = await temporaryHome();
  await using opened = await openStdio(home, { command: "sh", args: ["-c", "exec >&-; sleep 300"] });
  await expect(opened.request("initialize")).rejects.toMatchObject({ message: "it closed its output" });
});

test("what cannot be started says why and names nothing", async () => {
  await using home = await temporaryHome({ files: { "project/plain": "no program" } });
  const failure = (command: string, args: string[] = [], cwd = home.cwd) =>
    openStdio(home, { command, args, cwd }).then(
      () => "it started",
      (error: unknown) => error,
    );
  const notFound = "its command (or working directory) was not found";
  expect(await failure("no-such-command")).toMatchObject({ failure: "unreachable", message: notFound });
  expect(await failure(process.execPath, [], "/no/such/folder")).toMatchObject({ message: notFound });
  expect(await failure(home.path("project/plain"))).toMatchObject({ message: "its command is not executable" });
  expect(await failure("sh", ["a\0b"])).toMatchObject({ failure: "unreachable", delivery: "not-sent" });
});

test("[E038] arguments reach the process as they are, without a shell", async () => {
  await using home = await temporaryHome();
  const args = ["a b;$(touch pwned)", "`id`", "'\"", "", "*", "\\"];
  const server = await fakeStdio(home);
  await using opened = await openStdio(home, { command: server.command, args: [...server.args, ...args] });
  await opened.handshake();
  expect(server.launches()[0]?.args).toEqual(args);
});

test("a process is the leader of a group of its own, without a terminal", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { startup: { spawnGrandchild: true } });
  await opened.handshake();
  const { pid } = opened.transport;
  const [grandchild] = opened.server.grandchildren();
  expect(groupOf(pid)).toBe(pid);
  expect(groupOf(grandchild)).toBe(pid);
  expect(groupOf(process.pid)).not.toBe(pid);
});

test("[E022] a server behind a shell, and what it started, end with the connection", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { startup: { spawnGrandchild: true, ignoreEof: true } });
  const line = [server.command, ...server.args].map((word) => `'${word}'`).join(" ");
  const opened = await openStdio(home, { command: "sh", args: ["-c", `${line}; true`] });
  await opened.handshake();
  const pids = [opened.transport.pid ?? 0, ...server.starts(), ...server.grandchildren()];
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  await opened.transport.close();
  expect(pids.filter(isAlive)).toEqual([]);
});

test("[E023] ten servers that ignore the end of their input and SIGTERM end side by side, with their children", async () => {
  await using home = await temporaryHome();
  for (const file of ["settings", "mcp"] as const) {
    const servers = await Promise.all(Array.from({ length: 10 }, () => fakeStdio(home, { startup: STUBBORN })));
    const mcpServers = servers.map((server, index) => server.entry(`s${index}`));
    home.write({ settings: { mcpServers: [] }, mcp: { mcpServers: [] }, [file]: { mcpServers } });
    const session = sessionOf(home);
    await Promise.all(servers.map((_, index) => session.callTool(`s${index}`, "echo", {})));
    const pids = servers.flatMap((server) => [...server.starts(), ...server.grandchildren()]);
    expect(pids.filter(isAlive)).toHaveLength(20);
    await session.close();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(servers.map((server) => server.journal().some(({ type }) => type === "signal"))).not.toContain(false);
  }
});

test("a settings server is asked to end and ends by itself, without a signal", async () => {
  await using home = await temporaryHome();
  const polite = await fakeStdio(home, { startup: { ignoreEof: true }, on: { "notifications/exit": { exit: 0 } } });
  const plain = await fakeStdio(home);
  home.write({
    settings: { mcpServers: [polite.entry("polite")] },
    mcp: { mcpServers: [plain.entry("plain")] },
  });
  const session = sessionOf(home);
  await Promise.all(["polite", "plain"].map((name) => session.callTool(name, "echo", {})));
  await session.close();
  const ends = (server: typeof polite) =>
    server.journal().flatMap((entry) => (entry.type === "message" ? (entry.message.method ?? []) : entry.type));
  expect(ends(polite).slice(-3)).toEqual(["shutdown", "notifications/exit", "exit"]);
  expect(ends(plain).slice(-3)).toEqual(["tools/call", "eof", "exit"]);
  expect(polite.received().map(({ message }) => message?.id)).toEqual([1, undefined, 2, 3, undefined]);
});

test("[E019] [E020] [E290] after ten sessions, opened and closed, no process is left", async () => {
  await using home = await temporaryHome();
  const servers = await Promise.all([1, 2].map(() => fakeStdio(home, { startup: { spawnGrandchild: true } })));
  home.write({ settings: { mcpServers: servers.map((server, index) => server.entry(`s${index}`)) } });
  for (let round = 1; round <= 10; round++) {
    const session = sessionOf(home);
    await Promise.all(servers.map((_, index) => session.callTool(`s${index}`, "echo", {})));
    expect(home.survivors()).toHaveLength(4);
    await session.close();
    expect(home.survivors()).toEqual([]);
  }
  expect(servers.map((server) => server.starts().length)).toEqual([10, 10]);
});

const descriptors = () => readdirSync("/dev/fd");

test("[E289] descriptors stay as few over 300 connections to processes that exit, fail to start or are closed", async () => {
  await using home = await temporaryHome();
  const connect = async (home: Home, round: number) => {
    switch (round % 3) {
      case 0: {
        await using opened = await openStdio(home, { command: "sh", args: ["-c", "exit 3"] });
        await opened.closed;
        return;
      }
      case 1: {
        await using _ = await openStdio(home, { command: "cat" });
        return;
      }
      default:
        await openStdio(home, { command: "no-such-command" }).catch(() => {});
    }
  };
  for (let round = 0; round < 30; round++) await connect(home, round);
  const before = descriptors().length;
  for (let round = 0; round < 300; round++) await connect(home, round);
  expect(descriptors().length).toBeLessThanOrEqual(before + 2);
});

test("[E289] descriptors go, too, when a process that has left the group holds the other ends", async () => {
  await using home = await temporaryHome();
  const script = `
    require("node:child_process").spawn("sleep", ["2"], { detached: true, stdio: "inherit" }).unref();
    process.stdin.on("end", () => process.exit()).resume();
    console.log("up")`;
  const before = new Set(descriptors());
  const opened = await openStdio(home, { command: process.execPath, args: ["-e", script] });
  await until("its output", () => opened.transport.diagnostics() || undefined);
  const added = new Set(descriptors().filter((name) => !before.has(name)));
  await opened.transport.close();
  await until("the descriptors to go", () => !descriptors().some((name) => added.has(name)) || undefined, 1_000);
  expect(home.survivors()).not.toEqual([]);
});
