import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { brief, removeHomes, type TestHome, testHome } from "./config.fixture.ts";
import { loadConfig } from "./load.ts";
import type { LoadedConfig, UntrustedFile } from "./record.ts";
import { readTrust } from "./trust.ts";
import { allowProject, listTrust, revoke } from "./trust-decisions.ts";

afterEach(removeHomes);

const MCP = "project/.mcp.json";
const PI_MCP = "project/.pi/mcp.json";
const PI_SETTINGS = "project/.pi/settings.json";
const STORE = ".pi/agent/mcp-trust.json";

function user({ home }: TestHome) {
  return { env: {}, home };
}

function load(home: TestHome, cwd = join(home.home, "project")): LoadedConfig {
  return loadConfig({ ...user(home), cwd });
}

function names({ servers }: LoadedConfig): string[] {
  return servers.map(({ name }) => name);
}

/** Allows everything that waits, and loads again. */
function allowAll(home: TestHome, cwd?: string): LoadedConfig {
  for (const file of load(home, cwd).untrusted ?? []) allowProject(user(home), file);
  return load(home, cwd);
}

function waiting(config: LoadedConfig): UntrustedFile {
  const [file, ...others] = config.untrusted ?? [];
  if (file === undefined || others.length > 0) throw new Error("not one file");
  return file;
}

