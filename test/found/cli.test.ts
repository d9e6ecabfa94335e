import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { HOSTS } from "../ground/run-pi.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

function start(node: string, home: Home, args: string[], stdout: "pipe" | number = "pipe") {
  const child = spawn(node, [CLI, ...args], { cwd: home.cwd, env: home.env(), stdio: ["ignore", stdout, "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  const ended = new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.once("error", reject).once("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, ...output });
    });
  });
  return { child, ended };
}

describe.each(HOSTS.map(({ version, node }) => ({ version, node })))("on the Node of pi $version", ({ node }) => {
  test("a result that cannot be written is a failure, not exit code 0", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const ended = await start(node, home, ["call", "fake", "echo"], openSync("/dev/full", "w")).ended;
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toMatch(/^pi-mcp: /);
  });

  test("--timeout of two days is no time-out of a millisecond", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { delayMs: 300, echo: true } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    expect(await start(node, home, ["call", "fake", "echo", "--timeout", "172800"]).ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("--timeout Infinity is refused or no limit", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { delayMs: 300, echo: true } } });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    expect((await start(node, home, ["call", "fake", "echo", "--timeout", "Infinity"]).ended).code).toBeOneOf([0, 2]);
  });

  test("JSON followed by another word is refused, nothing is called", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const ended = await start(node, home, ["call", "fake", "echo", '{"q":"a=b"}', "limit=1"]).ended;
    expect(server.params("tools/call")).toEqual([]);
    expect(ended.code).toBe(2);
  });

  test("an integer that is too large for a number is not changed", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("echo")] });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    const ended = await start(node, home, ["call", "fake", "echo", "id=12345678901234567890"]).ended;
    expect(ended.stdout).toContain("12345678901234567890");
  });

  test("--json: what the server said on stderr is in the error too", async () => {
    await using home = await temporaryHome();
    const dying = await fakeStdio(home, { startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } });
    home.write({ settings: { mcpServers: [dying.entry("dying")] } });
    expect((await start(node, home, ["call", "dying", "echo", "--json"]).ended).stderr).toContain("FATAL: missing API_KEY");
  });

});
