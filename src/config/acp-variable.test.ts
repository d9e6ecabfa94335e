import { describe, expect, it, test } from "vitest";
import { readAcpVariable } from "./acp-variable.ts";
import { LIMIT_VARIABLES } from "./environment-limits.ts";

const read = (value: string, more: Record<string, string> = {}) =>
  readAcpVariable({ ...more, PI_ACP_MCP_SERVERS: value });

const A = { name: "a", command: "/bin/a", args: ["-x"], env: [{ name: "K", value: "$V" }] };
const TARGET = { kind: "stdio", command: "/bin/a", args: ["-x"], env: { K: "$V" } };

describe("PI_ACP_MCP_SERVERS", () => {
  it.each<[string, unknown]>([
    ["an array, as ACP has it", [A]],
    ["one server", A],
    ["an object of servers by name", { a: { command: "/bin/a", args: ["-x"], env: { K: "$V" } } }],
    ["such an object under mcpServers", { mcpServers: { a: { ...A, name: undefined } } }],
    ["an array under mcpServers", { mcpServers: [A] }],
    [
      "Zed's context_servers",
      {
        context_servers: { a: { source: "custom", enabled: true, command: "/bin/a", args: ["-x"], env: { K: "$V" } } },
      },
    ],
    [
      "Zed's older form",
      { context_servers: { a: { command: { path: "/bin/a", args: ["-x"], env: { K: "$V" } }, settings: {} } } },
    ],
  ])("may hold %s, also in base64url", (_, value) => {
    const json = JSON.stringify(value);
    for (const text of [
      json,
      ` ${json}\n`,
      Buffer.from(json).toString("base64url"),
      Buffer.from(json).toString("base64"),
    ]) {
      const { servers, problems } = read(text);
      expect([servers.map(({ name, target }) => [name, target]), problems]).toEqual([[["a", TARGET]], []]);
    }
  });

  it.each(["", "  ", "[]", "{}"])("is nothing when it holds %j", (text) => {
    expect(read(text)).toEqual({ servers: [], problems: [] });
  });

  it.each([
    "hunter2",
    '"hunter2"',
    '[{"name": "hunter2"',
    "{hunter2}",
    "5",
    "null",
    "[".repeat(100_000),
    Buffer.from("hunter2 hunter2").toString("base64url"),
    '{"mcpServers": "hunter2"}',
    "%%%",
  ])("gives one problem that does not repeat it when it cannot be read (%#)", (text) => {
    const { servers, problems } = read(text);
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ file: "PI_ACP_MCP_SERVERS", line: 1, column: 1, severity: "error" }]);
    expect(JSON.stringify(problems)).not.toContain("hunter2");
  });

  it("loses only the entry that is wrong, whose number is the line", () => {
    const { servers, problems } = read(JSON.stringify([{ name: "ws", type: "websocket", url: "wss://h" }, A, 7]));
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(problems.map(({ file, line, server }) => [file, line, server])).toEqual([
      ["PI_ACP_MCP_SERVERS", 1, "ws"],
      ["PI_ACP_MCP_SERVERS", 3, undefined],
    ]);
  });

  it("leaves out what the editor has switched off, and takes an address without a type for HTTP", () => {
    const { servers, problems } = read(
      JSON.stringify({ off: { command: "x", enabled: false }, web: { url: "https://h/mcp", headers: { A: "b" } } }),
    );
    expect(problems).toEqual([]);
    expect(servers.map(({ name, target }) => [name, target])).toEqual([
      ["web", { kind: "http", url: "https://h/mcp", headers: { A: "b" } }],
    ]);
  });

  it("says of each field that it is the environment's", () => {
    const { servers } = read(JSON.stringify([A, { ...A, name: "b" }]), { PI_MCP_CALL_TIMEOUT: "5" });
    const place = { layer: "environment", file: "PI_ACP_MCP_SERVERS", line: 2, column: 1 };
    expect(servers[1]?.fields).toEqual({
      ...{ name: place, command: place, args: place, env: place },
      tool_timeout_sec: { layer: "environment", file: "PI_MCP_CALL_TIMEOUT", line: 1, column: 1 },
    });
  });
});

describe("the limits of an editor's servers", () => {
  const policy = (more: Record<string, string>) => {
    const { servers, problems } = read(JSON.stringify([A]), more);
    return { policy: servers[0]?.policy, problems };
  };

  test("are changed by variables, and by nothing else", () => {
    const changed = policy({ PI_MCP_START_TIMEOUT: "1", PI_MCP_CALL_TIMEOUT: " 0.5 ", PI_MCP_MAX_RESULT_KB: "2" });
    expect(changed.problems).toEqual([]);
    expect(changed.policy).toMatchObject({
      startTimeoutMs: 1000,
      callTimeoutMs: 500,
      resultLimit: { maxBytes: 2048, maxLines: 2000 },
    });
    expect(policy({}).policy).toMatchObject({ startTimeoutMs: 60_000, callTimeoutMs: 120_000 });
    expect(policy({ PI_MCP_CALL_TIMEOUT: "1e300" }).policy?.callTimeoutMs).toBeLessThan(2 ** 31);
  });

  test.each(["0", "-1", "ten", "NaN", "Infinity", "1s"])(
    "keep their defaults when a variable is %j, which is said once",
    (text) => {
      const { policy: kept, problems } = policy({ PI_MCP_START_TIMEOUT: text });
      expect(kept?.startTimeoutMs).toBe(60_000);
      expect(problems).toMatchObject([{ file: LIMIT_VARIABLES.start, line: 1, column: 1, severity: "warning" }]);
    },
  );
});
