import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { isAlive } from "../../ground/processes.ts";
import { EXTENSION, HOSTS } from "../../ground/run-pi.ts";
import { until } from "../../ground/wait.ts";

const PROGRAM = fileURLToPath(new URL("./sdk-program.mjs", import.meta.url));

describe.each(HOSTS)("$name as a library", (host) => {
  test.each([
    ["ends by itself with the servers of sessions that were dropped without a word", "0"],
    ["has no servers any more of sessions that were dropped without a word while it lives on", "30000"],
  ])("%s", async (_, liveMs) => {
    await using home = await temporaryHome();
    const { command, args, starts } = await fakeStdio(home, { startup: { ignoreEof: true, ignoreSigterm: true } });
    home.write({ mcp: { mcpServers: { s: { command, args } } } });
    const main = host.cli.replace(/dist\/(?:bundle\/)?cli\.js$/, "dist/index.js");
    const child = spawn(host.node, [PROGRAM, main, EXTENSION, home.cwd, liveMs], {
      cwd: home.cwd,
      env: home.env(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    try {
      await until("the sessions", () => (said.includes("dropped") ? true : undefined), 60_000);
      expect(starts().length).toBe(3);
      await until("the end of all servers", () => (starts().some(isAlive) ? undefined : true), 20_000);
      expect(said).not.toContain("ends");
      if (liveMs !== "0") child.kill();
      const [code, signal] = await ended;
      expect([code, signal]).toEqual(liveMs === "0" ? [0, null] : [null, "SIGTERM"]);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
