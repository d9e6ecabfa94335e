import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { type Home, temporaryHome } from "../../test/ground/home.ts";
import { FileMemory } from "./file-memory.ts";
import { forgetPermissions, keepPermission } from "./keep-permission.ts";
import { loadConfig } from "./load.ts";
import { permissionPath } from "./paths.ts";
import type { PermissionRule } from "./record.ts";
import { allowProject } from "./trust-decisions.ts";

const place = (home: Home, env = {}) => ({ env: home.env(env), home: home.home, cwd: home.cwd });
const own = (home: Home, permission: unknown) => home.write({ files: { "agent/mcp.json": { permission } } });

function read(home: Home, env = {}) {
  const { permission, problems } = loadConfig(place(home, env));
  return { ...permission, problems };
}

const patterns = (rules: readonly PermissionRule[] = []) =>
  rules.map(({ effect, patterns }) => [
    effect,
    ...patterns.map(({ server, kind, name }) => `${server} ${kind} ${name}`),
  ]);

test("nothing is said where nothing is written", async () => {
  await using home = await temporaryHome();
  home.write({ files: { "agent/mcp.json": { mcpServers: {} } } });
  expect(read(home)).toEqual({ problems: [] });
});

test("mode and rules are read with their places, comments and all", async () => {
  await using home = await temporaryHome();
  const text =
    '{\n  // careful\n  "permission": {\n    "mode": "ask",\n    "allow": ["docs", "github.get_*",],\n  }\n}';
  home.write({ files: { "agent/mcp.json": text } });
  const { mode, modeSource, rules, problems } = read(home);
  expect([mode, modeSource?.line, problems]).toEqual(["ask", 4, []]);
  expect(rules?.map(({ written, source }) => [written, source.line])).toEqual([
    ['"docs"', 5],
    ['"github.get_*"', 5],
  ]);
});

test("one word is a mode, and the variable wins over the files", async () => {
  await using home = await temporaryHome();
  own(home, "ask");
  expect(read(home).mode).toBe("ask");
  expect(read(home, { PI_MCP_PERMISSION_MODE: "plan" })).toMatchObject({ mode: "plan", problems: [] });
  expect(read(home, { PI_MCP_PERMISSION_MODE: "yolo" }).mode).toBe("yolo");
});

test("the more special of the person's files says the mode, and the rules of both count", async () => {
  await using home = await temporaryHome();
  home.write({
    files: {
      "~/.config/mcp/mcp.json": { permission: { mode: "plan", deny: ["a"] } },
      "agent/mcp.json": { permission: { mode: "ask", deny: ["b"] } },
    },
  });
  const { mode, rules } = read(home);
  expect([mode, rules?.length]).toEqual(["ask", 2]);
});

test("what forbids counts for every way to take its text apart, what allows for the first alone", async () => {
  await using home = await temporaryHome();
  own(home, {
    deny: ["my.server.rm", "x"],
    allow: [
      "my.server.rm",
      { server: "my.server", tool: "rm" },
      "a.resource:file:*",
      { server: "b", prompt: "p" },
      "c.*",
    ],
  });
  const { rules, problems } = read(home);
  expect(problems).toEqual([]);
  expect(patterns(rules)).toEqual([
    ["deny", "my tool server.rm", "my.server tool rm", "my.server.rm any *"],
    ["deny", "x any *"],
    ["allow", "my tool server.rm"],
    ["allow", "my.server tool rm"],
    ["allow", "a resource file:*"],
    ["allow", "b prompt p"],
    ["allow", "c any *"],
  ]);
});

test.each<[string, unknown, string]>([
  ["a mode nobody knows", { mode: "aks" }, '"mode" must be one of "yolo", "write", "ask", "plan".'],
  ["a word nobody knows", "never", '"permission" must be one of'],
  ["a number", 5, '"permission" must be an object'],
  ["a slip", { alow: ["x"] }, '"alow" is not known in "permission"; is "allow" meant?'],
  ["a text for a list", { deny: "x" }, '"deny" must be an array of rules.'],
  ["a rule of two things", { deny: [{ server: "a", tool: "b", prompt: "c" }] }, "A rule is"],
  ["a rule that is empty", { deny: [" "] }, "A rule is"],
  ["a rule that is endless", { deny: [".".repeat(500)] }, "A rule is"],
  ["a rule about what is nothing", { allow: [{ server: "a", any: "*" }] }, "A rule is"],
  ["rules without end", { deny: Array.from({ length: 600 }, () => "x") }, 'Of "deny" no more than 500'],
])("%s makes everything asked about, and says so", async (_, permission, message) => {
  await using home = await temporaryHome();
  own(home, permission);
  const { mode, problems } = read(home);
  expect([mode, problems.length]).toEqual(["ask", 1]);
  expect(problems[0]?.message).toContain(message);
  expect(problems[0]?.message).toContain("Until it is mended, each use of a server is asked about.");
});

test("a wrong variable likewise; a stricter mode stays", async () => {
  await using home = await temporaryHome();
  own(home, { mode: "plan", alow: [] });
  expect(read(home).mode).toBe("plan");
  own(home, "write");
  expect(read(home, { PI_MCP_PERMISSION_MODE: "Ask" })).toMatchObject({
    mode: "ask",
    problems: [{ severity: "error" }],
  });
});

