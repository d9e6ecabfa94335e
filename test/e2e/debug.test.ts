import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { fakeNpx } from "../ground/npx.ts";
import { runCli as cli, NODES } from "../ground/run-cli.ts";
import { EXTENSION, HOSTS, runPi } from "../ground/run-pi.ts";
import { scriptedModel } from "../ground/scripted-model.ts";

describe.each(NODES)("pi-mcp on $name", ({ node }) => {
  test("shows the stderr of a server with `debug` as it comes, on stderr alone, and of no other", async () => {
    await using home = await temporaryHome({ env: { KEY: "a-secret-of-mine" } });
    const startup = { stderr: "\u001b[31mstarting\u001b[0m with a-secret-of-mine\n" };
    const loud = await fakeStdio(home, { startup, tools: [tool("echo")] });
    const more = { env: { API_KEY: "${KEY}" } };
    home.write({
      mcp: { mcpServers: { loud: loud.entry("loud", { ...more, debug: true }), quiet: loud.entry("quiet", more) } },
    });
    const shown = await cli(node, home, "call", "loud", "echo", '{"a":1}');
    expect(shown).toMatchObject({ code: 0, stderr: "[loud] starting with [REDACTED]\n" });
    expect(shown.stdout).not.toContain("starting");
    const json = await cli(node, home, "call", "loud", "echo", '{"a":1}', "--json");
    expect(JSON.parse(json.stdout)).toHaveProperty("content");
    expect(await cli(node, home, "call", "quiet", "echo", '{"a":1}')).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(join(home.home, ".pi", "logs"))).toBe(false);
  });

  test("[S3-02] [S3-05] a call on a server of npx goes without npm, and what was found is kept", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home, { tools: [tool("echo")] });
    npx.install("some-server", "1.0.0");
    home.write({ mcp: { mcpServers: { fake: { command: "npx", args: ["-y", "some-server"] } } } });
    expect(await cli(node, home, "call", "fake", "echo", '{"a":1}')).toMatchObject({ code: 0, stderr: "" });
    expect([npx.versions(), npx.ran()]).toEqual([["1.0.0"], []]);
    expect(Object.keys(npx.kept().entries)).toEqual(['["npx","-y","some-server"]']);
    expect((await cli(node, home, "list")).stdout).toContain("npx -y some-server");
  });

  test("a version that is asked for in the background holds up neither the answer nor the end", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home, { tools: [tool("echo")] });
    npx.install("some-server", "1.0.0", { ageHours: 3 });
    npx.publish("delay", "60000");
    npx.publish("some-server@latest", "1.0.0");
    home.write({ mcp: { mcpServers: { fake: { command: "npx", args: ["-y", "some-server"] } } } });
    expect(await cli(node, home, "call", "fake", "echo", '{"a":1}')).toMatchObject({ code: 0, stderr: "" });
    expect(home.survivors()).toEqual([]);
  });
});

test.each(HOSTS)("$name writes the stderr of a server with `debug` to a log", async (host) => {
  await using model = await scriptedModel([
    { call: { tool: "mcp_call", args: { server: "loud", tool: "echo" } } },
    { say: () => "done" },
  ]);
  await using home = await temporaryHome({ model });
  const loud = await fakeStdio(home, { startup: { stderr: "starting\n" }, tools: [tool("echo")] });
  home.write({ mcp: { mcpServers: { loud: loud.entry("loud", { debug: true }) } } });
  const run = await runPi(host, home, { mode: "print", prompt: "call it", extension: EXTENSION });
  expect([run.code, run.stdout]).toEqual([0, "done\n"]);
  expect(run.stderr).not.toContain("starting");
  expect(readFileSync(join(home.home, ".pi", "logs", "mcp", "loud.log"), "utf8")).toBe("starting\n");
});
