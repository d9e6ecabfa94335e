// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { afterEach, describe, expect, it } from "vitest";
import { brief, MCP_JSON, removeHomes, SETTINGS, SETTINGS_TOML, testHome, USER_MCP_JSON } from "./config.fixture.ts";
import { loadConfig } from "./load.ts";
import { ORIGINS } from "./origins.ts";

afterEach(removeHomes);

describe("loadConfig", () => {
  it("finds nothing in an empty home, and nothing wrong", () => {
    expect(testHome().load()).toEqual({ servers: [], problems: [] });
  });

  it("[S1-07] reads the array in the settings file", () => {
    const home = testHome();
    const file = home.write(
      SETTINGS,
      `{
  "theme": "dark",
  "mcpServers": [
    {
      "name": "my-tools",
      "transport": "stdio",
      "command": "npx",
      "args": ["-y", "my-mcp-server"],
      "env": { "TOKEN": "$MY_TOKEN" },
      "disabled": false
    }
  ]
}`,
    );
    expect(home.load({ MY_TOKEN: "not looked at" })).toMatchObject({
      servers: [
        {
          name: "my-tools",
          origin: "settings",
          source: { file, line: 4, column: 5 },
          target: { kind: "stdio", command: "npx", args: ["-y", "my-mcp-server"], env: { TOKEN: "$MY_TOKEN" } },
          policy: { ...ORIGINS.settings, startTimeoutMs: 60_000 },
          exposure: "gateway",
        },
      ],
      problems: [],
    });
  });

  it("[S3-01] reads the servers by name in an mcp.json file", () => {
    const home = testHome();
    const file = home.write(
      MCP_JSON,
      `{
  "mcpServers": {
    "mcp-test": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-foo", "--", "--option=value"]
    },
    "my-server": {
      "url": "https://example.com/mcp",
      "oauth": false
    },
    "with-env": {
      "command": "node",
      "args": ["server.js"],
      "env": {
        "API_KEY": "\${MY_API_KEY}",
        "LOG_LEVEL": "debug"
      }
    }
  }
}`,
    );
    const rest = { origin: "mcpjson", policy: ORIGINS.mcpjson, exposure: "gateway" };
    expect(home.load()).toMatchObject({
      servers: [
        {
          ...rest,
          policy: { ...ORIGINS.mcpjson, startTimeoutMs: 60_000 },
          name: "mcp-test",
          source: { file, line: 3, column: 5 },
          target: {
            kind: "stdio",
            command: "npx",
            args: ["-y", "@modelcontextprotocol/server-foo", "--", "--option=value"],
            env: {},
          },
        },
        {
          ...rest,
          name: "my-server",
          source: { file, line: 7, column: 5 },
          target: { kind: "http", url: "https://example.com/mcp", headers: {} },
        },
        {
          ...rest,
          name: "with-env",
          source: { file, line: 11, column: 5 },
          target: {
            kind: "stdio",
            command: "node",
            args: ["server.js"],
            env: { API_KEY: "${MY_API_KEY}", LOG_LEVEL: "debug" },
          },
        },
      ],
      problems: [],
    });
  });

  it("keeps the good servers of a file with bad ones", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: 5 }, b: { command: "x" }, c: 7, d: { url: "https://h/" } } });
    const { servers, problems } = home.load();
    expect(servers.map(({ name }) => name)).toEqual(["b", "d"]);
    expect(problems.map(({ server }) => server)).toEqual(["c", "a"]);
  });

  it("takes nothing from a file with a syntax error, and everything from the others", () => {
    const home = testHome();
    home.write(USER_MCP_JSON, { mcpServers: { a: { command: "x" } } });
    const file = home.write(MCP_JSON, '{"mcpServers": {\n  "b": {"command": "x"},\n  "c": {"command" "y"}\n}}');
    const { servers, problems } = home.load();
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(problems).toMatchObject([{ file, line: 3, column: 19, severity: "error" }]);
  });

  it("reads the settings file of the agent's directory wherever it is", () => {
    const home = testHome();
    home.write("elsewhere/settings.json", { mcpServers: [{ name: "a", command: "x" }] });
    home.write("xdg/mcp/mcp.json", { mcpServers: { b: { command: "x" } } });
    const { servers } = home.load({ PI_CODING_AGENT_DIR: "~/elsewhere", XDG_CONFIG_HOME: `${home.home}/xdg` });
    expect(servers.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("sorts by name in one order everywhere", () => {
    const home = testHome();
    home.write(SETTINGS, { mcpServers: ["b", "ä", "B", "a", "10", "9"].map((name) => ({ name, command: "x" })) });
    expect(home.load().servers.map(({ name }) => name)).toEqual(["10", "9", "B", "a", "b", "ä"]);
  });

  it("prefers the settings file and names both places", () => {
    const home = testHome();
    const settings = home.write(SETTINGS, '{"mcpServers":\n [{"name": "a", "command": "from-settings"}]}');
    const mcpJson = home.write(MCP_JSON, { mcpServers: { a: { command: "from-mcp-json" } } });
    const { servers, problems } = home.load();
    expect(servers).toMatchObject([{ name: "a", origin: "settings", target: { command: "from-settings" } }]);
    expect(problems).toMatchObject([{ file: mcpJson, line: 1, column: 16, severity: "warning", server: "a" }]);
    expect(problems[0]?.message).toContain(`${settings}:2`);
  });

  it("takes a server from mcp.json whose namesake in the settings is switched off", () => {
    const home = testHome();
    home.write(SETTINGS, { mcpServers: [{ name: "a", command: "x", disabled: true }] });
    home.write(MCP_JSON, { mcpServers: { a: { command: "y" } } });
    expect(home.load()).toMatchObject({ servers: [{ origin: "mcpjson" }], problems: [] });
  });
});

describe("a damaged file", () => {
  it("costs the servers in it and nothing else, whatever the damage", () => {
    const home = testHome();
    home.write(USER_MCP_JSON, { mcpServers: { other: { command: "x" } } });
    const text = `{ // comment
  "mcpServers": {
    "a": { "command": "npx", "args": ["-y", "x"], "env": { "K": "v", "N": 5 }, "timeout": 5 },
    "b": { "type": "http", "url": "https://h/mcp", "headers": { "A": "b" }, "disabled": false },
  },
}`;
    for (let at = 0; at < text.length; at++) {
      for (const damaged of [
        text.slice(0, at),
        text.slice(0, at) + text.slice(at + 1),
        `${text.slice(0, at)}"${text.slice(at)}`,
      ]) {
        const file = home.write(MCP_JSON, damaged);
        const { servers, problems } = home.load();
        expect(servers.map(({ name }) => name)).toContain("other");
        const lines = damaged.split("\n");
        for (const problem of problems) {
          expect(problem.file).toBe(file);
          expect(lines[problem.line - 1]?.length, damaged).toBeGreaterThanOrEqual(problem.column - 1);
        }
      }
    }
  });
});

describe("mcp.json files", () => {
  function merged(lower: object | number, higher: object | number) {
    const home = testHome();
    home.write(USER_MCP_JSON, { mcpServers: { s: lower } });
    home.write(MCP_JSON, { mcpServers: { s: higher } });
    const { servers, problems } = home.load();
    return { server: servers[0], problems: brief(problems) };
  }

  it("replace an entry of a lower file whole", () => {
    const lower = { command: "old", args: ["x"], env: { TOKEN: "t" }, cwd: "/x", timeout: 5 };
    const { server } = merged(lower, { command: "new" });
    expect(server?.target).toEqual({ kind: "stdio", command: "new", args: [], env: {} });
    expect(server?.policy).toEqual(ORIGINS.mcpjson);
  });

  it("never pass credentials on to another address", () => {
    const { server } = merged({ url: "https://a/", headers: { Authorization: "Bearer x" } }, { url: "https://b/" });
    expect(server?.target).toEqual({ kind: "http", url: "https://b/", headers: {} });
  });

  it("know an address and a field by their other spellings, too", () => {
    const lower = { httpUrl: "https://a/", headers: { Authorization: "Bearer x" } };
    for (const field of ["url", "httpUrl", "serverUrl", "uri", "baseUrl"]) {
      const { server } = merged(lower, { [field]: "https://b/" });
      expect(server?.target).toEqual({ kind: "http", url: "https://b/", headers: {} });
    }
    expect(merged({ command: "x", env: { A: "1" } }, { cmd: "y" }).server?.target).toMatchObject({
      command: "y",
      env: {},
    });
    const { server, problems } = merged({ command: "x", env: { A: "1" } }, { environment: { A: "2" } });
    expect(server?.target).toMatchObject({ command: "x", env: { A: "2" } });
    expect(problems).toEqual([]);
  });

  it("change single fields by an entry without a transport", () => {
    const lower = { command: "x", args: ["a"], env: { A: "1", B: "2" } };
    const { server, problems } = merged(lower, { env: { A: "3" }, exposure: "direct" });
    expect(server?.target).toEqual({ kind: "stdio", command: "x", args: ["a"], env: { A: "3" } });
    expect(server?.exposure).toBe("direct");
    expect(server?.source.file).toMatch(/\.config\/mcp\/mcp\.json$/);
    expect(problems).toEqual([]);
  });

  it("switch a server of a lower file off, or on again", () => {
    expect(merged({ command: "x" }, { disabled: true })).toEqual({ server: undefined, problems: [] });
    expect(merged({ command: "x", disabled: true }, { disabled: false }).server?.name).toBe("s");
  });

  it("place a problem in the file that has it", () => {
    const home = testHome();
    home.write(USER_MCP_JSON, { mcpServers: { s: { command: "x" } } });
    const file = home.write(MCP_JSON, '{"mcpServers": {"s":\n {"args": 5}}}');
    expect(home.load()).toMatchObject({ servers: [], problems: [{ file, line: 2, column: 11 }] });
  });

  it("do not fall back on a lower entry when the higher one is wrong", () => {
    expect(merged({ command: "x" }, 5).server).toBeUndefined();
    expect(merged({ command: "x" }, { command: 5 }).server).toBeUndefined();
    expect(merged(5, { disabled: false }).problems).toHaveLength(1);
  });

  it("report an entry that changes nothing that exists", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { s: { env: {} } } });
    expect(brief(home.load().problems)).toEqual([expect.stringMatching(/neither a "command" to run nor a "url"/)]);
    home.write(MCP_JSON, { mcpServers: { s: { disabled: true } } });
    expect(home.load()).toMatchObject({ servers: [], problems: [] });
  });
});

