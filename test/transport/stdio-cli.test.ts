import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";

const CLI = fileURLToPath(new URL("../../src/hosts/cli/main.ts", import.meta.url));

async function cli(home: Home, ...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: home.cwd,
    env: home.env(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

test("[E026] a listing leaves nothing of a server that ignores the end of its input and SIGTERM", async () => {
  await using home = await temporaryHome();
  const startup = { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true };
  const server = await fakeStdio(home, { startup });
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  const { code, stdout } = await cli(home, "list", "fake");
  expect(code).toBe(0);
  expect(stdout).toContain("echo");
  expect([...server.starts(), ...server.grandchildren()].filter(isAlive)).toEqual([]);
});

test("[E016] what a server writes to stderr reaches neither stdout nor stderr of the one who uses it", async () => {
  await using home = await temporaryHome();
  const stderr = "\u001b[2J\u001b[31mloading\u001b[0m\n";
  const server = await fakeStdio(home, { startup: { stderr }, on: { "tools/call": { stderr, text: "done" } } });
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  expect(await cli(home, "call", "fake", "echo")).toEqual({ code: 0, stdout: "done\n", stderr: "" });
});
