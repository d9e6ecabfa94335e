// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { afterEach, describe, expect, it } from "vitest";
import { brief, removeHomes, SETTINGS, SETTINGS_TOML, testHome } from "./config.fixture.ts";
import type { ConfigProblem, ServerConfig } from "./record.ts";
import { parseToml } from "./toml-file.ts";

afterEach(removeHomes);

const where = (servers: readonly ServerConfig[]) =>
  servers.map(({ name, source }) => `${name} ${source.line}:${source.column}`);

describe("settings.toml", () => {
  it("[S1-08] declares the same server as the JSON form, in a table by name or in an array of tables", () => {
    const fields = {
      command: "/path/server",
      args: ["--flag", "a b"],
      env: { API_KEY: "${MY_KEY}", N: 5, ON: true },
      cwd: "~/x",
      enabled: true,
      startup_timeout_sec: 3,
      tool_timeout_sec: 6000,
    };
    const remote = { url: "https://h/mcp", headers: { Authorization: "Bearer ${T}" }, type: "sse" };
    const body = `command = "/path/server"
args = ["--flag", "a b"]
env = { API_KEY = "\${MY_KEY}", N = 5, ON = true }
cwd = '~/x'
enabled = true
startup_timeout_sec = 3
tool_timeout_sec = 6_000
`;
    const remoteBody = 'url = "https://h/mcp"\ntype = "sse"\n';
    const json = testHome();
    json.write(SETTINGS, { mcpServers: { "my-server": fields, remote } });
    const expected = json.load().servers.map(({ source: _, fields: __, ...rest }) => rest);
    expect(expected).toHaveLength(2);
    for (const text of [
      `[mcp_servers.my-server]\n${body}[mcp_servers.remote]\n${remoteBody}headers = { Authorization = "Bearer \${T}" }\n`,
      `[[mcpServers]]\nname = "my-server"\n${body}[[mcpServers]]\nname = "remote"\n${remoteBody}[mcpServers.headers]\nAuthorization = "Bearer \${T}"\n`,
      `[mcpServers."my-server"]\n${body}[mcpServers.remote]\n${remoteBody}headers.Authorization = "Bearer \${T}"\n`,
    ]) {
      const home = testHome();
      home.write(SETTINGS_TOML, text);
      const { servers, problems } = home.load();
      expect(problems).toEqual([]);
      expect(servers.map(({ source: _, fields: __, ...rest }) => rest)).toEqual(expected);
    }
  });

  it("wins over settings.json, name by name, as mcp.json files do over each other", () => {
    const home = testHome();
    const json = home.write(SETTINGS, {
      mcpServers: [
        { name: "both", command: 5 },
        { name: "off-here", command: "x" },
        { name: "json", command: "x" },
      ],
    });
    const toml = home.write(
      SETTINGS_TOML,
      '[mcp_servers.both]\ncommand = "toml"\n\n[mcp_servers.off-here]\nenabled = false\n',
    );
    const { servers, problems } = home.load();
    expect(servers).toMatchObject([
      { name: "both", origin: "settings", source: { file: toml, line: 1 }, target: { command: "toml" } },
      { name: "json", source: { file: json } },
    ]);
    expect(problems).toEqual([]);
  });

  it("may be absent, empty, or hold other things", () => {
    for (const text of ["", "# nothing\n", "\ufeff", 'theme = "dark"\n', "[mcp_servers]\n"]) {
      const home = testHome();
      home.write(SETTINGS_TOML, text);
      expect(home.load(), text).toEqual({ servers: [], problems: [] });
    }
  });

  it("with a mistake gives its place and nothing of its text, and costs only itself", () => {
    const home = testHome();
    home.write(SETTINGS, { mcpServers: { a: { command: "x" } } });
    home.write(SETTINGS_TOML, '[mcp_servers.b]\ncommand = "x"\nenv = { TOKEN = "hunter2 }\n');
    const { servers, problems } = home.load();
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(brief(problems)).toEqual([
      expect.stringMatching(/^3:\d+ error This file is not used because of a mistake in its syntax: [^\n]+\.$/),
    ]);
    expect(problems[0]?.message).not.toContain("hunter2");
  });

  it("gives every mistake the place of its key, its table or its owner", () => {
    const home = testHome();
    home.write(
      SETTINGS_TOML,
      `# first line
[mcp_servers.a]
command = 5
[mcp_servers."b c"]
command = "x"
  args = "y"
[mcp_servers.d]
command = "x"
env = { A = [1] }
[mcp_servers.e]
command = "x"
text = """
[mcp_servers.f]
comand = 1
"""
[mcp_servers.e.env]
GOOD = "1"
BAD = {}
[mcp_servers.f]
comand = "x"
`,
    );
    const { servers, problems } = home.load();
    expect(servers).toEqual([]);
    expect(brief(problems).map((line) => line.replace(/Server /, ""))).toEqual([
      '3:11 error "a": "command" must be a string, not a number.',
      '6:10 error "b c": "args" must be an array of strings, not a string.',
      '9:7 error "d": the value of "A" in "env" must be a string, not an array.',
      '18:7 error "e": the value of "BAD" in "env" must be a string, not an object.',
      '12:1 warning "e": "text" is not known and has no effect.',
      '19:14 error "f": has neither a "command" to run nor a "url" to connect to.',
      '20:1 warning "f": "comand" is not known and has no effect; did you mean "command"?',
    ]);
  });

  it("gives each server the place of its table", () => {
    const home = testHome();
    home.write(
      SETTINGS_TOML,
      '[[mcpServers]]\nname = "a"\ncommand = "x"\n[mcpServers.env]\nA = "1"\n\n [[ mcpServers ]] # two\nname = "b"\ncommand = "x"\n',
    );
    expect(where(home.load().servers)).toEqual(["a 1:1", "b 7:2"]);
    home.write(SETTINGS_TOML, '[mcp_servers]\na.command = "x"\nb = { command = "x" }\n\'c d\'.command = "x"\r\n');
    expect(where(home.load().servers)).toEqual(["a 2:1", "b 3:1", "c d 4:1"]);
  });

  it("takes a date for what is written, and a key called __proto__ for one like others", () => {
    const home = testHome();
    home.write(
      SETTINGS_TOML,
      '[mcp_servers.a]\ncommand = "x"\nenv = { D = 2024-01-02, T = 07:32:00 }\n[mcp_servers."__proto__"]\ncommand = "y"\n',
    );
    const { servers, problems } = home.load();
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      { name: "__proto__", target: { command: "y" } },
      { name: "a", target: { env: { D: "2024-01-02", T: expect.stringMatching(/^07:32:00/) } } },
    ]);
  });

  it("does not throw for whatever it holds", () => {
    for (const text of [
      "[".repeat(100_000),
      `a = ${"[".repeat(5000)}`,
      "a = 99999999999999999999",
      "\0",
      "a = 1\na = 2",
    ]) {
      const problems: ConfigProblem[] = [];
      expect(parseToml("/f", text, problems)).toBeUndefined();
      expect(problems).toMatchObject([{ file: "/f", severity: "error" }]);
    }
  });
});