describe("what is not used", () => {
  it("is named with what switches it off and how to switch it on", () => {
    const home = testHome();
    const low = home.write(
      USER_MCP_JSON,
      '{"mcpServers": {"a": {"command": "x"},\n "b c": {"command": "x", "enabled": false}}}',
    );
    const high = home.write(MCP_JSON, '{"mcpServers": {\n "a": {"disabled": true}}}');
    const toml = home.write(SETTINGS_TOML, '[mcp_servers.t]\ncommand = "x"\nenabled = false\n');
    expect(home.load().unused).toMatchObject([
      { reason: "disabled", name: "a", source: { file: high, line: 2, column: 8 }, remedy: "pi-mcp enable a" },
      {
        reason: "disabled",
        name: "b c",
        source: { file: low, line: 2 },
        remedy: `pi-mcp enable 'b c' --file ${low}`,
      },
      { reason: "disabled", name: "t", source: { file: toml, line: 3 } },
    ]);
    expect(home.load().unused?.[2]).not.toHaveProperty("remedy");
    home.write(MCP_JSON, '{"mcpServers": {"a": {"command": "x"}},\n "disabledMcpServers": ["a"]}');
    expect(home.load().unused?.[0]).toMatchObject({ name: "a", source: { line: 2, column: 25 } });
  });

  it("is named with its first mistake, which counts for more than a switch", () => {
    const home = testHome();
    const file = home.write(
      MCP_JSON,
      '{"mcpServers": {"a": {"command": 5},\n "b": 7, "c": {"command": "x", "args": [1, 2]}}}',
    );
    home.write(SETTINGS, { mcpServers: [{ name: "a", command: "x", disabled: true }] });
    expect(home.load().unused).toEqual([
      {
        reason: "wrong",
        name: "a",
        source: { file, line: 1, column: 34 },
        message: '"command" must be a string, not a number.',
      },
      {
        reason: "wrong",
        name: "b",
        source: { file, line: 2, column: 7 },
        message: 'Server "b" must be an object with a "command" or a "url".',
      },
      {
        reason: "wrong",
        name: "c",
        source: { file, line: 2, column: 41 },
        message: '"args[0]" must be a string, not a number.',
      },
    ]);
  });

  it("comes from every source, and has a remedy only where a file is edited", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: "x" } } });
    const file = home.write("more.json", '{"mcpServers": {"b": {"command": "x", "disabled": true}}}');
    const handed = JSON.stringify([{ name: "c", command: 5 }]);
    const { servers, unused } = loadConfig({
      env: { PI_ACP_MCP_SERVERS: handed },
      home: home.home,
      flags: { sources: ['{"mcpServers": {"a": {"disabled": true}}}', file], isStrict: false },
    });
    expect(servers).toEqual([]);
    expect(unused).toMatchObject([
      { name: "a", reason: "disabled" },
      { name: "b", reason: "disabled", source: { file, line: 1 }, remedy: `pi-mcp enable b --file ${file}` },
      { name: "c", reason: "wrong", message: expect.stringContaining('"command"') },
    ]);
    expect(unused?.[0]).not.toHaveProperty("remedy");
  });

  it("is not what another file's entry of the name makes good", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: 5 }, b: { command: "x", disabled: true } } });
    home.write(SETTINGS, { mcpServers: ["a", "b"].map((name) => ({ name, command: "x" })) });
    expect(home.load()).not.toHaveProperty("unused");
  });
});
