import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAcpServers } from "../../src/config/acp.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import { type FakeStdio, fakeStdio } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import type { ServerScript } from "../ground/script.ts";
import { mcp, sessionOf } from "./open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

/** A session over one server an editor has handed over. */
function editorSession(home: Home, { command, args }: FakeStdio, name = "fake", env = {}): McpSession {
  return createSession(readAcpServers([{ name, command, args, env: [] }]), { env: home.env(env), cwd: home.cwd });
}

async function use(session: McpSession, server = "fake"): Promise<string> {
  const { text } = await mcp(session, { ...call, server });
  await session.close();
  return text;
}

const says = (text: string): ServerScript => ({ startup: { stderr: text } });
const logs = (home: Home) => join(home.home, ".pi", "logs", "mcp");

test("[S2-54] [S2-55] the stderr of an editor's server goes to a log below PI_HOME, or ~/.pi without that", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, says("hello\n"));
  await use(editorSession(home, server));
  const file = join(logs(home), "fake.log");
  expect(readFileSync(file, "utf8")).toBe("hello\n");
  expect([statSync(file).mode & 0o777, statSync(logs(home)).mode & 0o777]).toEqual([0o600, 0o700]);
  await use(editorSession(home, server, "fake", { PI_HOME: home.path("elsewhere") }));
  expect(readFileSync(home.path("elsewhere/logs/mcp/fake.log"), "utf8")).toBe("hello\n");
  expect(readFileSync(file, "utf8")).toBe("hello\n");
});

test("[S2-56] [S2-57] the next start goes on in the log, unless it is larger than 512 KB", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, says("hello\n"));
  for (const _ of [1, 2]) await use(editorSession(home, server));
  const file = join(logs(home), "fake.log");
  expect(readFileSync(file, "utf8")).toBe("hello\nhello\n");
  writeFileSync(file, "x".repeat(600 * 1024));
  await use(editorSession(home, server));
  expect(readFileSync(file, "utf8")).toBe("hello\n");
});

test("[S2-58] the log holds the bytes as they were written, secrets and all", async () => {
  await using home = await temporaryHome();
  const bytes = Buffer.concat([
    Buffer.from("token=ghp_0123456789abcdefghijABCDEFGHIJ012345\r\n\u001b[31mred\u001b[0m"),
    Buffer.from([0, 0xff, 0xfe, 0xc3]),
  ]);
  const server = await fakeStdio(home, { startup: { stderr: [{ base64: bytes.toString("base64") }] } });
  await use(editorSession(home, server));
  expect(readFileSync(join(logs(home), "fake.log")).equals(bytes)).toBe(true);
});

test("an error of an editor's server quotes nothing of its stderr and names the log instead", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { startup: { stderr: "FATAL: no key\n", exit: 1 } });
  const text = await use(editorSession(home, server, "my server"), "my server");
  expect(text).not.toContain("FATAL");
  const [log] = readdirSync(logs(home));
  expect(log).toMatch(/^my_server-[0-9a-f]{8}\.log$/);
  expect(text).toContain(`What it wrote before is in its log, ${log}`);
  expect(text).not.toContain(home.home);
  expect(readFileSync(join(logs(home), log ?? ""), "utf8")).toMatch(/^(FATAL: no key\n)+$/);
});

test("a server of a file has no log and its error quotes the tail, unless its entry says otherwise", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, { startup: { stderr: "FATAL: no key\n", exit: 1 } });
  home.write({ mcp: { mcpServers: { fake: server.entry("fake") } } });
  expect(await use(sessionOf(home))).toContain("FATAL: no key");
  expect(existsSync(logs(home))).toBe(false);
  home.write({ mcp: { mcpServers: { fake: server.entry("fake", { stderr: "file" }) } } });
  const text = await use(sessionOf(home));
  expect(text).not.toContain("FATAL");
  expect(text).toContain("fake.log");
  // It is asked for its revision first, and started again when it ends over that.
  expect(readFileSync(join(logs(home), "fake.log"), "utf8")).toMatch(/^(FATAL: no key\n)+$/);
});

