import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import { HOSTS } from "../ground/run-pi.ts";
import { setTraps, trapFiles } from "../ground/trap.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const [{ node }, { node: oldestNode }] = HOSTS;

/** Of util-linux: runs a command on a terminal. Systems without it have no other way that needs no native package. */
const TERMINAL = "script";

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(
  home: Home,
  args: readonly string[],
  options: { env?: Record<string, string>; node?: string; cwd?: string } = {},
) {
  return new Promise<Ended>((resolve, reject) => {
    const child = spawn(options.node ?? node, [CLI, ...args], {
      cwd: options.cwd ?? home.cwd,
      env: home.env(options.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
      });
    }
    child.once("error", reject).once("close", (code) => resolve({ code, ...output }));
  });
}

describe("before a project's files are allowed", () => {
  test.each([
    ["list"],
    ["list", "--json"],
    ["list", "run-1"],
    ["list", "own"],
    ["call", "run-1", "echo"],
    ["call", "path-2", "echo", "a=1"],
    ["call", "shell-3", "echo", "{}"],
    ["call", "web-1", "echo", "--json"],
    ["call", "sse-2", "echo"],
    ["call", "helper-3", "echo"],
    ["doctor"],
    ["doctor", "run-1", "--json"],
    ["config", "--json"],
    ["trust"],
    ["trust", "--json"],
    ["trust", "--list"],
    ["trust", "--revoke"],
  ])("E239, E206: `pi-mcp %s %s %s` runs nothing of them, connects nowhere and reads no secret", async (...args) => {
    await using home = await temporaryHome();
    await using traps = await setTraps(home);
    const own = await fakeStdio(home);
    home.write({ settings: { mcpServers: [own.entry("own")] }, files: trapFiles(traps), env: traps.env });
    const ended = await run(
      home,
      args.filter((arg) => arg !== undefined),
    );
    expect(traps.sprung()).toEqual([]);
    expect(ended.stdout + ended.stderr).not.toContain(traps.secret);
    expect(ended.stderr).not.toContain("    at ");
    expect(existsSync(join(home.agentDir, "mcp-trust.json"))).toBe(false);
  });

  test("the traps work: once allowed, each of them is sprung", async () => {
    await using home = await temporaryHome();
    await using traps = await setTraps(home);
    home.write({ files: trapFiles(traps), env: traps.env });
    expect((await run(home, ["trust", "--yes"])).code).toBe(0);
    for (const name of ["run-1", "path-2", "shell-3", "web-1", "helper-2"]) await run(home, ["list", name]);
    const sprung = traps.sprung().join("\n");
    const values = ["ran env-2", "ran token-2", "ran helper-2"];
    for (const word of ["ran run-1", "ran path-2", "ran shell-3", "reached /mcp/1", traps.secret, ...values]) {
      expect(sprung).toContain(word);
    }
  });

  test("list marks the servers, a call is denied with exit code 9 and says what to do", async () => {
    await using home = await temporaryHome();
    const own = await fakeStdio(home);
    home.write({
      settings: { mcpServers: [own.entry("own")] },
      files: { "project/.mcp.json": { mcpServers: { theirs: { command: "x" }, own: { command: "evil" } } } },
    });
    const list = await run(home, ["list"]);
    expect([list.code, list.stderr]).toEqual([0, ""]);
    expect(list.stdout).toMatch(
      /^own {2}stdio: .*node.*\ntheirs {2}\(not allowed yet, see `pi-mcp trust`: .*\.mcp\.json:\d+\)\nown {2}\(not allowed yet.*\)\n$/,
    );
    expect(JSON.parse((await run(home, ["list", "--json"])).stdout)).toMatchObject({
      servers: [{ name: "own" }],
      untrusted: [
        { name: "theirs", transport: "stdio", untrusted: "waiting" },
        { name: "own", untrusted: "waiting" },
      ],
    });
    const project = join(home.cwd, ".mcp.json");
    expect((await run(home, ["config"])).stdout).toContain(`waiting ${project}\n`);
    expect((await run(home, ["get", "theirs"])).stdout).toBe(
      `${project}:3 (not allowed yet, see \`pi-mcp trust\`)\n{\n  "command": "x"\n}\n`,
    );
    const call = await run(home, ["call", "theirs", "echo"]);
    expect(call).toEqual({
      code: 9,
      stdout: "",
      stderr:
        "pi-mcp: MCP server `theirs` is configured by a file of this project, .mcp.json, which nobody has allowed yet; run `pi-mcp trust` (in pi: /mcp trust) to see what it would run and to decide\n",
    });
    const json = await run(home, ["call", "theirs", "echo", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { category: "denied", server: "theirs" } });
    // The person's own server of that name is still theirs.
    expect(await run(home, ["call", "own", "echo", "a=1"])).toMatchObject({ code: 0, stderr: "" });
    expect(own.starts()).toHaveLength(1);
  });
});

