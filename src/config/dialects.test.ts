// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { afterEach, describe, expect, it } from "vitest";
import { plainSecrets } from "./check.ts";
import { brief, documentOf, MCP_JSON, removeHomes, SETTINGS, testHome } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import { FIELD_ALIASES, KNOWN_FIELDS } from "./known-fields.ts";
import type { ConfigProblem, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";

afterEach(removeHomes);

interface Read {
  servers: (ServerConfig | undefined)[];
  problems: string[];
}

function readFile(text: string, origin: Origin = "mcpjson"): Read {
  const problems: ConfigProblem[] = [];
  const entries = readEntries(documentOf(text), problems);
  const servers = [...entries.values()].map((entry) => readServer(entry, origin, problems));
  return { servers, problems: brief(problems) };
}

function read(entry: object, origin: Origin = "mcpjson"): { server: ServerConfig | undefined; problems: string[] } {
  const { servers, problems } = readFile(JSON.stringify({ mcpServers: { s: entry } }), origin);
  return { server: servers[0], problems };
}

function target(entry: object) {
  const { server, problems } = read(entry);
  expect(problems).toEqual([]);
  return server?.target;
}

describe("both dialects of pi", () => {
  it("are accepted without a word: the built-in client's", () => {
    const common = {
      enabled: true,
      description: "d",
      timeout: 90,
      exposure: "codemode",
      toolExposure: { "a*": "direct" },
    };
    const oauth = {
      clientId: "a",
      clientSecret: "$B",
      callbackPort: 1,
      callbackUrl: "http://localhost:1/",
      scope: "c",
    };
    const more = { clientName: "d", clientRegistration: "dcr", authServerMetadataUrl: "https://h/" };
    const http = { type: "streamable-http", url: "https://h/", headers: { A: "$$b" }, auth: { provider: "p" } };
    expect(read({ ...common, type: "stdio", command: "x", args: ["~/a"], cwd: "~" }).problems).toEqual([]);
    expect(read({ ...common, ...http, oauth: { ...oauth, ...more } }).problems).toEqual([]);
  });

  it("are accepted without a word: the adapter's", () => {
    const common = {
      ...{ lifecycle: "keep-alive", idleTimeout: 10, requestTimeoutMs: 60_000, directTools: ["a"], debug: false },
      ...{ includeTools: ["a*"], excludeTools: ["b"], disabled: false, toolPrefix: "short" },
      ...{ exposeResources: true, inheritEnv: false },
    };
    const { server, problems } = read({ ...common, command: "x" });
    expect(problems).toEqual([]);
    expect(server?.policy.inheritEnv).toBe("safe");
    expect(read({ command: "x", inheritEnv: true }).server?.policy.inheritEnv).toBe("all");
    expect(read({ ...common, url: "https://h/", auth: "bearer", bearerToken: "x", oauth: false }).problems).toEqual([]);
    expect(
      readFile('{"imports": ["cursor"], "settings": {"idleTimeout": 5}, "autoEnableCodemode": true, "mcpServers": {}}'),
    ).toEqual({ servers: [], problems: [] });
  });

  it.each(["lazy", "eager", "keep-alive", "lazy-keep-alive"])(
    "[S3-41] [S3-42] may say the lifecycle %s as a word or as the older object",
    (word) => {
      for (const lifecycle of [word, { mode: word }]) {
        const { server, problems } = read({ command: "x", lifecycle });
        expect([server?.policy.lifecycle, problems]).toEqual([word, []]);
      }
    },
  );

  it("are lazy when the lifecycle is none, and told so", () => {
    expect(read({ command: "x" }).server?.policy.lifecycle).toBe("lazy");
    for (const lifecycle of ["keepalive", { mode: "always" }, {}, { mode: 5 }, 5, null, ["eager"], "__proto__"]) {
      const { server, problems } = read({ command: "x", lifecycle });
      expect(server?.policy).toMatchObject({ lifecycle: "lazy", healthCheckMs: 0 });
      expect(problems).toEqual([
        expect.stringMatching(/ warning .*"lifecycle" should be one of "lazy", "eager", .*"lazy" is used/),
      ]);
    }
  });

  it("may say how long an idle server stays, in minutes or milliseconds", () => {
    const life = (more: object) => read({ command: "x", ...more }).server?.policy;
    expect(life({})?.idleTimeoutMs).toBe(600_000);
    expect(life({ idleTimeout: 0.5 })?.idleTimeoutMs).toBe(30_000);
    expect(life({ idleTimeout: 0 })?.idleTimeoutMs).toBe(0);
    expect(life({ idleTimeout: 1e9 })?.idleTimeoutMs).toBe(0);
    expect(life({ idleTimeout: 5, idleTimeoutMs: 1_500 })?.idleTimeoutMs).toBe(1_500);
    expect(life({ lifecycle: "eager" })?.idleTimeoutMs).toBe(0);
    expect(life({ lifecycle: "eager", idleTimeout: 1 })?.idleTimeoutMs).toBe(60_000);
    for (const lifecycle of ["keep-alive", "lazy-keep-alive"]) {
      expect(life({ lifecycle, idleTimeout: 1 })).toMatchObject({ idleTimeoutMs: 0, healthCheckMs: 30_000 });
    }
    for (const idleTimeout of [-1, "5", true, null]) {
      const { server, problems } = read({ command: "x", idleTimeout });
      expect([server?.policy.idleTimeoutMs, problems]).toEqual([
        600_000,
        [expect.stringMatching(/ warning .*"idleTimeout"/)],
      ]);
    }
  });

  it("may say what is repeated, and how often; a wrong word is not passed over", () => {
    const { server, problems } = read({ command: "x", replay: "never", maxAttempts: 1, freshAfterFailure: true });
    expect(problems).toEqual([]);
    expect(server?.policy).toMatchObject({
      replay: "never",
      retry: { attempts: 1, inPlace: 2 },
      freshAfterFailure: true,
    });
    expect(read({ command: "x", maxAttempts: 1e6 }).server?.policy.retry.attempts).toBe(10);
    expect(read({ command: "x", replay: "nevr" }).server).toBeUndefined();
    expect(read({ command: "x", replay: true }).server).toBeUndefined();
    expect(read({ command: "x", maxAttempts: 0 }).server).toBeUndefined();
  });

  it("warn of a value of the wrong kind in a field without effect, and of no other", () => {
    const { server, problems } = read({ command: "x", toolPrefix: 5, description: 7 });
    expect(server?.name).toBe("s");
    expect(problems).toEqual([
      '1:48 warning Server "s": "toolPrefix" should not be a number; it has no effect.',
      '1:64 warning Server "s": "description" should not be a number; it has no effect.',
    ]);
    expect(read({ command: "x", exposeResources: false }).server?.hidesResources).toBe(true);
    expect(read({ command: "x", exposeResources: true }).server?.hidesResources).toBeUndefined();
    expect(read({ command: "x", exposeResources: "none" }).server).toBeUndefined();
  });
});

describe("other spellings", () => {
  it("of a field mean the same", () => {
    expect(target({ command: ["npx", "-y"], args: ["x"], environment: { A: "b" } })).toEqual({
      ...{ kind: "stdio", command: "npx", args: ["-y", "x"], env: { A: "b" } },
    });
    for (const field of ["httpUrl", "serverUrl", "url_template"]) {
      expect(target({ [field]: "https://h/", http_headers: { A: "b" } })).toEqual({
        ...{ kind: "http", url: "https://h/", headers: { A: "b" } },
      });
    }
    for (const usual of FIELD_ALIASES.values()) expect(KNOWN_FIELDS.get(usual)?.use).toBe("acts");
  });

  it("are named as they are written when something is wrong", () => {
    expect(read({ command: "x", environment: 5 }).problems).toEqual([
      '1:49 error Server "s": "environment" must be an object of strings, not a number.',
    ]);
  });

  it("count for less than the usual one, with a warning", () => {
    const { server, problems } = read({ httpUrl: "https://a/", url: "https://b/" });
    expect(server?.target).toMatchObject({ url: "https://b/" });
    expect(problems).toEqual(['1:21 warning Server "s": "httpUrl" is not used, because "url" is there as well.']);
    expect(read({ serverUrl: "https://a/", httpUrl: "https://b/" }).problems).toHaveLength(1);
  });

  it("of the key of a file are read", () => {
    for (const key of ["mcpServers", "mcp-servers", "mcp_servers"]) {
      expect(readFile(`{"${key}": {"a": {"command": "x"}}}`)).toMatchObject({ servers: [{ name: "a" }], problems: [] });
    }
    const both = readFile('{"mcp_servers": {"a": {"command": "x"}},\n "mcpServers": {"a": {"command": "y"}}}');
    expect(both).toMatchObject({
      servers: [{ target: { command: "y" } }],
      problems: [expect.stringMatching(/^2:17 warning/)],
    });
    expect(readFile('{"mcp-servers": 5}').problems).toEqual([
      expect.stringMatching(/^1:17 error "mcp-servers" must be/),
    ]);
  });

  it("of the key of a file that are too far off are named", () => {
    for (const key of ["mcpServer", "MCPServers", "mcpservers", "servers", "context_servers"]) {
      expect(readFile(`{"${key}": {"a": {"command": "x"}}}`)).toEqual({
        servers: [],
        problems: [`1:2 warning "${key}" is not read; servers stand under "mcpServers".`],
      });
    }
    expect(readFile('{"theme": "dark", "packages": [], "mcpServer": 5}').problems).toEqual([]);
    expect(readFile('{"servers": {}, "mcpServers": {}}').problems).toEqual([]);
  });
});

describe("a field that is not known", () => {
  it("is named with its place and what was meant, and costs the server nothing", () => {
    const { servers, problems } = readFile(
      '{"mcpServers": {"s": {\n  "command": "x",\n  "agrs": ["y"],\n  "zzz": 1\n}}}',
    );
    expect(servers[0]?.target).toEqual({ kind: "stdio", command: "x", args: [], env: {} });
    expect(problems).toEqual([
      '3:3 warning Server "s": "agrs" is not known and has no effect; did you mean "args"?',
      '4:3 warning Server "s": "zzz" is not known and has no effect.',
    ]);
    expect(read({ url: "https://h/", oauth: { clientID: "x", odd: 1 } }).problems).toEqual([
      expect.stringMatching(/"clientID" in "oauth" is not known and has no effect; did you mean "clientId"\?$/),
      expect.stringMatching(/"odd" in "oauth" is not known and has no effect\.$/),
    ]);
  });

  it("is never one of another program's, nor a note", () => {
    for (const field of KNOWN_FIELDS.keys()) {
      const { problems } = read({ command: "x", [field]: null });
      expect(problems.join(), field).not.toMatch(/not known/);
    }
    expect(read({ command: "x", "//": "why", _note: 1, $comment: "", "x-team": "a", "#": 1 }).problems).toEqual([]);
  });

  it("of another program that the server may need says what to do", () => {
    expect(read({ command: "x", envFile: ".env" }).problems).toEqual([
      '1:35 warning Server "s": "envFile" has no effect here; put the variables under "env".',
    ]);
    expect(
      read({ command: "x", trust: true, autoApprove: [], alwaysAllow: ["a"], disabledTools: [] }).problems,
    ).toEqual([]);
  });

  it("is one of a few that are reported, however many there are", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`zzzz${index}`, 1]));
    const { server, problems } = read({ command: "x", ...many });
    expect(server?.name).toBe("s");
    expect(problems).toHaveLength(9);
    expect(problems[8]).toMatch(/42 more fields are not known\.$/);
  });

  it("is not looked for in what is switched off", () => {
    expect(read({ disabled: true, zzz: 1, httpUrl: 1, url: 2 })).toEqual({ server: undefined, problems: [] });
  });
});

