import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { brief, MCP_JSON, removeHomes, SETTINGS, SETTINGS_TOML, type TestHome, testHome } from "./config.fixture.ts";
import { type ConfigPlace, loadConfig } from "./load.ts";
import type { LoadedConfig } from "./record.ts";
import { allowProject } from "./trust-decisions.ts";

afterEach(removeHomes);

/** Loads in a project folder below the home. */
function load(home: TestHome, more: Partial<ConfigPlace> = {}): LoadedConfig {
  const cwd = join(home.home, "project");
  mkdirSync(cwd, { recursive: true });
  return loadConfig({ env: {}, home: home.home, cwd, ...more });
}

/** `name origin command-or-url`, in order. */
function lines({ servers }: LoadedConfig): string[] {
  return servers.map(
    ({ name, origin, target }) => `${name} ${origin} ${target.kind === "stdio" ? target.command : target.url}`,
  );
}

function named(...sources: string[]): Pick<ConfigPlace, "flags"> {
  return { flags: { sources } };
}

const handed = (list: unknown) => ({ env: { PI_ACP_MCP_SERVERS: JSON.stringify(list) } });

describe("where a field comes from", () => {
  it("is the place of its name in the file, whose word it is, under the usual name", () => {
    const home = testHome();
    const file = home.write(
      MCP_JSON,
      '{\n  "mcpServers": {\n    "a": { "command": "x",\n      "environment": {} }\n  }\n}',
    );
    const toml = home.write(SETTINGS_TOML, '[mcp_servers.t]\n  url = "https://h/"\n');
    expect(load(home).servers.map(({ fields }) => fields)).toEqual([
      { command: { layer: "own", file, line: 3, column: 12 }, env: { layer: "own", file, line: 4, column: 7 } },
      { url: { layer: "own", file: toml, line: 2, column: 3 } },
    ]);
  });

  it("is the overriding file for the fields it names, and the other for the rest", () => {
    const home = testHome();
    const own = home.write(MCP_JSON, { mcpServers: { a: { command: "x", timeout: 5, exposure: "direct" } } });
    const project = home.write("project/.mcp.json", '{"mcpServers": {\n"a": {"timeout": 9}}}');
    for (const file of load(home).untrusted ?? []) allowProject({ env: {}, home: home.home }, file);
    const [server] = load(home, named('{"mcpServers": {"a": {\n"exposure": "gateway"}}}')).servers;
    expect(server).toMatchObject({ exposure: "gateway", policy: { callTimeoutMs: 9000 } });
    expect(server?.fields).toMatchObject({
      command: { layer: "own", file: own },
      timeout: { layer: "project", file: project, line: 2, column: 7 },
      exposure: { layer: "flag", file: "--mcp-config", line: 2, column: 1 },
    });
  });

  it("holds no value, and a field called __proto__ is one like any other", () => {
    const home = testHome();
    home.write(
      MCP_JSON,
      '{"mcpServers": {"a": {"command": "hunter2", "env": {"K": "hunter2"}, "__proto__": {"x": 1}}}}',
    );
    const fields = load(home).servers[0]?.fields ?? {};
    expect(JSON.stringify(fields)).not.toContain("hunter2");
    expect(Object.keys(fields)).toEqual(["command", "env", "__proto__"]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });
});

describe("what is named on the command line", () => {
  it("is added to the other sources and wins over all of them", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: "own-a" }, b: { command: "own-b" } } });
    home.write(SETTINGS, { mcpServers: [{ name: "s", command: "own-s" }] });
    home.write("project/extra.json", { mcpServers: { b: { command: "flag-b" }, s: { url: "https://flag/" } } });
    home.write("settings.json", { mcpServers: [{ name: "t", command: "flag-t" }] });
    const loaded = load(home, {
      ...named("extra.json", "~/settings.json"),
      ...handed([{ name: "b", command: "acp-b" }]),
    });
    expect(lines(loaded)).toEqual([
      "a mcpjson own-a",
      "b mcpjson flag-b",
      "s mcpjson https://flag/",
      "t settings flag-t",
    ]);
    expect(brief(loaded.problems)).toEqual([expect.stringContaining('1:1 warning Server "b" is also in')]);
  });

  it("is all there is when it is to be alone", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: "x" } } });
    home.write(SETTINGS, "{ broken");
    home.write("project/.mcp.json", { mcpServers: { p: { command: "x" } } });
    const registered = [{ name: "r", config: { command: "x" }, extensionPath: "/e.js" }];
    const flags = { sources: ['{"mcpServers": {"f": {"command": "x"}}}'], isStrict: true };
    const loaded = load(home, { flags, registered, ...handed([{ name: "h", command: "x" }]) });
    expect([lines(loaded), loaded.problems, loaded.untrusted]).toEqual([["f mcpjson x"], [], undefined]);
    expect(lines(load(home, { flags: { sources: [], isStrict: true } }))).toEqual([]);
  });

  it("changes or switches off what stands elsewhere, wherever that is", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: "x" }, both: { command: "x" } } });
    home.write(SETTINGS, {
      mcpServers: [
        { name: "s", command: "x" },
        { name: "both", command: "x" },
      ],
    });
    const off = {
      mcpServers: { both: { disabled: true }, e: { enabled: false }, s: { timeout: 7 }, no: { disabled: true } },
    };
    const loaded = load(home, { ...named(JSON.stringify(off)), ...handed([{ name: "e", command: "x" }]) });
    expect([lines(loaded), loaded.problems]).toEqual([["a mcpjson x", "s settings x"], []]);
    expect(loaded.servers[1]?.policy.callTimeoutMs).toBe(7000);
    const on = load(home, { ...named(JSON.stringify(off), '{"mcpServers": {"e": {"command": "y"}}}') });
    expect(lines(on)).toContain("e mcpjson y");
  });

  it("takes a file of the project at the person's word, once", () => {
    const home = testHome();
    home.write("project/.mcp.json", { mcpServers: { p: { command: "x" } } });
    const loaded = load(home, named(".mcp.json"));
    expect([lines(loaded), loaded.untrusted]).toEqual([["p mcpjson x"], undefined]);
    expect(loaded.servers[0]?.fields.command?.layer).toBe("flag");
  });

  it.each<[string, string, RegExp]>([
    ["is not there", "nowhere.json", /^1:1 error There is no such file, which --mcp-config names\.$/],
    ["is a folder", ".", /^1:1 error This is not a regular file/],
    ["does not parse", "broken.json", /^2:1 error This file is not used because of a mistake in its syntax/],
    ["holds a list", "list.json", /^1:1 error It must hold an object with the key "mcpServers"\.$/],
    ["is a text that does not parse", '{"mcpServers": hunter2}', /^1:16 error This file is not used/],
  ])("is an error with its name when it %s, and the rest works", (_, source, message) => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: "x" } } });
    home.write("project/broken.json", '{"mcpServers":\n}');
    home.write("project/list.json", "[]");
    const loaded = load(home, named(source));
    expect(brief(loaded.problems)).toEqual([expect.stringMatching(message)]);
    expect(loaded.problems[0]?.message).not.toContain("hunter2");
    expect(loaded.problems[0]?.file).toBe(source.startsWith("{") ? "--mcp-config" : join(home.home, "project", source));
    expect(lines(loaded)).toEqual(["a mcpjson x"]);
  });
});