describe("pi-mcp trust", () => {
  test("without a terminal it shows everything exactly, allows nothing and exits with 9", async () => {
    await using home = await temporaryHome();
    const args = ["-c", "touch X # a\u001b[2J\nb", "--token", "abc"];
    const entry = { command: "sh", args, env: { NODE_OPTIONS: "-r ./x" } };
    home.write({ files: { "project/.mcp.json": { mcpServers: { theirs: entry, web: { url: "https://h/?a=$B" } } } } });
    const ended = await run(home, ["trust"]);
    expect([ended.code, ended.stderr]).toEqual([9, ""]);
    expect(ended.stdout).toContain(`${join(home.cwd, ".mcp.json")} configures 2 servers.\n  theirs\n`);
    expect(ended.stdout).toContain('    runs sh -c "touch X # a\\u001b[2J\\nb" --token abc\n');
    expect(ended.stdout).toContain('    with the variable NODE_OPTIONS="-r ./x"\n');
    expect(ended.stdout).toContain('    connects to "https://h/?a=$B"\n');
    expect(ended.stdout).toContain("runs as code on this computer");
    expect(ended.stdout).toContain("Not allowed yet.");
    expect((await run(home, ["list", "--json"])).stdout).toContain('"untrusted":"waiting"');
  });

  test.each([
    ["a current Node", node],
    ["the oldest Node", oldestNode],
  ])("--yes, --list and --revoke on %s", async (_name, which) => {
    await using home = await temporaryHome();
    const theirs = await fakeStdio(home);
    const { name, ...entry } = theirs.entry("theirs");
    home.write({ files: { "project/.mcp.json": { mcpServers: { [name]: entry } } } });
    const file = join(home.cwd, ".mcp.json");
    expect((await run(home, ["trust", "--list"], { node: which })).stdout).toMatch(/^No project file/);
    expect((await run(home, ["trust", "--yes"], { node: which })).code).toBe(0);
    expect(statSync(join(home.agentDir, "mcp-trust.json")).mode & 0o777).toBe(0o600);
    expect((await run(home, ["trust"], { node: which })).stdout).toMatch(/^Nothing of this project waits/);
    expect((await run(home, ["trust", "--list"], { node: which })).stdout).toMatch(
      /^allow {2}.*\.mcp\.json {2}sha256:/,
    );
    expect(await run(home, ["call", "theirs", "echo", "a=1"], { node: which })).toMatchObject({ code: 0, stderr: "" });
    // The same folder by another name.
    symlinkSync(home.cwd, home.path("link"));
    expect((await run(home, ["list"], { cwd: home.path("link") })).stdout).toMatch(/^theirs {2}stdio: /);
    // Changed, moved.
    writeFileSync(file, `${readFileSync(file, "utf8")} `);
    expect((await run(home, ["call", "theirs", "echo"], { node: which })).code).toBe(9);
    expect((await run(home, ["trust", "--yes"], { node: which })).code).toBe(0);
    renameSync(home.cwd, home.path("moved"));
    expect((await run(home, ["call", "theirs", "echo"], { cwd: home.path("moved") })).code).toBe(9);
    renameSync(home.path("moved"), home.cwd);
    expect((await run(home, ["trust", "--revoke", ".mcp.json"], { node: which })).stdout).toBe(`revoked  ${file}\n`);
    expect((await run(home, ["call", "theirs", "echo"], { node: which })).code).toBe(9);
    expect(theirs.starts()).toHaveLength(1);
  });

  test.skipIf(spawnSync(TERMINAL, ["--version"]).status !== 0)("on a terminal it asks, and only y allows", async () => {
    await using home = await temporaryHome();
    home.write({ files: { "project/.mcp.json": { mcpServers: { theirs: { command: "x" } } } } });
    const answer = (text: string) =>
      spawnSync(TERMINAL, ["-qec", `'${node}' '${CLI}' trust`, "/dev/null"], {
        cwd: home.cwd,
        env: home.env(),
        input: text,
        encoding: "utf8",
      });
    const states = () =>
      (
        JSON.parse(
          spawnSync(node, [CLI, "list", "--json"], { cwd: home.cwd, env: home.env(), encoding: "utf8" }).stdout,
        ) as { untrusted?: { untrusted: string }[] }
      ).untrusted?.map((each) => each.untrusted);
    for (const [text, code, left] of [
      ["\n", 9, ["waiting"]],
      ["maybe\n", 9, ["waiting"]],
      ["n\n", 9, ["denied"]],
      ["y\n", 0, undefined],
    ] as const) {
      const asked = answer(text);
      expect(asked.stdout).toContain("Allow this file? (y: allow, n: deny, Enter: decide later)");
      expect([asked.status, states()]).toEqual([code, left]);
    }
  });

  test("--yes does not overrule a person's no, and a broken record is told and left alone", async () => {
    await using home = await temporaryHome();
    home.write({ files: { "project/.mcp.json": { mcpServers: { theirs: { command: "x" } } } } });
    await run(home, ["trust", "--yes"]);
    const store = join(home.agentDir, "mcp-trust.json");
    writeFileSync(store, readFileSync(store, "utf8").replace('"allow"', '"deny"'));
    const denied = await run(home, ["trust", "--yes"]);
    expect([denied.code, denied.stdout]).toEqual([9, expect.stringContaining("Still denied.")]);
    writeFileSync(store, "{");
    const list = await run(home, ["list"]);
    expect(list.stderr).toMatch(/mcp-trust\.json:\d+:\d+: error: .*no project file is trusted/);
    expect(list.stdout).toContain("not allowed yet");
    expect((await run(home, ["trust", "--yes"])).code).toBe(10);
    expect(readFileSync(store, "utf8")).toBe("{");
  });

  test("projects that are allowed at the same time are all remembered, also past the lock of one that was killed", async () => {
    await using home = await temporaryHome();
    const folders = Array.from({ length: 12 }, (_, n) => home.path(`project-${n}`));
    for (const folder of folders) {
      mkdirSync(folder);
      writeFileSync(join(folder, ".mcp.json"), '{"mcpServers": {"a": {"command": "x"}}}');
    }
    const lock = join(home.agentDir, "mcp-trust.json.lock");
    mkdirSync(lock);
    utimesSync(lock, 0, 0);
    const [first, ...others] = folders;
    expect((await run(home, ["trust", "--yes"], { cwd: first ?? "" })).code).toBe(0);
    const ended = await Promise.all(others.map((cwd) => run(home, ["trust", "--yes"], { cwd })));
    expect(ended.map(({ code }) => code)).toEqual(others.map(() => 0));
    const listed = JSON.parse((await run(home, ["trust", "--list", "--json"])).stdout) as { trust: { file: string }[] };
    expect(listed.trust.map(({ file }) => file)).toEqual(folders.map((folder) => join(folder, ".mcp.json")).sort());
    expect(readdirSync(home.agentDir)).toEqual(["mcp-trust.json"]);
  });

  test("takes a file only to revoke", async () => {
    await using home = await temporaryHome();
    expect((await run(home, ["trust", "x"])).code).toBe(2);
  });
});