describe("a bearer token", () => {
  it("becomes a header, as written or as the variable it is in", () => {
    expect(target({ url: "https://h/", bearerToken: "${T}" })).toMatchObject({
      headers: { Authorization: "Bearer ${T}" },
    });
    for (const field of ["bearerTokenEnv", "bearer_token_env_var"]) {
      expect(target({ url: "https://h/", [field]: "T" })).toMatchObject({ headers: { Authorization: "Bearer ${T}" } });
    }
    expect(target({ url: "https://h/", bearerToken: "a", bearerTokenEnv: "T" })).toMatchObject({
      headers: { Authorization: "Bearer a" },
    });
    expect(target({ url: "https://h/", env_http_headers: { "X-Key": "K" } })).toMatchObject({
      headers: { "X-Key": "${K}" },
    });
  });

  it("does not replace a header that is written out", () => {
    const { server, problems } = read({ url: "https://h/", headers: { authorization: "a" }, bearerToken: "b" });
    expect(server?.target).toMatchObject({ headers: { authorization: "a" } });
    expect(problems).toEqual([
      expect.stringMatching(/ warning .*"bearerToken" is not used, because there is a header/),
    ]);
  });

  it("is refused without being shown", () => {
    for (const entry of [
      { bearerToken: "hunter2\nx" },
      { bearerTokenEnv: "hunter2-x" },
      { bearerTokenEnv: "ghp_hunter2hunter2" },
      { bearerTokenEnv: "$hunter2" },
    ]) {
      const { server, problems } = read({ url: "https://h/", ...entry });
      expect(server).toBeUndefined();
      expect(problems).toEqual([expect.stringMatching(/ error .*"bearerToken(Env)?"/)]);
      expect(problems.join()).not.toContain("hunter2");
    }
    expect(read({ url: "https://h/", env_http_headers: { A: "ghp_hunter2", "a b": "C" } }).problems).toEqual([
      expect.stringMatching(/ error .*the value of "A" in "env_http_headers" must be the name of a variable\.$/),
      expect.stringMatching(/ error .*"a b" in "env_http_headers" cannot be the name of a header\.$/),
    ]);
  });
});

