import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepPermission } from "../../src/config/keep-permission.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { NODES, runCli } from "../ground/run-cli.ts";

const node = NODES[0]?.node ?? "node";

test("a shell is no way around: without a terminal it denies what would be asked about, with exit code 9", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  home.write({
    settings: { mcpServers: [server.entry("files")] },
    files: { "agent/mcp.json": { permission: { mode: "ask", allow: ["files.other"] } } },
  });
  const { code, stdout, stderr } = await runCli(node, home, "call", "files", "echo", "{}");
  expect([code, stdout, server.starts()]).toEqual([9, "", []]);
  expect(stderr).toMatch(/its tool `echo` was not used: mode `ask` \(.*mcp\.json:\d+\) wants a person to be asked/);
  home.write({ files: { "agent/mcp.json": { permission: { mode: "ask", allow: ["files.echo"] } } } });
  expect((await runCli(node, home, "call", "files", "echo", "{}")).code).toBe(0);
});

test("what holds is shown, and what was allowed for good can be taken back", async () => {
  await using home = await temporaryHome();
  const person = { env: home.env(), home: home.home };
  expect((await runCli(node, home, "permission")).stdout).toBe("mode yolo\n");
  home.write({ files: { "agent/mcp.json": { permission: { mode: "ask", deny: ["a.b"] } } } });
  keepPermission(person, { server: "s", identity: "1", kind: "tool", name: "t" });
  const shown = await runCli(node, home, "permission");
  expect([shown.code, shown.stdout.split("\n").length]).toEqual([0, 4]);
  expect(shown.stdout).toMatch(/^mode ask \(.*mcp\.json:\d+\)\ndeny {2}"a\.b" of .*\nalways {2}s: tool t\n$/);
  expect((await runCli(node, home, "doctor")).stdout).toContain("Permission: mode ask (");
  const { stdout } = await runCli(node, home, "permission", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ mode: "ask", rules: [{ effect: "deny" }], always: [{ name: "t" }] });
  expect((await runCli(node, home, "permission", "s")).code).toBe(2);
  expect((await runCli(node, home, "permission", "--forget", "other")).stdout).toContain("There was nothing");
  expect((await runCli(node, home, "permission", "--forget", "s")).stdout).toBe("forgotten  s: tool t\n");
  expect(existsSync(join(home.agentDir, "mcp-permissions.json"))).toBe(true);
  expect((await runCli(node, home, "permission")).stdout).not.toContain("always");
});
