import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { NODES, runCli } from "../ground/run-cli.ts";
import { setTraps } from "../ground/trap.ts";

describe.each(NODES)("on $name", ({ node }) => {
  test("a value that is a command is run for a call, and by no other command", async () => {
    await using home = await temporaryHome();
    await using traps = await setTraps(home);
    const server = await fakeStdio(home, { on: { "tools/call": { env: "TOKEN" } } });
    const written = home.path("written");
    const env = { TOKEN: `!touch ${written} && echo s3cr3t-$HALF`, TRAP: `!${traps.name} env` };
    home.write({
      mcp: {
        mcpServers: {
          fake: { command: server.command, args: server.args, env: { TOKEN: env.TOKEN } },
          trap: { command: traps.program, env, headers: {} },
          web: { url: traps.url, bearerToken: `!${traps.program} token`, headers: { A: `!${traps.name} header` } },
        },
      },
      env: { ...traps.env, HALF: "0utput" },
    });
    const file = `${home.agentDir}/mcp.json`;
    for (const args of [
      ["list"],
      ["list", "--json"],
      ["get", "trap"],
      ["config"],
      ["config", "--json"],
      ["validate", file],
    ]) {
      const { code, stdout, stderr } = await runCli(node, home, ...args);
      expect([args, code]).toEqual([args, 0]);
      expect(stdout + stderr).not.toContain("0utput");
    }
    expect([traps.sprung(), existsSync(written)]).toEqual([[], false]);
    const call = await runCli(node, home, "call", "fake", "echo");
    expect([call.code, call.stdout]).toEqual([0, expect.stringContaining("[REDACTED]")]);
    expect(server.launches()[0]?.env.TOKEN).toBe("s3cr3t-0utput");
    expect(traps.sprung()).toEqual([]);
  });
});

// What takes nothing of Node that could be older.
describe.each(NODES.slice(0, 1))("on $name", ({ node }) => {
  test("`add` says that a pasted value is a command, and runs nothing", async () => {
    await using home = await temporaryHome();
    await using traps = await setTraps(home);
    home.write({ env: traps.env });
    const snippet = {
      a: { url: traps.url, headers: { "X-A": `!${traps.name}`, B: "$!x" }, bearerToken: `!${traps.name}` },
    };
    const added = await runCli(node, home, "add", "--json", JSON.stringify({ mcpServers: snippet }));
    expect(added.code).toBe(0);
    expect(added.stderr.split("\n").filter((line) => line.includes("command"))).toEqual([
      'pi-mcp: "a": headers.X-A is a command, which is run at each start; "$!" is an exclamation mark.',
      'pi-mcp: "a": bearerToken is a command, which is run at each start; "$!" is an exclamation mark.',
    ]);
    expect(traps.sprung()).toEqual([]);
  });

  test("a command over its ten seconds fails the start by name and place, and is gone with what it started", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    const env = { TOKEN: "!trap '' TERM; sleep 300 & printf s3cr3t; wait" };
    home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, env } } } });
    const call = await runCli(node, home, "call", "fake", "echo");
    expect(home.survivors()).toEqual([]);
    expect(call).toMatchObject({ stdout: "" });
    expect(call.code).not.toBe(0);
    expect(call.stderr).toMatch(
      /the command \("!…"\) for the variable "TOKEN" has not ended within 10 s\. Check it in .*mcp\.json:\d+$/m,
    );
    expect(call.stderr).not.toContain("s3cr3t");
    expect(server.starts()).toEqual([]);
  });
});