describe("a project's file", () => {
  it("is not needed (S2-07): a clean home and an empty project have no servers and nothing wrong", () => {
    expect(load(testHome())).toEqual({ servers: [], problems: [] });
  });

  it("E239: gives no server before it is allowed, and is told with what it would run", () => {
    const home = testHome();
    const file = home.write(MCP, '{"mcpServers": {\n "a": {"command": "touch", "args": ["X"]}}}');
    const config = load(home);
    expect(config).toMatchObject({ servers: [], problems: [] });
    expect(config.untrusted).toEqual([
      {
        file,
        realPath: file,
        sha256: createHash("sha256").update(readFileSync(file)).digest("hex"),
        state: "waiting",
        servers: [
          {
            name: "a",
            source: { file, line: 2, column: 2 },
            effect: "adds",
            target: { kind: "stdio", command: "touch", args: ["X"], env: {} },
            commands: [],
            inheritEnv: "all",
          },
        ],
        problems: [],
      },
    ]);
    allowProject(user(home), waiting(config));
    expect(load(home)).toMatchObject({ servers: [{ name: "a", origin: "mcpjson" }], problems: [] });
    expect(load(home).untrusted).toBeUndefined();
  });

  it("is read in all three places, the higher one over the lower once both are allowed", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "low", env: { T: "t" } }, b: { command: "b" } } });
    home.write(PI_MCP, { mcpServers: { a: { command: "high" }, b: { disabled: true } } });
    home.write(PI_SETTINGS, { mcpServers: [{ name: "c", command: "c" }] });
    expect(load(home).untrusted?.map(({ servers }) => servers.map(({ name, effect }) => [name, effect]))).toEqual([
      [
        ["a", "adds"],
        ["b", "adds"],
      ],
      [
        ["a", "replaces"],
        ["b", "disables"],
      ],
      [["c", "adds"]],
    ]);
    const { servers } = allowAll(home);
    expect(servers.map(({ name, origin, target }) => [name, origin, target])).toEqual([
      ["a", "mcpjson", { kind: "stdio", command: "high", args: [], env: {} }],
      ["c", "settings", { kind: "stdio", command: "c", args: [], env: {} }],
    ]);
  });

  it("leaves the person's own server of that name as it is, whatever it says of it", () => {
    for (const [entry, effect] of [
      [{ command: "evil" }, "replaces"],
      [{ url: "https://evil/" }, "replaces"],
      [{ args: ["--evil"] }, "changes"],
      [{ env: { NODE_OPTIONS: "--require ./evil.js" } }, "changes"],
      [{ disabled: true }, "disables"],
      [{ disabled: true, command: "x" }, "disables"],
      [5, "replaces"],
    ] as const) {
      const home = testHome();
      home.write(".pi/agent/mcp.json", { mcpServers: { own: { command: "mine", args: ["a"] } } });
      const without = load(home);
      home.write(MCP, { mcpServers: { own: entry } });
      const { untrusted, ...rest } = load(home);
      expect(rest).toEqual(without);
      expect(untrusted?.[0]?.servers[0]?.effect).toBe(effect);
    }
  });

  it("shows an entry that changes a server as the server would then be, and never passes on credentials", () => {
    const home = testHome();
    home.write(".pi/agent/mcp.json", {
      mcpServers: { s: { command: "node", args: ["a"] }, w: { url: "https://h/", headers: { A: "secret" } } },
    });
    home.write(MCP, { mcpServers: { s: { args: ["b c"] }, w: { url: "https://other/" } } });
    expect(waiting(load(home)).servers.map(({ target }) => target)).toEqual([
      { kind: "stdio", command: "node", args: ["b c"], env: {} },
      { kind: "http", url: "https://other/", headers: {} },
    ]);
    expect(allowAll(home).servers.map(({ target }) => target)).toEqual([
      { kind: "stdio", command: "node", args: ["b c"], env: {} },
      { kind: "http", url: "https://other/", headers: {} },
    ]);
  });

  it("asks again when its content changes in a single byte, and not when it is back", () => {
    const home = testHome();
    const text = '{"mcpServers": {"a": {"command": "x"}}}';
    home.write(MCP, text);
    expect(names(allowAll(home))).toEqual(["a"]);
    home.write(MCP, `${text} `);
    expect(names(load(home))).toEqual([]);
    expect(waiting(load(home)).state).toBe("waiting");
    home.write(MCP, text);
    expect(names(load(home))).toEqual(["a"]);
  });

  it("asks again when it is moved or copied", () => {
    const home = testHome();
    const from = home.write(MCP, { mcpServers: { a: { command: "x" } } });
    allowAll(home);
    mkdirSync(join(home.home, "elsewhere"));
    copyFileSync(from, join(home.home, "elsewhere/.mcp.json"));
    expect(names(load(home, join(home.home, "elsewhere")))).toEqual([]);
    mkdirSync(join(home.home, "project/.pi"));
    copyFileSync(from, join(home.home, PI_MCP));
    unlinkSync(from);
    expect(names(load(home))).toEqual([]);
  });

  it("is one file by whatever links its folder is reached", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "x" } } });
    symlinkSync(join(home.home, "project"), join(home.home, "link"));
    expect(names(allowAll(home, join(home.home, "link")))).toEqual(["a"]);
    expect(names(load(home))).toEqual(["a"]);
    // A link that leads elsewhere since is another file.
    home.write("evil/.mcp.json", { mcpServers: { a: { command: "x" } } });
    unlinkSync(join(home.home, "link"));
    symlinkSync(join(home.home, "evil"), join(home.home, "link"));
    expect(names(load(home, join(home.home, "link")))).toEqual([]);
  });

  it("that was replaced between the question and the answer is not what was allowed", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "harmless" } } });
    const shown = waiting(load(home));
    home.write(MCP, { mcpServers: { a: { command: "evil" } } });
    allowProject(user(home), shown);
    expect(names(load(home))).toEqual([]);
    expect(waiting(load(home)).sha256).not.toBe(shown.sha256);
  });

  it("that is one of the person's own is theirs, by whatever path", () => {
    const home = testHome();
    const own = home.write(".pi/agent/mcp.json", { mcpServers: { a: { command: "x" } } });
    mkdirSync(join(home.home, "project"));
    symlinkSync(own, join(home.home, MCP));
    expect(load(home)).toMatchObject({ servers: [{ name: "a" }], problems: [] });
    expect(load(home).untrusted).toBeUndefined();
    const env = { PI_CODING_AGENT_DIR: join(home.home, "project/.pi") };
    home.write(PI_SETTINGS, { mcpServers: [{ name: "b", command: "x" }] });
    expect(names(loadConfig({ env, home: home.home, cwd: join(home.home, "project") }))).toContain("b");
  });

  it("reports what is wrong in its entries once it is allowed, and where it cannot be parsed at once", () => {
    const home = testHome();
    const file = home.write(MCP, '{"mcpServers": {\n"a": {"command": 5}, "b": {"command": "x"}}}');
    expect(load(home).problems).toEqual([]);
    expect(brief(waiting(load(home)).problems)).toEqual([expect.stringMatching(/^2:18 error .*"command" must be/)]);
    expect(allowAll(home).problems).toMatchObject([{ file, line: 2, server: "a" }]);
    home.write(MCP, '{"mcpServers": {');
    expect(load(home)).toMatchObject({ servers: [], problems: [{ file, severity: "error" }] });
  });

  it("without an entry is none to ask about", () => {
    const home = testHome();
    home.write(PI_SETTINGS, { theme: "dark" });
    home.write(MCP, { mcpServers: { a: { disabled: true, command: "x" } } });
    expect(load(home)).toEqual({ servers: [], problems: [] });
  });
});

