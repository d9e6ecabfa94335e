import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture } from "../config/import/home.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { runCli as cli, NODES } from "../ground/run-cli.ts";
import { setTraps } from "../ground/trap.ts";

const SECRET = "hunter2-hunter2-hunter2";

const mcpJson = (home: Home) => join(home.agentDir, "mcp.json");
const read = (home: Home) => readFileSync(mcpJson(home), "utf8");
const servers = (home: Home) => (JSON.parse(read(home)) as { mcpServers: Record<string, object> }).mcpServers;

/** A person who has used many programs. */
const MANY = {
  "~/.claude.json": fixture("claude-code.json"),
  "~/.config/Claude/claude_desktop_config.json": fixture("claude-desktop.json"),
  "~/.cursor/mcp.json": fixture("cursor.json"),
  "~/.config/Code/User/mcp.json": fixture("vscode.json"),
  "~/.codeium/windsurf/mcp_config.json": fixture("windsurf.json"),
  "~/.codex/config.toml": fixture("codex.toml"),
  "~/.gemini/settings.json": fixture("gemini.json"),
  "~/.config/opencode/opencode.jsonc": fixture("opencode-v1.jsonc"),
  "~/.config/zed/settings.json": fixture("zed.json"),
  "~/.config/goose/config.yaml": fixture("goose.yaml"),
  "~/.cline/data/settings/cline_mcp_settings.json": fixture("cline.json"),
  "~/.lmstudio/mcp.json": fixture("lm-studio.json"),
  "~/.config/mcporter/mcporter.jsonc": fixture("mcporter.jsonc"),
  "~/.grok/config.toml": fixture("grok.toml"),
  "project/.roo/mcp.json": fixture("roo.json"),
};

describe.each(NODES)("pi-mcp import on $name", ({ node }) => {
  test("--all takes everything that is a person's own, and what was imported loads without a mistake", async () => {
    await using home = await temporaryHome({ files: MANY });
    const { code, stdout, stderr } = await cli(node, home, "import", "--all");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain("zed-secret-token");
    expect(Object.keys(servers(home))).toEqual(
      expect.arrayContaining([
        "notion",
        "filesystem",
        "github",
        "memory",
        "figma",
        "docs",
        "python",
        "local",
        "linear",
      ]),
    );
    expect(servers(home)).not.toHaveProperty("stream.headers.Authorization", "Bearer ${ROO_KEY}");
    expect(statSync(mcpJson(home)).mode & 0o777).toBe(0o600);
    expect(await cli(node, home, "validate", mcpJson(home))).toMatchObject({ code: 0, stdout: "" });
    expect((await cli(node, home, "import", "--all")).stdout).toContain("There is nothing to import.");
  });

  test("an imported server works", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { text: "it works" } } });
    home.write({ files: { "~/.cursor/mcp.json": { mcpServers: { fake: server.entry("fake") } } } });
    expect(await cli(node, home, "import", "cursor")).toMatchObject({ code: 0, stderr: "" });
    expect(server.starts()).toEqual([]);
    expect(await cli(node, home, "call", "fake", "echo")).toMatchObject({ code: 0, stdout: "it works\n" });
  });
});

