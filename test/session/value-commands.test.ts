import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { allowProject } from "../../src/config/trust-decisions.ts";
import { createSession } from "../../src/session/create-session.ts";
import { reportServers } from "../../src/session/report.ts";
import { fakeHttp, fakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "./open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

/** A command that takes a note of each run. */
function noting(home: Home): { command: string; runs(): string[] } {
  const file = home.path("runs");
  return {
    command: `!echo "$PWD $WHO" >> ${file}; printf '%s\\n\\n' "$OUTPUT"`,
    runs: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []),
  };
}

test("a value that is a command is run when the server starts and not before, once for all that name it", async () => {
  await using home = await temporaryHome({ env: { WHO: "me", OUTPUT: "s3cr3t-0utput" } });
  const server = await fakeStdio(home, { on: { "tools/call": { env: "TOKEN" } } });
  const { command, runs } = noting(home);
  const env = { TOKEN: command, SAME: command, PLAIN: "!printf '%s-%s' plain 0utput", NOT: "!!echo" };
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, env } } } });
  await using session = sessionOf(home);
  session.status("fake");
  const shown = [await reportServers(session), (await mcp(session, { action: "list_servers" })).text];
  expect(runs()).toEqual([]);
  const [first, second] = await Promise.all([mcp(session, call), mcp(session, call)]);
  expect(server.launches()).toMatchObject([
    { env: { TOKEN: "s3cr3t-0utput", SAME: "s3cr3t-0utput", PLAIN: "plain-0utput", NOT: "!echo" } },
  ]);
  expect(runs()).toEqual([`${home.cwd} me`]);
  shown.push(first.text, second.text, await reportServers(session), JSON.stringify(session.servers));
  expect(first.text).toContain("[REDACTED]");
  for (const text of shown) expect(text).not.toMatch(/s3cr3t-0utput|plain-0utput/);
  await session.reconnect("fake");
  expect(runs()).toHaveLength(2);
});

test("a header and a bearer token can be what a command writes", async () => {
  await using home = await temporaryHome();
  const server = await fakeHttp({ on: { "tools/call": { text: "you sent t0ken and key-1" } } });
  const entry = { url: server.url, bearerToken: "!echo t0ken", headers: { "X-Key": "!echo key-1" } };
  home.write({ mcp: { mcpServers: { fake: entry } } });
  await using session = sessionOf(home);
  const { text } = await mcp(session, call);
  expect(server.received()[0]?.headers).toMatchObject({ authorization: "Bearer t0ken", "x-key": "key-1" });
  expect(text).toContain("you sent [REDACTED] and [REDACTED]");
  await server.close();
});

test("commands of one server run side by side", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  // Each waits for the other.
  const wait = (mine: string, other: string) =>
    `!touch ${home.path(mine)}; until test -e ${home.path(other)}; do sleep 0.05; done; echo ok`;
  const env = { A: wait("a", "b"), B: wait("b", "a") };
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, env } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(false);
});

test("a server may have many commands; one that fails ends them all", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const names = Array.from({ length: 30 }, (_, n) => `V${n}`);
  const env = Object.fromEntries(names.map((name) => [name, `!echo ${name} value`]));
  const bad = { ...env, BAD: "!exit 1" };
  const entry = { command: server.command, args: server.args };
  home.write({ mcp: { mcpServers: { fake: { ...entry, env }, bad: { ...entry, env: bad } } } });
  const warnings: Error[] = [];
  const warned = (warning: Error) => void warnings.push(warning);
  process.on("warning", warned);
  await using session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(false);
  const launched = server.launches()[0]?.env;
  expect(names.map((name) => launched?.[name])).toEqual(names.map((name) => `${name} value`));
  expect((await mcp(session, { ...call, server: "bad" })).text).toContain('for the variable "BAD" ended with code 1');
  process.off("warning", warned);
  expect(warnings).toEqual([]);
  expect(server.starts()).toHaveLength(1);
});

