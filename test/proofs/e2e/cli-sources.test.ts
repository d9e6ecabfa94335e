import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../../ground/fake-server.ts";
import { type Home, temporaryHome } from "../../ground/home.ts";
import { runCli as cli, NODES } from "../../ground/run-cli.ts";

const project = (home: Home, file: string) => join(home.cwd, file);
const serversIn = (file: string) =>
  Object.keys((JSON.parse(readFileSync(file, "utf8")) as { mcpServers: object }).mcpServers);

interface Shown {
  files: { file: string; state: string }[];
  servers: { name: string; origin: string; fields: Record<string, { layer: string; file: string; line: number }> }[];
}

const config = async (node: string, home: Home, ...args: string[]): Promise<Shown> =>
  JSON.parse((await cli(node, home, "config", "--json", ...args)).stdout) as Shown;

describe.each(NODES)("pi-mcp on $name", ({ node }) => {
  test("config shows which file gave which field, where several have, and no value", async () => {
    await using home = await temporaryHome({
      mcp: { mcpServers: { a: { command: "x", env: { K: "hunter2" } }, plain: { command: "x" } } },
      files: { "~/.config/mcp/mcp.json": { mcpServers: { plain: { command: "y" } } } },
    });
    home.write({ files: { "project/over.json": '{"mcpServers": {\n  "a": { "timeout": 5 } }}' } });
    const { stdout } = await cli(node, home, "config", "--mcp-config", "over.json");
    expect(stdout).toContain(
      `a  stdio: x\n  ${home.agentDir}/mcp.json:3:5\n` +
        `  from ${home.agentDir}/mcp.json (your file): command 4:7, env 5:7\n` +
        `  from ${project(home, "over.json")} (command line): timeout 2:10\n`,
    );
    expect(stdout).toMatch(/\nplain {2}stdio: x\n {2}\S+mcp\.json:9:5\n$/);
    expect(stdout).toContain(`read    ${project(home, "over.json")}\n`);
    const shown = await config(node, home, "--mcp-config", "over.json");
    expect(shown.servers[0]?.fields.timeout).toEqual({
      ...{ layer: "flag", file: project(home, "over.json") },
      ...{ line: 2, column: 10 },
    });
    expect(shown.servers[1]?.fields).toHaveProperty("command");
    expect(JSON.stringify(shown) + stdout).not.toContain("hunter2");
  });

  test("--mcp-config adds servers to those there are, before or after the command; --strict-mcp-config leaves only them", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { text: "it works" } } });
    const { name: _, ...entry } = server.entry("");
    home.write({
      mcp: { mcpServers: { own: { command: "x" } } },
      files: { "~/more.json": { mcpServers: { more: entry } } },
    });
    expect(await cli(node, home, "call", "more", "echo", "--mcp-config", "~/more.json")).toMatchObject({
      ...{ code: 0, stdout: "it works\n" },
    });
    const inline = JSON.stringify({ mcpServers: { inline: { url: "https://h/mcp" } } });
    const two = ["--mcp-config", "~/more.json", "--mcp-config", inline];
    expect((await cli(node, home, ...two, "list")).stdout.match(/^\S+/gm)).toEqual(["inline", "more", "own"]);
    expect((await cli(node, home, "list", ...two, "--strict-mcp-config")).stdout.match(/^\S+/gm)).toEqual([
      "inline",
      "more",
    ]);
    expect((await cli(node, home, "call", "own", "echo", ...two, "--strict-mcp-config")).code).toBe(3);
    expect((await cli(node, home, "get", "more", ...two)).stdout).toMatch(/^\S+\/more\.json:3\n/);
    expect(await cli(node, home, "get", "inline", ...two)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("; it comes from --mcp-config"),
    });
  });

  test("--project edits the project's file, which still has to be allowed", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { text: "it works" } } });
    const shared = project(home, ".mcp.json");
    const own = project(home, ".pi/mcp.json");
    expect(await cli(node, home, "add", "p", "--project", "--", server.command, ...server.args)).toMatchObject({
      ...{ code: 0, stdout: `added "p": ${shared}:3\n` },
    });
    expect(existsSync(join(home.agentDir, "mcp.json"))).toBe(false);
    expect((await cli(node, home, "call", "p", "echo")).code).toBe(9);
    expect(server.starts()).toEqual([]);
    expect((await cli(node, home, "trust", "--yes")).code).toBe(0);
    expect((await cli(node, home, "call", "p", "echo")).stdout).toBe("it works\n");
    // New content has not been seen, whoever wrote it.
    expect((await cli(node, home, "disable", "p", "--project")).stdout).toBe(`disabled "p": ${shared}:3\n`);
    expect((await cli(node, home, "enable", "p", "--project")).code).toBe(0);
    expect((await cli(node, home, "call", "p", "echo")).code).toBe(9);
    expect((await cli(node, home, "get", "p", "--project")).stdout).toMatch(/^\S+\/\.mcp\.json:3 \(not allowed yet/);
    expect((await cli(node, home, "remove", "p", "--project")).stdout).toBe(`removed "p" from ${shared}\n`);
    expect(serversIn(shared)).toEqual([]);
    expect(existsSync(own)).toBe(false);
  });
});

