import { expect, test } from "vitest";
import { readAcpServers } from "./acp.ts";

test("reads the three kinds of servers an editor hands over, as it writes them", () => {
  const { servers, problems } = readAcpServers([
    { name: "a", command: "/bin/a", args: ["-x"], env: [{ name: "K", value: "${HOME}" }] },
    { type: "http", name: "b", url: "https://h/mcp", headers: [{ name: "Authorization", value: "Bearer t" }] },
    { type: "sse", name: "c", url: "https://h/sse", headers: [] },
  ]);
  expect(problems).toEqual([]);
  expect(servers.map(({ target }) => target)).toEqual([
    { kind: "stdio", command: "/bin/a", args: ["-x"], env: { K: "${HOME}" } },
    { kind: "http", url: "https://h/mcp", headers: { Authorization: "Bearer t" } },
    { kind: "sse", url: "https://h/sse", headers: {} },
  ]);
  expect(servers.map(({ exposure, policy }) => [exposure, policy.startTimeoutMs, policy.callTimeoutMs])).toEqual(
    Array(3).fill(["direct", 60_000, 120_000]),
  );
});

test("[E245] takes env and headers as objects too", () => {
  const { servers } = readAcpServers([
    { name: "a", command: "/bin/a", args: [], env: { K: "v" } },
    { type: "http", name: "b", url: "https://h/mcp", headers: { "X-A": "1" } },
  ]);
  expect(servers.map(({ target }) => ("env" in target ? target.env : "headers" in target && target.headers))).toEqual([
    { K: "v" },
    { "X-A": "1" },
  ]);
});

test("[S2-63] a kind that is not supported is refused by name, and costs only itself", () => {
  const { servers, problems } = readAcpServers([
    { type: "websocket", name: "ws", url: "wss://h/" },
    { name: "good", command: "/bin/a", args: [], env: [] },
  ]);
  expect(servers.map(({ name }) => name)).toEqual(["good"]);
  expect(problems.map(({ severity, server, message }) => [severity, server, message])).toEqual([
    ["error", "ws", 'Server "ws": the transport "websocket" is not known; use "stdio", "http" or "sse".'],
  ]);
});

test("names that repeat or are missing stay apart", () => {
  const entry = { command: "/bin/a", args: [], env: [] };
  const list = [{ ...entry, name: "x" }, { ...entry, name: "x" }, { ...entry, name: "x_2" }, entry];
  expect(readAcpServers(list).servers.map(({ name }) => name)).toEqual(["x", "x_2", "x_2_2", "unnamed"]);
});

test.each([
  [5, "must be a list of servers"],
  [[null], 'it has no "command"'],
  [[{ name: "a", command: "x", args: "y" }], '"args" must be an array of strings'],
  [[{ name: "a", command: "x", args: [], env: [{ name: 1 }] }], '"env" must be a list of names and values'],
  [[{ type: "http", name: "a", url: "nowhere" }], '"url" must be a complete address'],
  [[{ type: "http", name: "a", url: "https://h", headers: 7 }], '"headers" must be a list of names and values'],
])("a bad list %j never throws and says what is wrong", (list, message) => {
  const { servers, problems } = readAcpServers(list);
  expect(servers).toEqual([]);
  expect(problems[0]?.message).toContain(message);
});