describe("a command for a value", () => {
  it("stays as it is written, whatever it is for", () => {
    const file = '{"mcpServers": {"s": {"command": "x",\n "env": {"A": "!cat hunter2", "B": "$!x", "C": "!!x"}}}}';
    expect(readFile(file).problems).toEqual([]);
    expect(read({ url: "https://h/", headers: { A: "!pass" } })).toMatchObject({
      server: { target: { headers: { A: "!pass" } } },
      problems: [],
    });
    expect(read({ url: "https://h/", bearerToken: "!pass x" }).server?.target).toEqual({
      ...{ kind: "http", url: "https://h/", headers: {}, bearerCommand: "pass x" },
    });
    expect(read({ url: "https://h/", bearerToken: "!!pass" }).server?.target).toMatchObject({
      headers: { Authorization: "Bearer !pass" },
    });
  });

  it("is no secret that somebody has written down", () => {
    const stdio = { kind: "stdio", command: "x", args: [] } as const;
    expect(plainSecrets({ ...stdio, env: { TOKEN: "!pass show x" } })).toEqual([]);
    expect(plainSecrets({ ...stdio, env: { TOKEN: "!!pass" } })).toHaveLength(1);
  });

  it("names one", () => {
    const file = '{"mcpServers": {"s": {"command": "x",\n "env": {"A": "! "}}}}';
    expect(readFile(file).problems).toEqual([
      '2:15 error Server "s": the value of "A" begins like a command ("!") and names none; write "$!" for an exclamation mark.',
    ]);
    expect(readFile(file, "settings").problems).toEqual([
      expect.stringMatching(
        /^2:15 warning Server "s": the value of "A" in "env" begins with "!", which means a command/,
      ),
    ]);
    expect(read({ url: "https://h/", headers: { A: "!" } }).problems).toHaveLength(1);
    expect(read({ url: "https://h/", bearerToken: "!" }).problems).toEqual([
      expect.stringContaining('"bearerToken" begins like a command ("!") and names none'),
    ]);
  });
});