// What takes nothing of Node that could be older.
describe.each(NODES.slice(0, 1))("pi-mcp on $name", ({ node }) => {
  test("what --mcp-config names and cannot be used ends every command with 2, naming it, and starts nothing", async () => {
    await using home = await temporaryHome();
    const own = await fakeStdio(home);
    const { name: _, ...entry } = own.entry("");
    home.write({
      mcp: { mcpServers: { own: entry } },
      files: { "project/broken.json": '{"mcpServers":\n "hunter2', "project/list.json": "[]" },
    });
    for (const [source, place] of [
      ["nowhere.json", `${project(home, "nowhere.json")}:1:1: error: There is no such file`],
      ["broken.json", `${project(home, "broken.json")}:2:2: error: This file is not used`],
      ["list.json", `${project(home, "list.json")}:1:1: error: It must hold an object`],
      [".", `${home.cwd}:1:1: error: This is not a regular file`],
      ['{"mcpServers" hunter2', "--mcp-config:1:15: error: This file is not used"],
      ["", "--mcp-config needs the path of a file, or JSON"],
    ]) {
      for (const args of [["list"], ["config"], ["get", "own"], ["call", "own", "echo"]]) {
        const { code, stdout, stderr } = await cli(node, home, ...args, "--mcp-config", source ?? "");
        expect([code, stdout]).toEqual([2, ""]);
        expect(stderr).toContain(`pi-mcp: ${place}`);
        expect(stderr).not.toContain("hunter2");
      }
    }
    expect(own.starts()).toEqual([]);
    expect((await cli(node, home, "add", "x", "--mcp-config", "f", "--", "y")).code).toBe(2);
  });

  test("one wrong entry of a named file costs only itself", async () => {
    await using home = await temporaryHome({
      files: { "project/f.json": { mcpServers: { bad: { command: 5 }, good: { command: "x" } } } },
    });
    const { code, stdout, stderr } = await cli(node, home, "list", "--mcp-config", "f.json");
    expect([code, stdout]).toEqual([0, "good  stdio: x\n"]);
    expect(stderr).toMatch(/f\.json:4:\d+: error: Server "bad": "command" must be a string/);
  });

  test("an editor's variable is read here, too; its servers show neither address nor command", async () => {
    await using home = await temporaryHome();
    const list = [{ type: "http", name: "docs", url: "https://h/hunter2", headers: [] }];
    home.write({ env: { PI_ACP_MCP_SERVERS: JSON.stringify(list) } });
    expect((await cli(node, home, "list")).stdout).toBe("docs  http\n");
    const { stdout } = await cli(node, home, "config");
    expect(stdout).toContain("read    PI_ACP_MCP_SERVERS\n");
    expect(stdout).toContain("docs  http\n  PI_ACP_MCP_SERVERS:1:1\n");
    expect((await cli(node, home, "get", "docs")).stderr).toContain("it comes from PI_ACP_MCP_SERVERS");
    expect(await cli(node, home, "remove", "docs")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        'no server "docs". It comes from PI_ACP_MCP_SERVERS, which is not edited from here.',
      ),
    });
    expect((await cli(node, home, "list", "--strict-mcp-config")).stdout).toMatch(/^No MCP servers are configured/);
    expect(stdout + JSON.stringify(await config(node, home))).not.toContain("hunter2");
  });

  test("--project takes .pi/mcp.json only where there is no .mcp.json, and never leaves the project", async () => {
    await using home = await temporaryHome({
      files: { "project/.pi/mcp.json": { mcpServers: {} }, "~/theirs.json": "{}" },
    });
    await cli(node, home, "add", "a", "--project", "--url", "https://h/a");
    expect(serversIn(project(home, ".pi/mcp.json"))).toEqual(["a"]);
    home.write({ files: { "project/.mcp.json": { mcpServers: {} } } });
    await cli(node, home, "add", "b", "--project", "--url", "https://h/b");
    expect(serversIn(project(home, ".mcp.json"))).toEqual(["b"]);
    expect(serversIn(project(home, ".pi/mcp.json"))).toEqual(["a"]);
    const { stdout } = await cli(node, home, "get", "a", "--project");
    expect(stdout).toContain(`${project(home, ".pi/mcp.json")}:3`);
    expect((await cli(node, home, "add", "c", "--project", "--file", "x.json", "--", "y")).code).toBe(2);
    expect((await cli(node, home, "get", "c", "--project")).code).toBe(3);

    await using other = await temporaryHome({ files: { "~/theirs.json": "{}" } });
    const theirs = join(other.home, "theirs.json");
    symlinkSync(theirs, project(other, ".mcp.json"));
    const refused = await cli(node, other, "add", "d", "--project", "--", "y");
    expect([refused.code, readFileSync(theirs, "utf8")]).toEqual([2, "{}"]);
    expect(refused.stderr).toContain(`${project(other, ".mcp.json")} leads out of the project, to ${theirs}`);
  });
});