// What takes nothing of Node that could be older.
describe.each(NODES.slice(0, 1))("pi-mcp import on $name", ({ node }) => {
  test("without a program it lists what each has, and the command that takes it, and writes nothing", async () => {
    await using home = await temporaryHome({ files: MANY });
    const { code, stdout, stderr } = await cli(node, home, "import");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const taken = [...stdout.matchAll(/To take them: pi-mcp import (\S+)$/gm)].map(([, id]) => id);
    expect(taken).toEqual([
      ...["claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "codex", "gemini", "opencode"],
      ...["zed", "goose", "cline", "lm-studio", "mcporter", "grok"],
    ]);
    expect(stdout).toContain("To take also those of this project: pi-mcp import roo --from-project");
    expect(existsSync(mcpJson(home))).toBe(false);
  });

  test("--dry-run shows the exact change, secrets masked, and changes nothing", async () => {
    const before = `{\n  // mine\n  "mcpServers": {\n    "a": { "command": "a", "env": { "K": "${SECRET}" } } // first\n  }\n}\n`;
    const entry = { command: "npx", args: ["-y", "x"], env: { TOKEN: SECRET, NAME: "${env:NAME}" } };
    await using home = await temporaryHome({
      mcp: before,
      files: { "~/.cursor/mcp.json": { mcpServers: { x: entry } } },
    });
    const dry = await cli(node, home, "import", "cursor", "--dry-run");
    const file = mcpJson(home);
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toContain(
      [
        `--- ${file}`,
        `+++ ${file}`,
        "@@ -1,6 +1,14 @@",
        " {",
        "   // mine",
        '   "mcpServers": {',
        '-    "a": { "command": "a", "env": { "K": "***" } } // first',
        '+    "a": { "command": "a", "env": { "K": "***" } }, // first',
        '+    "x": {',
        '+      "command": "npx",',
        '+      "args": ["-y", "x"],',
        '+      "env": {',
        '+        "TOKEN": "***",',
        '+        "NAME": "${NAME}"',
        "+      }",
        "+    }",
        "   }",
        " }",
        "",
        "Nothing was written (--dry-run).",
      ].join("\n"),
    );
    expect(dry.stdout).toContain("env.TOKEN is stored as it is");
    expect(read(home)).toBe(before);

    const done = await cli(node, home, "import", "cursor");
    expect(done.stdout).toContain(`imported "x": ${file}:5\n`);
    expect(done.stdout + dry.stdout).not.toContain(SECRET);
    expect(read(home)).toContain("// mine");
    expect(read(home)).toContain(`"TOKEN": "${SECRET}"`);
  });

  test("what stands around the change has its secrets masked, too: comments, other keys, what is no entry", async () => {
    const lines = [
      "{",
      `  "apiKey": "${SECRET}",`,
      '  "mcpServers": {',
      `    // "old": { "env": { "GITHUB_TOKEN": "${SECRET}" } }`,
      `    /* --api-key ${SECRET}`,
      `       "Authorization": "Bearer ${SECRET}" */`,
      `    "odd": "${SECRET}"`,
      "  }",
      "}",
    ];
    await using home = await temporaryHome({
      mcp: lines.join("\n"),
      files: { "~/.cursor/mcp.json": { mcpServers: { x: { command: "x" } } } },
    });
    const { stdout } = await cli(node, home, "import", "cursor", "--dry-run");
    expect(stdout).not.toContain(SECRET);
    for (const line of lines.slice(3, 6)) expect(stdout).toMatch(new RegExp(`^ .*${line.slice(4, 12).trim()}`, "m"));
    expect(stdout).toContain('"GITHUB_TOKEN": "***"');
    expect(stdout).toContain('-    "odd": "***"');
  });

  test("a secret that a variable holds is not copied", async () => {
    const entry = { url: "https://h.example/mcp", headers: { Authorization: `Bearer ${SECRET}` } };
    await using home = await temporaryHome({
      env: { MY_TOKEN: SECRET },
      files: { "~/.lmstudio/mcp.json": { mcpServers: { x: entry } } },
    });
    const { stdout } = await cli(node, home, "import", "LM Studio");
    expect(stdout).toContain("headers.Authorization is taken from the variable MY_TOKEN, which has the same value");
    expect(read(home)).not.toContain(SECRET);
    expect(servers(home)).toEqual({ x: { url: entry.url, headers: { Authorization: "Bearer ${MY_TOKEN}" } } });
  });

  test("a project's servers are shown exactly, taken when that is asked for, and never run", async () => {
    await using home = await temporaryHome();
    await using traps = await setTraps(home);
    const long = "x".repeat(3000);
    const entry = {
      command: traps.program,
      args: [`token=${SECRET}`, "\u001b[2J", long],
      env: { A: `!${traps.program}` },
    };
    home.write({ env: traps.env, files: { "project/.cursor/mcp.json": { mcpServers: { trap: entry } } } });
    const refused = await cli(node, home, "import", "cursor");
    expect(refused.stdout).toContain('"trap": comes with the project; --from-project takes it');
    expect(refused.stdout).toContain(`runs ${traps.program} token=${SECRET} "\\u001b[2J" ${long}\n`);
    expect(existsSync(mcpJson(home))).toBe(false);
    expect((await cli(node, home, "import", "cursor", "trap")).code).toBe(1);

    const taken = await cli(node, home, "import", "cursor", "--from-project");
    expect(taken).toMatchObject({ code: 0, stderr: "" });
    expect(taken.stdout).toContain(`runs ${traps.program} token=${SECRET} "\\u001b[2J" ${long}\n`);
    expect(taken.stdout).not.toContain("\u001b");
    // What was text there is no command here.
    expect(servers(home)).toEqual({ trap: { ...entry, env: { A: `$!${traps.program}` } } });
    expect(traps.sprung()).toEqual([]);
  });

  test("a name that is taken is not replaced unless that is asked for", async () => {
    await using home = await temporaryHome({
      mcp: { mcpServers: { same: { command: "s", disabled: true }, other: { command: "mine" } } },
      files: { "~/.cursor/mcp.json": { mcpServers: { same: { command: "s" }, other: { command: "theirs" } } } },
    });
    const before = read(home);
    const first = await cli(node, home, "import", "cursor");
    expect(first.code).toBe(0);
    expect(first.stdout).toContain(`"same": is in ${mcpJson(home)}:3 already`);
    expect(first.stdout).toContain(`"other": another server of this name is in ${mcpJson(home)}:7;`);
    expect(read(home)).toBe(before);
    expect((await cli(node, home, "import", "cursor", "other")).code).toBe(1);

    expect((await cli(node, home, "import", "cursor", "other", "--as", "theirs")).code).toBe(0);
    expect(servers(home)).toMatchObject({ other: { command: "mine" }, theirs: { command: "theirs" } });
    expect((await cli(node, home, "import", "cursor", "--force")).code).toBe(0);
    expect(servers(home)).toEqual({
      same: { command: "s", disabled: true },
      other: { command: "theirs" },
      theirs: { command: "theirs" },
    });
  });

  test("a broken file is one error with its place, and the others are imported", async () => {
    await using home = await temporaryHome({
      files: {
        "~/.cursor/mcp.json": '{\n  "mcpServers": { "a": {"command": "x"} "b": 1 }\n}',
        "~/.codex/config.toml": '[mcp_servers.ok]\ncommand = "ok"\n',
        "~/.claude.json": "{",
        "project/.mcp.json": { mcpServers: {} },
      },
    });
    const { code, stderr } = await cli(node, home, "import", "--all");
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^pi-mcp: ${home.home}/.claude.json:1:2: error: `)),
      expect.stringMatching(new RegExp(`^pi-mcp: ${home.home}/.cursor/mcp.json:2:41: error: `)),
    ]);
    expect(servers(home)).toEqual({ ok: { command: "ok" } });
    expect((await cli(node, home, "import")).code).toBe(0);
  });

  test("a target that does not parse stays as it is", async () => {
    await using home = await temporaryHome({ mcp: '{ "mcpServers": {', files: MANY });
    const { code, stderr } = await cli(node, home, "import", "cursor");
    expect(code).toBe(10);
    expect(stderr).toContain(`${mcpJson(home)}:1:18: error: `);
    expect(read(home)).toBe('{ "mcpServers": {');
  });

  test("--json says the same, and masks the same", async () => {
    await using home = await temporaryHome({ files: MANY });
    const { stdout } = await cli(node, home, "import", "zed", "--json");
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect(answer).toMatchObject({ file: mcpJson(home), written: true, clients: [{ id: "zed", problems: [] }] });
    expect(stdout).not.toContain("zed-secret-token");
    expect(servers(home)).toHaveProperty("remote.headers.Authorization", "Bearer zed-secret-token");
    const listed = JSON.parse((await cli(node, home, "import", "--json")).stdout) as { clients: object[] };
    expect(listed.clients).toHaveLength(15);
    expect(listed).not.toHaveProperty("written");
  });

  test("two at once: the servers of both", async () => {
    await using home = await temporaryHome({ files: MANY });
    const both = await Promise.all([cli(node, home, "import", "claude-code"), cli(node, home, "import", "mcporter")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(Object.keys(servers(home)).sort()).toEqual(["chrome", "files", "linear", "notion", "old"]);
  });

  test.each<[string, readonly string[], number, string]>([
    ["a program nobody knows", ["emacs"], 2, "there are: claude-code, claude-desktop"],
    ["a server the program does not have", ["cursor", "nobody"], 3, 'Cursor has no server "nobody"'],
    ["a program and --all", ["cursor", "--all"], 2, "either a program or --all"],
    ["--dry-run of a list", ["--dry-run"], 2, "import needs a program, or --all"],
    ["--as without a server", ["cursor", "--as", "x"], 2, "--as takes a name, and goes with one server"],
    ["settings.json as the target", ["cursor", "--file", "settings.json"], 2, "import writes mcp.json files"],
  ])("%s is refused with what to do", async (_, args, code, message) => {
    await using home = await temporaryHome({ files: { "~/.cursor/mcp.json": fixture("cursor.json") } });
    const ended = await cli(node, home, "import", ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(message);
    expect(existsSync(mcpJson(home))).toBe(false);
  });

  test("--project writes the project's own file", async () => {
    await using home = await temporaryHome({ files: { "~/.cursor/mcp.json": fixture("cursor.json") } });
    const { code, stdout } = await cli(node, home, "import", "cursor", "github", "--project");
    expect(code).toBe(0);
    expect(stdout).toContain(`imported "github": ${join(home.cwd, ".mcp.json")}:3\n`);
    expect(existsSync(mcpJson(home))).toBe(false);
  });

  test("--file takes another mcp.json", async () => {
    await using home = await temporaryHome({ files: { "~/.cursor/mcp.json": fixture("cursor.json") } });
    const { stdout } = await cli(node, home, "import", "cursor", "github", "--file", "other.mcp.json");
    expect(stdout).toContain(`imported "github": ${join(home.cwd, "other.mcp.json")}:3\n`);
  });
});