test("a file that is broken and may hold something about it makes everything asked about, any other does not", async () => {
  await using home = await temporaryHome();
  home.write({ files: { "agent/mcp.json": '{ "permission": { "deny": ["x" }' } });
  expect(read(home)).toMatchObject({ mode: "ask", problems: [{ severity: "error" }] });
  home.write({ files: { "agent/mcp.json": '{ "mcpServers": ' } });
  expect(read(home).mode).toBeUndefined();
});

test("a file that breaks while it is used means what it meant", async () => {
  await using home = await temporaryHome();
  own(home, { deny: ["x"] });
  const memory = new FileMemory();
  loadConfig(place(home), memory);
  home.write({ files: { "agent/mcp.json": '{ "permission": {' } });
  const { permission } = loadConfig(place(home), memory);
  expect([permission?.mode, permission?.rules.length]).toEqual(["yolo", 1]);
});

test("a project makes it stricter and never looser, whether or not anybody has allowed it", async () => {
  await using home = await temporaryHome();
  own(home, { mode: "ask", deny: ["a"] });
  home.write({ files: { "project/.pi/mcp.json": { permission: { mode: "yolo", allow: ["*"], deny: ["b"] } } } });
  const first = read(home);
  expect([first.mode, patterns(first.rules)]).toEqual([
    "ask",
    [
      ["deny", "a any *"],
      ["deny", "b any *"],
    ],
  ]);
  expect(first.problems).toMatchObject([
    { severity: "warning", message: expect.stringContaining('"allow" counts in your own') },
  ]);
  home.write({ files: { "project/.mcp.json": { permission: "plan" } } });
  expect(read(home)).toMatchObject({ mode: "plan", modeSource: { layer: "project" } });
});

test("a project's file a person has said no to counts for nothing", async () => {
  await using home = await temporaryHome();
  home.write({ files: { "project/.mcp.json": { mcpServers: { a: { command: "x" } }, permission: "plan" } } });
  const { untrusted = [], permission } = loadConfig(place(home));
  expect(permission?.mode).toBe("plan");
  for (const file of untrusted) allowProject(place(home), file, "deny");
  expect(loadConfig(place(home)).permission).toBeUndefined();
});

test("a stranger's mistakes do not fill the screen, and its rules do not hold up the start", async () => {
  await using home = await temporaryHome();
  const deny = Array.from({ length: 5_000 }, () => "a.b".repeat(10));
  home.write({
    files: {
      "project/.mcp.json": { permission: { deny, ...Object.fromEntries(deny.map((x, n) => [`${x}${n}`, 1])) } },
    },
  });
  const { problems, mode, rules } = read(home);
  expect([problems.length, mode, rules?.length]).toEqual([3, "ask", 500]);
});

test("a rule of many dots is taken apart in few ways", async () => {
  await using home = await temporaryHome();
  own(home, { deny: [`a.resource:${"b.".repeat(100)}`] });
  const [all = []] = patterns(read(home).rules);
  expect([all.length, all[1]]).toEqual([10, `a resource ${"b.".repeat(100)}`]);
});

test("without any file of servers the person's word about permission counts all the same", async () => {
  await using home = await temporaryHome();
  own(home, { mode: "ask" });
  home.write({ files: { "project/.mcp.json": { permission: "plan" } } });
  const flags = { sources: ['{"mcpServers":{"a":{"command":"x"}}}'], isStrict: true };
  const { permission, servers } = loadConfig({ ...place(home), flags });
  expect([permission?.mode, servers.length]).toEqual(["ask", 1]);
});

test("what is named on the command line wins over the person's files and the variable, and adds its rules", async () => {
  await using home = await temporaryHome();
  own(home, { mode: "ask", deny: ["a"] });
  const flags = { sources: ['{"mcpServers":{},"permission":{"mode":"plan","deny":["b"]}}'] };
  const { permission } = loadConfig({ ...place(home, { PI_MCP_PERMISSION_MODE: "yolo" }), flags });
  expect(permission).toMatchObject({ mode: "plan", modeSource: { layer: "flag", file: "--mcp-config" } });
  expect(permission?.rules.length).toBe(2);
});

const KEPT = { server: "a", identity: "1", kind: "tool", name: "t" } as const;

test("what is allowed for good is kept for its owner alone, once, and noticed by others", async () => {
  await using home = await temporaryHome();
  own(home, "ask");
  const memory = new FileMemory();
  expect(loadConfig(place(home), memory).permission?.kept).toEqual([]);
  keepPermission(place(home), KEPT);
  keepPermission(place(home), KEPT);
  expect(memory.isStale()).toBe(true);
  expect(loadConfig(place(home), memory).permission?.kept).toEqual([KEPT]);
  if (process.platform !== "win32") {
    expect(statSync(permissionPath(place(home))).mode & 0o777).toBe(0o600);
  }
  expect(forgetPermissions(place(home), "b")).toEqual([]);
  expect(forgetPermissions(place(home), "a")).toEqual([KEPT]);
  expect(loadConfig(place(home)).permission?.kept).toEqual([]);
});

test.each(["{", '{"version":2,"allowed":[]}', '{"version":1,"allowed":[{"server":"a"}]}', '{"version":1}'])(
  "a record that is %s allows nothing, is reported and left alone",
  async (text) => {
    await using home = await temporaryHome();
    own(home, "ask");
    const file = permissionPath(place(home));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    const { kept, problems } = read(home);
    expect([kept, problems.length]).toEqual([[], 1]);
    expect(() => keepPermission(place(home), KEPT)).toThrow("cannot be used");
    expect(readFileSync(file, "utf8")).toBe(text);
  },
);