describe("the record of consents", () => {
  it("is for the person alone, and for one file and content each", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "x" } } });
    home.write(PI_MCP, { mcpServers: { b: { command: "x" } } });
    const [first, second] = load(home).untrusted ?? [];
    if (first === undefined || second === undefined) throw new Error("not two files");
    allowProject(user(home), first);
    allowProject(user(home), second, "deny");
    expect(statSync(join(home.home, STORE)).mode & 0o777).toBe(0o600);
    expect(names(load(home))).toEqual(["a"]);
    expect(waiting(load(home))).toMatchObject({ file: second.file, state: "denied" });
    expect(listTrust(user(home))).toEqual([
      { file: first.realPath, sha256: first.sha256, decision: "allow" },
      { file: second.realPath, sha256: second.sha256, decision: "deny" },
    ]);
    allowProject(user(home), first, "deny");
    expect(names(load(home))).toEqual([]);
  });

  it("forgets one file or all, also one that is gone", () => {
    const home = testHome();
    const file = home.write(MCP, { mcpServers: { a: { command: "x" } } });
    home.write(PI_MCP, { mcpServers: { b: { command: "x" } } });
    allowAll(home);
    expect(revoke(user(home), "/no/such")).toEqual([]);
    unlinkSync(file);
    expect(revoke(user(home), file)).toEqual([file]);
    expect(names(load(home))).toEqual(["b"]);
    expect(revoke(user(home))).toHaveLength(1);
    expect(names(load(home))).toEqual([]);
    expect(revoke(user(home))).toEqual([]);
  });

  const hash = "a".repeat(64);
  it.each([
    ["text", "nonsense"],
    ["a broken end", '{"version": 1, "files": {'],
    ["another version", '{"version": 2, "files": {}}'],
    ["no files", '{"version": 1}'],
    ["a list", "[]"],
    ["a decision that is none", `{"version": 1, "files": {"/f": {"${hash}": true}}}`],
    ["a hash that is none", '{"version": 1, "files": {"/f": {"*": "allow"}}}'],
    ["a comment, which is not kept", '{"version": 1, /* mine */ "files": {}}'],
    ["bytes that are no text", new Uint8Array([0xff, 0x80, 0x22])],
  ])("that holds %s allows nothing, says so, and is not overwritten", (_what, content) => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "x" } } });
    const shown = waiting(load(home));
    allowProject(user(home), shown);
    const store = home.write(STORE, content);
    const config = load(home);
    expect(names(config)).toEqual([]);
    expect(config.problems).toMatchObject([{ file: store, severity: "error" }]);
    expect(config.problems[0]?.message).toMatch(/no project file is trusted\. Mend or delete it/);
    for (const use of [() => allowProject(user(home), shown), () => revoke(user(home)), () => listTrust(user(home))]) {
      expect(use).toThrow(/no project file is trusted/);
    }
    expect(readFileSync(store)).toEqual(Buffer.from(content));
  });

  it("that cannot be read or is a folder allows nothing", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "x" } } });
    mkdirSync(join(home.home, STORE), { recursive: true });
    expect(load(home)).toMatchObject({ servers: [], problems: [{ severity: "error" }] });
    expect(() => allowProject(user(home), waiting(load(home)))).toThrow(/cannot be used/);
  });

  it("says when it cannot be written, and leaves no half of a file", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "x" } } });
    // A file where the folder should be: nobody can write into it, the administrator neither.
    writeFileSync(join(home.home, "agent"), "");
    const place = { env: { PI_CODING_AGENT_DIR: join(home.home, "agent/deeper") }, home: home.home };
    const shown = waiting(loadConfig({ ...place, cwd: join(home.home, "project") }));
    expect(() => allowProject(place, shown)).toThrow(/could not be written \((ENOTDIR|EEXIST)\)/);
  });

  it("keeps the link somebody has put in its place, and tightens the file behind it", () => {
    const home = testHome();
    home.write(MCP, { mcpServers: { a: { command: "x" } } });
    const elsewhere = home.write("dotfiles/trust.json", { version: 1, files: {} });
    chmodSync(elsewhere, 0o644);
    mkdirSync(join(home.home, ".pi/agent"), { recursive: true });
    symlinkSync(elsewhere, join(home.home, STORE));
    expect(names(allowAll(home))).toEqual(["a"]);
    expect(statSync(elsewhere).mode & 0o777).toBe(0o600);
    expect(readTrust(user(home)).store.size).toBe(1);
  });

  it("is not searched by names that every object has", () => {
    const home = testHome();
    home.write(STORE, '{"version": 1, "files": {"__proto__": {}, "constructor": {}}}');
    home.write(MCP, '{"mcpServers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}}}');
    expect(load(home)).toMatchObject({ servers: [], problems: [] });
    expect(waiting(load(home)).servers.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
  });
});