describe("what is switched off", () => {
  it("[C17] is off by either of the two fields, and on only if neither says so", () => {
    for (const origin of ["mcpjson", "settings"] as const) {
      const isOn = (entry: object) => read({ command: "x", ...entry }, origin).server !== undefined;
      for (const off of [
        { disabled: true },
        { enabled: false },
        { disabled: false, enabled: false },
        { disabled: true, enabled: true },
      ]) {
        expect(isOn(off), JSON.stringify(off)).toBe(false);
      }
      for (const on of [{}, { disabled: false }, { enabled: true }, { disabled: false, enabled: true }])
        expect(isOn(on)).toBe(true);
    }
  });

  it("may be named in a list beside the servers", () => {
    for (const key of ["disabledMcpServers", "disabled_mcp_servers", "disabledServers"]) {
      const { servers, problems } = readFile(
        `{"${key}": ["b", "none", 5], "mcpServers": {"a": {"command": "x"}, "b": {"command": 5}}}`,
      );
      expect(servers.map((server) => server?.name)).toEqual(["a", undefined]);
      expect(problems).toEqual([]);
    }
    expect(readFile('{"disabledMcpServers": "a", "mcpServers": {"a": {"command": "x"}}}').servers).toHaveLength(1);
  });
});

it("a file that is for servers alone and has none is told where they stand; a settings file is not", () => {
  const home = testHome();
  home.write(MCP_JSON, '{"$schema": "x",\n "mcp": {"a": {"command": "x"}}}');
  home.write(SETTINGS, { mcp: {}, theme: "dark" });
  expect(brief(home.load().problems)).toEqual([
    '2:2 warning This file has no "mcpServers", under which servers stand.',
  ]);
  home.write(MCP_JSON, '{"$schema": "x", "imports": [], "settings": {}}');
  expect(home.load().problems).toEqual([]);
});