describe("what other extensions register", () => {
  const registered = [{ name: "jira", config: { url: "https://jira/mcp", timeout: 9 }, extensionPath: "/ext/jira.js" }];

  it("is a server like one of an mcp.json, beneath all files", () => {
    const home = testHome();
    const [server] = load(home, { registered }).servers;
    const place = { layer: "extension", file: "/ext/jira.js", line: 1, column: 1 };
    expect(server).toMatchObject({
      name: "jira",
      origin: "mcpjson",
      source: { file: "/ext/jira.js", line: 1, column: 1 },
      target: { kind: "http", url: "https://jira/mcp" },
      policy: { callTimeoutMs: 9000 },
      fields: { url: place, timeout: place },
    });
    home.write(MCP_JSON, { mcpServers: { jira: { exposure: "direct" } } });
    expect(load(home, { registered }).servers[0]).toMatchObject({ exposure: "direct", fields: { url: place } });
    home.write(MCP_JSON, { mcpServers: { jira: { enabled: false } } });
    expect(load(home, { registered }).servers).toEqual([]);
    home.write(MCP_JSON, { mcpServers: { jira: { command: "mine" } } });
    expect(lines(load(home, { registered }))).toEqual(["jira mcpjson mine"]);
  });

  it("is replaced by an allowed file of the project, but not changed by it", () => {
    const home = testHome();
    const allowAll = () => {
      for (const file of load(home).untrusted ?? []) allowProject({ env: {}, home: home.home }, file);
    };
    home.write("project/.mcp.json", { mcpServers: { jira: { headers: { A: "b" } } } });
    allowAll();
    const changed = load(home, { registered });
    expect(changed.servers[0]?.target).toEqual({ kind: "http", url: "https://jira/mcp", headers: {} });
    expect(brief(changed.problems)).toEqual([expect.stringContaining("a project's file cannot change it")]);
    home.write("project/.mcp.json", { mcpServers: { jira: { command: "theirs" } } });
    expect(load(home, { registered }).untrusted?.[0]?.servers[0]?.effect).toBe("replaces");
    expect(lines(load(home, { registered }))).toEqual(["jira mcpjson https://jira/mcp"]);
    allowAll();
    expect(lines(load(home, { registered }))).toEqual(["jira mcpjson theirs"]);
  });

  it("stays as the person has changed it, whatever a file of the project says of it", () => {
    const home = testHome();
    home.write("project/.mcp.json", { mcpServers: { jira: { disabled: false, excludeTools: [] } } });
    for (const file of load(home).untrusted ?? []) allowProject({ env: {}, home: home.home }, file);
    expect(load(home, { registered }).servers[0]?.tools).toBeUndefined();
    home.write(MCP_JSON, { mcpServers: { jira: { excludeTools: ["rm"] } } });
    expect(load(home, { registered }).servers[0]?.tools).toEqual({ exclude: ["rm"] });
    home.write(MCP_JSON, { mcpServers: { jira: { disabled: true } } });
    expect(load(home, { registered }).servers).toEqual([]);
  });

  it("costs only itself when it is wrong", () => {
    const home = testHome();
    const deep: unknown[] = [];
    for (let level = 0, inner = deep; level < 100_000; level++) {
      const next: unknown[] = [];
      inner.push(next);
      inner = next;
    }
    const wrong = [{ env: deep }, null, 5, { command: 5 }, { command: "x", args: [{}] }, { url: "nowhere" }];
    const list = wrong.map((config, index) => ({ name: `w${index}`, config, extensionPath: "/e.js" }));
    const loaded = load(home, { registered: [...list, ...registered] });
    expect(lines(loaded)).toEqual(["jira mcpjson https://jira/mcp"]);
    expect(loaded.problems.map(({ file, line, column, server }) => [file, line, column, server])).toEqual(
      expect.arrayContaining(wrong.map((_, index) => ["/e.js", 1, 1, `w${index}`])),
    );
  });
});

describe("names across origins", () => {
  it("are one server each: an editor's before the settings' before those of mcp.json, and the loser is said (C11)", () => {
    const home = testHome();
    const settings = home.write(SETTINGS, {
      mcpServers: [
        { name: "x", command: "settings" },
        { name: "y", command: "settings" },
      ],
    });
    const mcp = home.write(MCP_JSON, {
      mcpServers: { x: { command: "mcpjson" }, y: { command: "mcpjson" }, z: { command: "mcpjson" } },
    });
    const loaded = load(home, handed([{ name: "x", command: "editor" }]));
    expect(lines(loaded)).toEqual(["x acp editor", "y settings settings", "z mcpjson mcpjson"]);
    expect(loaded.problems.map(({ file, server, message }) => [file, server, message])).toEqual([
      [settings, "x", expect.stringContaining('Server "x" is also in PI_ACP_MCP_SERVERS:1, which is used')],
      [mcp, "x", expect.stringContaining('Server "x" is also in PI_ACP_MCP_SERVERS:1, which is used')],
      [mcp, "y", expect.stringContaining(`Server "y" is also in ${settings}:1, which is used`)],
    ]);
  });
});
