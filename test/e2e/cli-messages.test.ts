import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { png } from "../../src/content/image.fixture.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { NODES, runCli } from "../ground/run-cli.ts";

const node = NODES[0]?.node ?? "";

test("a server that is disabled or wrong is told as that, with its place and what to do", async () => {
  await using home = await temporaryHome({
    mcp: { mcpServers: { off: { command: "x", disabled: true }, bad: { command: 5 }, on: { command: "x" } } },
    files: { "project/.mcp.json": { mcpServers: { theirs: { command: "x" } } } },
  });
  const file = join(home.agentDir, "mcp.json");
  const off = `MCP server \`off\` is disabled at ${file}:5; \`pi-mcp enable off\` switches it on`;
  const bad = `MCP server \`bad\` is left out because of a mistake at ${file}:8:18: "command" must be a string, not a number`;
  for (const args of [["call"], ["list"], ["doctor"]] as const) {
    for (const [name, message] of [
      ["off", off],
      ["bad", bad],
    ] as const) {
      const { code, stdout, stderr } = await runCli(node, home, ...args, name, ...(args[0] === "call" ? ["echo"] : []));
      expect([args[0], name, code]).toEqual([args[0], name, 3]);
      expect(stdout + stderr).toContain(args[0] === "doctor" ? message.replace(/^.*?` /, "") : `pi-mcp: ${message}\n`);
    }
  }
  expect((await runCli(node, home, "get", "bad")).stdout).toContain(
    `${file}:7 (is left out because of a mistake at ${file}:8:18: `,
  );
  const config = await runCli(node, home, "config");
  expect(config.stdout.slice(config.stdout.indexOf("\nnot in use"))).toBe(
    [
      "",
      "not in use:",
      `  bad  (is left out because of a mistake at ${file}:8:18: "command" must be a string, not a number)`,
      `  off  (is disabled at ${file}:5; \`pi-mcp enable off\` switches it on)`,
      `  theirs  (not allowed yet, see \`pi-mcp trust\`: ${join(home.cwd, ".mcp.json")}:3)`,
      "",
    ].join("\n"),
  );
  expect(JSON.parse((await runCli(node, home, "config", "--json")).stdout)).toMatchObject({
    servers: [{ name: "on", target: "stdio: x" }],
    untrusted: [{ name: "theirs", target: "stdio: x", untrusted: "waiting" }],
    unused: [
      { name: "bad", reason: "wrong", file, line: 8, column: 18 },
      { name: "off", reason: "disabled", file, line: 5, remedy: "pi-mcp enable off" },
    ],
  });
  expect(JSON.parse((await runCli(node, home, "list", "--json")).stdout)).toMatchObject({
    servers: [{ name: "on", target: "stdio: x" }],
    untrusted: [{ name: "theirs", target: "stdio: x" }],
  });
  // What it says to do works.
  expect((await runCli(node, home, "enable", "off")).code).toBe(0);
  expect((await runCli(node, home, "call", "off", "echo")).code).toBe(4);
});

test("config says which files are broken", async () => {
  await using home = await temporaryHome({ mcp: "{ oops", settings: "[1]" });
  mkdirSync(join(home.agentDir, "settings.toml"));
  const { stdout } = await runCli(node, home, "config");
  for (const name of ["mcp.json", "settings.json", "settings.toml"]) {
    expect(stdout).toContain(`broken  ${join(home.agentDir, name)}\n`);
  }
});

test("a tool that does not exist ends with 7, however it is called and however the server says so", async () => {
  await using home = await temporaryHome();
  const text = "MCP error -32602: Tool nope not found";
  const polite = await fakeStdio(home, { on: { "tools/call": { text, isError: true } } });
  const strict = await fakeStdio(home);
  home.write({ settings: { mcpServers: [polite.entry("polite"), strict.entry("strict")] } });
  for (const server of ["polite", "strict"]) {
    for (const words of [[], ["a=1"], ['{"a": 1}']]) {
      const ended = await runCli(node, home, "call", server, "nope", ...words);
      const stderr = `pi-mcp: MCP server \`${server}\` has no tool \`nope\` (available: echo)\n`;
      expect(ended).toEqual({ code: 7, stdout: "", stderr });
    }
  }
});

test("a time-out says that the limit came with the call", async () => {
  await using home = await temporaryHome();
  const silent = await fakeStdio(home, { on: { "tools/call": { silent: true } } });
  home.write({ settings: { mcpServers: [silent.entry("silent", { timeout: 5 })] } });
  expect((await runCli(node, home, "call", "silent", "echo", "--timeout", "0.3")).stderr).toBe(
    "pi-mcp: MCP server `silent`: `tools/call` timed out after 0.3s. That limit came with the call (on the command line: `--timeout`)\n",
  );
});

test("an edit of a project's file says that it has to be allowed", async () => {
  await using home = await temporaryHome();
  const file = join(home.cwd, ".mcp.json");
  const note = `pi-mcp: ${file} is a project's file, whose servers run once its content is allowed: run \`pi-mcp trust\`.\n`;
  expect(await runCli(node, home, "add", "a", "--file", ".mcp.json", "--", "x")).toMatchObject({
    code: 0,
    stdout: `added "a": ${file}:3\n`,
    stderr: note,
  });
  const allowed = await runCli(node, home, "trust", "--yes", "--json");
  expect(JSON.parse(allowed.stdout)).toEqual({
    allowed: [
      {
        file,
        realPath: file,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        servers: [{ name: "a", effect: "adds" }],
      },
    ],
    untrusted: [],
  });
  expect((await runCli(node, home, "add", "b", "--file", ".mcp.json", "--", "x")).stderr).toBe(note);
  // From elsewhere the folder is named; a person's own file is none of a project.
  const other = home.path("other/.pi/mcp.json");
  expect((await runCli(node, home, "add", "a", "--file", other, "--", "x")).stderr).toContain(
    `run \`pi-mcp trust\` in ${home.path("other")}.`,
  );
  expect((await runCli(node, home, "add", "a", "--", "x")).stderr).toBe("");
  expect(JSON.parse(readFileSync(other, "utf8"))).toMatchObject({ mcpServers: { a: {} } });
});

test("what cannot be revoked is named", async () => {
  await using home = await temporaryHome();
  expect(await runCli(node, home, "trust", "--revoke", "/nope")).toEqual({
    code: 0,
    stdout: "There was nothing to revoke: /nope has been neither allowed nor denied.\n",
    stderr: "",
  });
});

test("an image of a result goes into a file whose path is printed", async () => {
  await using home = await temporaryHome();
  const image = png(2, 2);
  const content = [
    { type: "text", text: "before" },
    { type: "image", data: image.toString("base64"), mimeType: "image/png" },
    { type: "text", text: "after" },
  ];
  const server = await fakeStdio(home, { on: { "tools/call": { result: { content } } } });
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  const { code, stdout } = await runCli(node, home, "call", "fake", "echo");
  const [first, , saved, last] = stdout.split("\n");
  expect([code, first, last]).toEqual([0, "before", "after"]);
  const path = /^\[image\/png, .*, saved to (.*)\]$/.exec(saved ?? "")?.[1] ?? "";
  expect(readFileSync(path).equals(image)).toBe(true);
  expect(path.startsWith(home.tmp)).toBe(true);
});
