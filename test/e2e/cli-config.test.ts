import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { runCli as cli, NODES, startCli } from "../ground/run-cli.ts";
import { until } from "../ground/wait.ts";

/** Somebody without rights, when the tests themselves are run by the superuser, whom no permission stops. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534 } : {};

const mcpJson = (home: Home) => join(home.agentDir, "mcp.json");
const read = (home: Home) => readFileSync(mcpJson(home), "utf8");
const serversIn = (text: string) => (JSON.parse(text) as { mcpServers: Record<string, object> }).mcpServers;

const COMMENTED = `{
  // servers of mine
  "mcpServers": {
    "a": { "command": "a", "args": ["1"] }, // the first
    /* the second */
    "b": { "url": "https://h/b" } // the last
    // "c": { "command": "c" }
  },
  "settings": { "x": [1,2] }
}
`;

/** What went and what came, as `diff` shows it. Good for one place that changes. */
function changes(before: string, after: string): string[] {
  const old = before.split("\n");
  const now = after.split("\n");
  let start = 0;
  while (start < old.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const gone = old.slice(start, old.length - end).map((line) => `-${line}`);
  return [...gone, ...now.slice(start, now.length - end).map((line) => `+${line}`)];
}

describe.each(NODES)("pi-mcp on $name", ({ node }) => {
  test("a server is added, called, disabled, enabled, shown and removed", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "tools/call": { text: "it works" } } });
    const { command, args, env } = server.entry("fake") as {
      command: string;
      args: string[];
      env?: Record<string, string>;
    };
    const variables = Object.entries(env ?? {}).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const file = mcpJson(home);
    expect(await cli(node, home, "add", "fake", ...variables, "--", command, ...args)).toMatchObject({
      code: 0,
      stdout: `added "fake": ${file}:3\n`,
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(server.starts()).toEqual([]);
    expect(await cli(node, home, "call", "fake", "echo")).toMatchObject({ code: 0, stdout: "it works\n" });

    expect((await cli(node, home, "disable", "fake")).stdout).toBe(`disabled "fake": ${file}:3\n`);
    expect((await cli(node, home, "disable", "fake")).stdout).toBe(`"fake" was disabled already: ${file}:3\n`);
    expect((await cli(node, home, "get", "fake")).stdout).toMatch(new RegExp(`^${file}:3 \\(disabled\\)\n\\{`));
    expect((await cli(node, home, "call", "fake", "echo")).code).toBe(3);
    expect((await cli(node, home, "enable", "fake")).stdout).toBe(`enabled "fake": ${file}:3\n`);
    expect((await cli(node, home, "call", "fake", "echo")).code).toBe(0);

    expect(await cli(node, home, "remove", "fake")).toMatchObject({ code: 0, stdout: `removed "fake" from ${file}\n` });
    expect(await cli(node, home, "remove", "fake")).toEqual({
      code: 3,
      stdout: "",
      stderr: `pi-mcp: ${file} has no server "fake".\n`,
    });
    expect(serversIn(read(home))).toEqual({});
  });

  test("a process that is killed in the middle leaves the old file or the new one, and the next one goes on", async () => {
    await using home = await temporaryHome();
    // Large, so that writing it takes a while.
    const filler = "x".repeat(7_000_000);
    const before = `${JSON.stringify({ mcpServers: { a: { command: "a" } }, filler }, null, 2)}\n`;
    writeFileSync(mcpJson(home), before);
    const { child, ended } = startCli(node, home, ["add", "n", "--", "x"]);
    await until("the new file to be begun", () => readdirSync(home.agentDir).find((name) => name.endsWith(".tmp")));
    child.kill("SIGKILL");
    await ended;
    const after = read(home);
    expect([before.length, after === before || Object.keys(serversIn(after)).join() === "a,n"]).toEqual([
      before.length,
      true,
    ]);
    // Takes over the lock once it is stale, which one that nobody renews is after some seconds.
    if (existsSync(`${mcpJson(home)}.lock`)) utimesSync(`${mcpJson(home)}.lock`, 0, 0);
    expect(await cli(node, home, "add", "m", "--", "x")).toMatchObject({ code: 0, stderr: "" });
    expect(serversIn(read(home))).toMatchObject({ a: {}, m: {} });
    expect(existsSync(`${mcpJson(home)}.lock`)).toBe(false);
  });

  test("what the system refuses is said with the whole path, and nothing is left behind", async () => {
    await using home = await temporaryHome({ mcp: COMMENTED });
    const file = mcpJson(home);
    chmodSync(file, 0o444);
    expect(await cli(node, home, "add", "n", "--", "x")).toMatchObject({
      code: 10,
      stderr: `pi-mcp: ${file} is read-only; nothing was written.\n`,
    });
    const folder = home.path("locked");
    mkdirSync(folder);
    const inside = join(folder, "mcp.json");
    writeFileSync(inside, "{}");
    if (NOBODY.uid !== undefined) {
      chmodSync(home.root, 0o755);
      chownSync(inside, NOBODY.uid, NOBODY.uid);
    }
    chmodSync(folder, 0o555);
    for (const [name, why] of [
      ["mcp.json", "permission denied \\(EACCES\\)"],
      ["new/mcp.json", "permission denied \\(EACCES\\)"],
    ] as const) {
      const path = join(folder, name);
      const args = ["add", "n", "--file", path, "--", "x"];
      const refused = await startCli(node, home, args, NOBODY).ended;
      expect(refused).toMatchObject({ code: 10, stdout: "" });
      expect(refused.stderr).toMatch(
        new RegExp(`^pi-mcp: ${path} could not be written: ${why} \\(at .*\\)\\. It is as it was\\.\n$`),
      );
    }
    expect([readFileSync(inside, "utf8"), readdirSync(folder)]).toEqual(["{}", ["mcp.json"]]);
    const below = join(file, "sub", "mcp.json");
    const { code, stderr } = await cli(node, home, "add", "n", "--file", below, "--", "x");
    expect([code, stderr.includes(below)]).toEqual([10, true]);
    chmodSync(folder, 0o755);
    expect(read(home)).toBe(COMMENTED);
  });
});

// What takes nothing of Node that could be older.
describe.each(NODES.slice(0, 1))("pi-mcp on $name", ({ node }) => {
  test("an edit of a file with comments changes the intended lines alone", async () => {
    await using home = await temporaryHome({ mcp: COMMENTED });
    await cli(node, home, "add", "n", "--url", "https://h/n", "--header", "Authorization: Bearer ${T}");
    const added = read(home);
    expect(changes(COMMENTED, added)).toEqual([
      '-    "b": { "url": "https://h/b" } // the last',
      '+    "b": { "url": "https://h/b" }, // the last',
      '+    "n": {',
      '+      "url": "https://h/n",',
      '+      "headers": {',
      '+        "Authorization": "Bearer ${T}"',
      "+      }",
      "+    }",
    ]);
    await cli(node, home, "remove", "n");
    expect(read(home)).toBe(COMMENTED);
    await cli(node, home, "disable", "b");
    expect(changes(COMMENTED, read(home))).toEqual([
      '-    "b": { "url": "https://h/b" } // the last',
      '+    "b": { "url": "https://h/b", "disabled": true } // the last',
    ]);
    const other = home.path("other.json");
    writeFileSync(other, COMMENTED);
    await cli(node, home, "remove", "a", "--file", other);
    expect(changes(COMMENTED, readFileSync(other, "utf8"))).toEqual([
      '-    "a": { "command": "a", "args": ["1"] }, // the first',
    ]);
  });

  test("a file that does not parse is refused with line and column, and keeps every byte", async () => {
    await using home = await temporaryHome({ mcp: COMMENTED.replace("}, // the first", "} // the first") });
    const before = read(home);
    const line = new RegExp(
      `^pi-mcp: ${mcpJson(home)}:6:5: error: .*a comma is missing before this\\. Nothing was written: .*\n$`,
    );
    for (const args of [
      ["add", "n", "--", "x"],
      ["remove", "a"],
      ["enable", "a"],
      ["disable", "a"],
    ]) {
      expect(await cli(node, home, ...args)).toEqual({ code: 10, stdout: "", stderr: expect.stringMatching(line) });
      expect(read(home)).toBe(before);
    }
    expect(readdirSync(home.agentDir)).toEqual(["mcp.json"]);
  });

  test("two lanes of processes that add twenty servers at once lose none", async () => {
    await using home = await temporaryHome({ mcp: COMMENTED });
    const lane = async (name: string) => {
      for (let index = 0; index < 10; index++) {
        expect(await cli(node, home, "add", `${name}${index}`, "--", "x")).toMatchObject({ code: 0, stderr: "" });
      }
    };
    await Promise.all([lane("left"), lane("right")]);
    const names = [...read(home).matchAll(/"((?:left|right)\d)"/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(20);
    expect(read(home)).toContain("// servers of mine");
    expect(readdirSync(home.agentDir)).toEqual(["mcp.json"]);
  });

  test.each<[string, string, object]>([
    [
      "Claude and Cursor",
      '{"mcpServers": {"s": {"type": "stdio", "command": "npx", "args": ["x"]}}}',
      { command: "npx", args: ["x"] },
    ],
    [
      "VS Code",
      '{"servers": {"s": {"type": "http", "url": "https://h", "headers": {"A": "${env:A}"}}}}',
      { url: "https://h", headers: { A: "${A}" } },
    ],
    [
      "Zed",
      '{"context_servers": {"s": {"source": "custom", "command": {"path": "npx", "args": ["x"]}}}}',
      { command: "npx", args: ["x"] },
    ],
    [
      "Codex",
      '{"mcp_servers": {"s": {"url": "https://h", "bearer_token_env_var": "T"}}}',
      { url: "https://h", headers: { Authorization: "Bearer ${T}" } },
    ],
    [
      "OpenCode",
      '{"mcp": {"s": {"type": "local", "command": ["npx", "x"], "environment": {"A": "{env:A}"}}}}',
      { command: "npx", args: ["x"], env: { A: "${A}" } },
    ],
    ["a part of a README", '"s": { "command": "npx", /* it */ "args": ["x"], },', { command: "npx", args: ["x"] }],
  ])("add takes a snippet for %s", async (_, snippet, entry) => {
    await using home = await temporaryHome();
    expect(await cli(node, home, "add", "--json", snippet)).toMatchObject({ code: 0, stderr: "" });
    expect(serversIn(read(home))).toEqual({ s: entry });
    expect(await cli(node, home, "add", "other", "--json", snippet)).toMatchObject({ code: 0 });
    expect(Object.keys(serversIn(read(home)))).toEqual(["s", "other"]);
  });

  test("add refuses what would not work, and a name that is taken unless it is forced", async () => {
    await using home = await temporaryHome({ mcp: COMMENTED });
    const cases: [string[], RegExp][] = [
      [["add"], /add needs a name for the server/],
      [["add", "x"], /add needs the server's command behind `--`/],
      [["add", "--", "npx", "x"], /add needs a name for the server, before `--`/],
      [["add", "x", "npx", "-y", "y"], /Unknown option '-y'; options of the server itself stand behind `--`/],
      [["add", "x", "--url", "https://h", "--", "y"], /add takes one of/],
      [["add", "x", "--url", "nowhere"], /"url" must be a complete http or https address/],
      [["add", "x", "--url", "https://h", "--env", "A=b"], /--env is for servers that run as a process/],
      [["add", "x", "--url", "https://h", "--header", "sesame"], /--header takes "Name: value"/],
      [["add", "x", "--type", "pigeon", "--", "y"], /the transport "pigeon" is not known/],
      [["add", "x", "--json", "{bad"], /the snippet is not JSON \(line 1, column 2\)/],
      [["add", "--json", '{"command": "x"}'], /the snippet does not name its server/],
      [["add", "x", "--json", '{"a": {"command": "x"}, "b": {"command": "x"}}'], /the snippet has 2 servers/],
      [["add", "x", "--json", '{"command": 5}'], /"command" must be a string, not a number/],
      [["add", "a", "--", "y"], /mcp\.json:4:5 has a server "a" already\. To replace it, add --force/],
      [["remove"], /remove takes the name of one server/],
      [["get", "a", "b"], /get takes the name of one server/],
      [["validate"], /validate needs the path of a file/],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await cli(node, home, ...args);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(message),
      });
      expect(stderr).not.toContain("sesame");
    }
    expect(read(home)).toBe(COMMENTED);
    expect(await cli(node, home, "add", "a", "--force", "--", "y", "--force")).toMatchObject({ code: 0, stderr: "" });
    expect((await cli(node, home, "get", "a", "--json")).stdout).toContain(
      '"entry":{"command":"y","args":["--force"]}',
    );
  });

  test("a secret in plain text is stored as given, with a warning that does not repeat it, and is never shown", async () => {
    await using home = await temporaryHome({ env: { REAL: "sesame-from-outside" } });
    const first = await cli(
      node,
      home,
      "add",
      "a",
      "--env",
      "API_KEY=sesame1",
      "--env",
      "B=${REAL}",
      "--env",
      "PORT=80",
      "--",
      "x",
    );
    const second = await cli(
      node,
      home,
      "add",
      "b",
      "--url",
      "https://h/mcp?api_key=sesame2",
      "--header",
      "Authorization: Bearer sesame3",
    );
    const third = await cli(node, home, "add", "c", "--env", "TOKEN=$REAL", "--", "x", "--token", "sesame4");
    expect(first.stderr).toBe(
      'pi-mcp: "a": env.API_KEY is stored as it is; write "${API_KEY}" to take it from the environment instead.\n',
    );
    expect(second.stderr).toMatch(
      /"b": headers\.Authorization is stored as it is; write "Bearer \$\{TOKEN\}" .*\n.*"b": url holds/,
    );
    expect(third.stderr).toMatch(/^pi-mcp: "c": args holds what looks like a secret, .*\n$/);
    expect(serversIn(read(home)).a).toEqual({ command: "x", env: { API_KEY: "sesame1", B: "${REAL}", PORT: "80" } });
    const shown = await Promise.all([
      ...["a", "b", "c"].flatMap((name) => [cli(node, home, "get", name), cli(node, home, "get", name, "--json")]),
      cli(node, home, "config"),
      cli(node, home, "config", "--json"),
      cli(node, home, "validate", mcpJson(home)),
    ]);
    for (const { code, stdout, stderr } of [first, second, third, ...shown]) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain("sesame");
    }
    expect(shown[0]?.stdout).toContain('"B": "${REAL}"');
  });

  test("config and get say where each server comes from and what is not as usual", async () => {
    const callTimeout = { command: "x", tool_timeout_sec: 5, exposure: "direct" };
    const some = { command: "x", directTools: ["a"], allowedTools: ["a", "b*"], excludeTools: ["c"] };
    await using home = await temporaryHome({
      mcp: { mcpServers: { both: { command: "low" }, slow: callTimeout, some, off: { command: "x", disabled: true } } },
      settings: { mcpServers: [{ name: "both", command: "high" }] },
    });
    const settings = join(home.agentDir, "settings.json");
    const config = await cli(node, home, "config");
    expect(config.stdout).toBe(
      [
        `absent  ${join(home.home, ".config", "mcp", "mcp.json")}`,
        `read    ${mcpJson(home)}`,
        `read    ${settings}`,
        `absent  ${join(home.agentDir, "settings.toml")}`,
        "",
        "both  stdio: high",
        `  ${settings}:3:5`,
        "",
        "slow  stdio: x",
        `  ${mcpJson(home)}:6:5`,
        "  exposure: direct (default: gateway)",
        "  callTimeoutMs: 5000 (default: 30000)",
        "",
        "some  stdio: x",
        `  ${mcpJson(home)}:11:5`,
        '  directTools: ["a"] (default: none)',
        '  includeTools: ["a","b*"] (default: all)',
        '  excludeTools: ["c"] (default: none)',
        "",
        "not in use:",
        `  off  (is disabled at ${mcpJson(home)}:26; \`pi-mcp enable off\` switches it on)`,
        "",
      ].join("\n"),
    );
    expect(config.stderr).toMatch(/^pi-mcp: .*mcp\.json:3:5: warning: .*"both" is also in/);
    expect(JSON.parse((await cli(node, home, "config", "--json")).stdout)).toMatchObject({
      servers: [
        { name: "both", file: settings, line: 3, origin: "settings", differs: {} },
        { name: "slow", file: mcpJson(home), differs: { callTimeoutMs: { value: 5000, default: 30000 } } },
        { name: "some", directTools: ["a"], tools: { include: ["a", "b*"], exclude: ["c"] } },
      ],
      problems: [{ severity: "warning", line: 3, column: 5 }],
    });
    const get = await cli(node, home, "get", "both");
    expect(get.stdout).toMatch(
      new RegExp(`^${settings}:3 \\(used\\)\n\\{[^]*"high"[^]*\n${mcpJson(home)}:3\n\\{[^]*"low"`),
    );
    expect(await cli(node, home, "get", "none")).toMatchObject({ code: 3, stdout: "" });
    const elsewhere = await cli(node, home, "disable", "both", "--file", home.path("none.json"));
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      3,
      `pi-mcp: ${home.path("none.json")} has no server "both". It is in ${settings}:3: add --file ${settings}\n`,
    ]);
    expect((await cli(node, home, "add", "both", "--force", "--", "x")).stderr).toContain(
      `is also in ${settings}:3, which is used`,
    );
    expect((await cli(node, home, "disable", "both", "--file", settings)).stdout).toBe(
      `disabled "both": ${settings}:3\n`,
    );
  });

  test("validate gives every mistake a place, and an exit code for a CI", async () => {
    await using home = await temporaryHome();
    const file = (name: string, text: string) => {
      writeFileSync(join(home.cwd, name), text);
      return name;
    };
    const good = file("good.json", COMMENTED);
    const odd = file("odd.json", '{"mcp": {}}');
    const wrong = file(
      "wrong.json",
      '{"mcpServers": {\n  "a": {"command": 5},\n  "b": {"url": "h"}, "c": {"command": "c"}}}',
    );
    const broken = file("broken.json", "{\n  oops");
    expect(await cli(node, home, "validate", good)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await cli(node, home, "validate", odd)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^odd\.json:1:2: warning: /),
    });
    const all = await cli(node, home, "validate", good, wrong, broken, "none.json");
    expect(all.code).toBe(1);
    expect(all.stdout.split("\n").map((line) => line.split(": ").slice(0, 2).join(": "))).toEqual([
      "wrong.json:2:20: error",
      "wrong.json:3:16: error",
      "broken.json:2:3: error",
      "none.json:1:1: error",
      "",
    ]);
    const json = await cli(node, home, "validate", "--json", wrong);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      1,
      { files: [{ file: "wrong.json", servers: ["c"], problems: [{ line: 2, column: 20 }, { line: 3 }] }] },
    ]);
  });
});