test("a command that fails is one error with the name and the place, and the server is not started", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const web = await fakeHttp();
  const env = {
    OTHER: `!touch ${home.path("pid")}; sleep 60`,
    VAULT_TOKEN: "!echo s3cr3t-0utput; echo locked: s3cr3t-0utput >&2; exit 2",
  };
  const headers = { "X-Key": "!printf 'a\\nb'" };
  home.write({
    mcp: {
      mcpServers: {
        fake: { command: server.command, args: server.args, env },
        web: { url: web.url, headers },
        empty: { url: web.url, bearerToken: "!true" },
      },
    },
  });
  await using session = sessionOf(home);
  const { text, details } = await mcp(session, call);
  expect(text).toMatch(
    /^MCP server `fake` failed to initialize: the command \("!…"\) for the variable "VAULT_TOKEN" ended with code 2, saying: locked: \[REDACTED\]\. Check it in .*mcp\.json:10$/,
  );
  expect(details).toMatchObject({ category: "other" });
  expect(session.status("fake").state).toBe("failed");
  expect((await mcp(session, { ...call, server: "web" })).text).toContain(
    'the command ("!…") for the header "X-Key" wrote more than one line, or another character that headers cannot carry.',
  );
  expect((await mcp(session, { ...call, server: "empty" })).text).toContain(
    'for the header "Authorization" wrote nothing.',
  );
  expect(server.starts()).toEqual([]);
  expect(web.received()).toEqual([]);
  await web.close();
});

test("a command ends with the session, and its server is not started", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const mark = home.path("mark");
  const env = { TOKEN: `!trap '' TERM; touch ${mark}; sleep 60; echo x` };
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, env } } } });
  const session = sessionOf(home);
  const answer = mcp(session, call);
  await until("the command", () => (existsSync(mark) ? true : undefined));
  await session.close();
  expect(home.survivors()).toEqual([]);
  expect((await answer).text).toContain("the session is closed");
  expect(server.starts()).toEqual([]);
});

test("a caller that goes away leaves the command to those who wait", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const [mark, go] = [home.path("mark"), home.path("go")];
  const env = { TOKEN: `!touch ${mark}; until test -e ${go}; do sleep 0.05; done; echo x` };
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, env } } } });
  await using session = sessionOf(home);
  const abort = new AbortController();
  const leaving = session.listTools("fake", { signal: abort.signal });
  const staying = session.listTools("fake");
  await until("the command", () => (existsSync(mark) ? true : undefined));
  abort.abort();
  await expect(leaving).rejects.toMatchObject({ category: "cancelled" });
  writeFileSync(go, "");
  expect(await staying).toHaveLength(1);
  expect(server.starts()).toHaveLength(1);
});

test("[E205] the command of a server is no shell's: what a shell would obey are letters of a name or an argument", async () => {
  await using home = await temporaryHome({ env: { SECRET: "s3cr3t-value" } });
  const server = await fakeStdio(home);
  const evil = [";", "|", "&&", "$(touch X)", "`touch X`", ">X", "*", "a b"];
  home.write({
    settings: {
      mcpServers: [
        server.entry("fake", { args: [...server.args, ...evil] }),
        { name: "one", command: "echo $SECRET" },
        { name: "two", command: `${server.command} > X` },
      ],
    },
  });
  await using session = sessionOf(home);
  await mcp(session, call);
  expect(server.launches()[0]?.args).toEqual(evil);
  for (const name of ["one", "two"]) {
    const { text } = await mcp(session, { ...call, server: name });
    expect(text).toContain("its command (or working directory) was not found");
    expect(text).not.toContain("s3cr3t");
  }
  expect(existsSync(`${home.cwd}/X`)).toBe(false);
});

test("an exclamation mark in settings.json is one", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  home.write({ settings: { mcpServers: [server.entry("fake", { env: { A: "!echo x", B: "!!y" } })] } });
  await using session = sessionOf(home);
  await mcp(session, call);
  expect(server.launches()[0]?.env).toMatchObject({ A: "!echo x", B: "!!y" });
});

test("E206: a project's command is run once its file is allowed, and only when the server starts", async () => {
  await using home = await temporaryHome({ env: { OUTPUT: "token" } });
  const server = await fakeStdio(home);
  const { command, runs } = noting(home);
  const entry = { command: server.command, args: server.args, env: { TOKEN: command } };
  home.write({ files: { "project/.mcp.json": { mcpServers: { fake: entry } } } });
  const place = { env: home.env(), home: home.home, cwd: home.cwd };
  const before = loadConfig(place);
  const [file] = before.untrusted ?? [];
  await using closed = createSession(before, place);
  expect((await mcp(closed, call)).details).toMatchObject({ category: "denied" });
  if (file !== undefined) allowProject(place, file);
  const after = loadConfig(place);
  await using session = createSession(after, place);
  expect(runs()).toEqual([]);
  expect((await mcp(session, call)).isError).toBe(false);
  expect(runs()).toHaveLength(1);
});