test("`debug` shows stderr to a host with a place for it, line by line, and else writes the log and says where", async () => {
  await using home = await temporaryHome({ env: { KEY: "a-secret-of-mine" } });
  const server = await fakeStdio(home, says("starting \u001b[2Jwith a-secret-of-mine\nsecond\n"));
  home.write({ mcp: { mcpServers: { fake: server.entry("fake", { debug: true, env: { API_KEY: "${KEY}" } }) } } });
  const { loadConfig } = await import("../../src/config/load.ts");
  const config = loadConfig({ env: home.env(), home: home.home });
  const lines: string[][] = [];
  const stderr = (...line: [string, string]) => lines.push(line);
  await use(createSession(config, { env: home.env(), cwd: home.cwd, stderr }));
  expect(lines).toEqual([
    ["fake", "starting with [REDACTED]"],
    ["fake", "second"],
  ]);
  expect(existsSync(logs(home))).toBe(false);

  const session = sessionOf(home);
  await mcp(session, call);
  const file = join(logs(home), "fake.log");
  expect(session.status("fake").notices).toEqual([`what it writes to stderr is in ${file}`]);
  await session.close();
  expect(readFileSync(file, "utf8")).toContain("a-secret-of-mine");
});

test("a log that cannot be written costs the server nothing and is told once", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, says("hello\n"));
  mkdirSync(logs(home), { recursive: true });
  writeFileSync(home.path("precious"), "precious");
  symlinkSync(home.path("precious"), join(logs(home), "fake.log"));
  const session = editorSession(home, server);
  expect((await mcp(session, call)).isError).toBe(false);
  await session.reconnect("fake");
  expect(session.status("fake").notices).toEqual(["its log fake.log is not written: a link has its name"]);
  await session.close();
  expect(readFileSync(home.path("precious"), "utf8")).toBe("precious");
});

test("a server that floods stderr is served all the same, and its log stays small", async () => {
  await using home = await temporaryHome();
  const flood = { repeat: `${"f".repeat(1023)}\n`, times: 20_000 };
  const server = await fakeStdio(home, { startup: { stderr: [flood, "the end\n"] } });
  const session = editorSession(home, server);
  expect((await mcp(session, call)).isError).toBe(false);
  await session.close();
  const files = readdirSync(logs(home));
  expect(files.sort()).toEqual(["fake.log", "fake.log.1"]);
  const sizes = files.map((file) => statSync(join(logs(home), file)).size);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(readFileSync(join(logs(home), "fake.log"), "utf8").endsWith("the end\n")).toBe(true);
});

test("the last words of a server that is ended are in its log", async () => {
  await using home = await temporaryHome();
  const words = { repeat: "x".repeat(1_000), times: 60 };
  const server = await fakeStdio(home, { on: { "tools/call": { text: "ok", stderr: [words] } }, ...says("") });
  for (let n = 1; n <= 5; n++) {
    await use(editorSession(home, server));
    expect(statSync(join(logs(home), "fake.log")).size).toBe(n * 60_000);
  }
});

test("two sessions write to one log", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, says("hello\n"));
  const sessions = [1, 2, 3].map(() => editorSession(home, server));
  await Promise.all(sessions.map((session) => use(session)));
  expect(readFileSync(join(logs(home), "fake.log"), "utf8")).toBe("hello\n".repeat(3));
});

// The superuser may write everywhere.
test.skipIf(process.getuid?.() === 0)("a folder one may not write to is said", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home, says("hello\n"));
  mkdirSync(join(home.home, ".pi"), { recursive: true });
  chmodSync(join(home.home, ".pi"), 0o500);
  const session = editorSession(home, server);
  expect((await mcp(session, call)).isError).toBe(false);
  expect(session.status("fake").notices[0]).toContain("EACCES");
  await session.close();
  chmodSync(join(home.home, ".pi"), 0o700);
});
