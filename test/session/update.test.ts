import { expect, test } from "vitest";
import { FileMemory } from "../../src/config/file-memory.ts";
import { loadConfig } from "../../src/config/load.ts";
import { allowProject, revoke } from "../../src/config/trust-decisions.ts";
import type { ServerPort } from "../../src/server/port.ts";
import { createSession } from "../../src/session/create-session.ts";
import { fakeHttp, fakeStdio, type ServerScript } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";

/** A session over what lies in the home now, and a function that takes up what lies there later. */
function live(home: Home, port: ServerPort = {}) {
  const env = home.env();
  const place = { env, home: home.home, cwd: home.cwd };
  const memory = new FileMemory();
  const load = () => loadConfig(place, memory);
  const session = createSession(load(), { env, cwd: home.cwd }, port);
  return { session, load, update: () => session.update(load()), user: place };
}

/** A home with fake servers, and what to write into its settings to have them configured. */
async function ground<Name extends string>(scripts: Readonly<Record<Name, ServerScript>>) {
  const home = await temporaryHome();
  const servers = {} as Record<Name, Awaited<ReturnType<typeof fakeStdio>>>;
  for (const name of Object.keys(scripts) as Name[]) servers[name] = await fakeStdio(home, scripts[name]);
  const configure = (entries: Partial<Record<Name, object>>) =>
    home.write({
      settings: {
        mcpServers: Object.entries(entries).map(([name, more]) => servers[name as Name].entry(name, more as object)),
      },
    });
  const alive = (name: Name) => servers[name].starts().filter(isAlive);
  return { home, servers, configure, alive };
}

const text = (result: { content: readonly unknown[] }) => (result.content[0] as { text: string }).text;

test("a server whose entry means the same keeps its process, wherever the entry stands now", async () => {
  const { home, servers, configure } = await ground({ kept: {}, other: {} });
  await using _ = home;
  configure({ kept: {} });
  const { session, update } = live(home);
  await using __ = session;
  await session.callTool("kept", "echo", {});
  const before = session.status("kept");
  configure({ other: {}, kept: { disabled: false } });
  expect(await update()).toEqual({ added: ["other"], replaced: [], removed: [] });
  expect(session.servers.map(({ name }) => name)).toEqual(["kept", "other"]);
  expect(session.status("kept")).toEqual(before);
  expect(session.status("other").state).toBe("idle");
  await session.callTool("kept", "echo", {});
  await session.callTool("other", "echo", {});
  expect(servers.kept.starts()).toEqual([before.pid]);
  expect(servers.kept.params("initialize")).toHaveLength(1);
  // Errors name the place where it stands now, not where it stood.
  expect(session.config("kept").source.line).toBeGreaterThan(session.config("other").source.line);
});

test("[E290] three changed configurations one after the other leave one process", async () => {
  const { home, servers, configure, alive } = await ground({ s: {} });
  await using _ = home;
  configure({ s: {} });
  const { session, update } = live(home);
  await using __ = session;
  for (let i = 1; i <= 3; i++) {
    await session.callTool("s", "echo", {});
    configure({ s: { env: { ROUND: String(i) } } });
    expect(await update()).toEqual({ added: [], replaced: ["s"], removed: [] });
    expect(alive("s")).toEqual([]);
    expect(session.status("s").state).toBe("idle");
  }
  await session.callTool("s", "echo", {});
  expect(servers.s.starts()).toHaveLength(4);
  expect(alive("s")).toHaveLength(1);
  expect(servers.s.launches().map(({ env }) => env.ROUND)).toEqual([undefined, "1", "2", "3"]);
});

test("a call under way ends on the old connection, the next goes to the new one, and the old process ends with its call", async () => {
  const { home, servers, configure, alive } = await ground({
    s: {
      on: {
        "tools/call": [
          { ask: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }, text: "slow" },
          { usual: true },
        ],
      },
    },
  });
  await using _ = home;
  configure({ s: { sampling: true } });
  let finish = () => {};
  const answered = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { session, update } = live(home, { sample: () => answered.then(() => ({})) });
  await using __ = session;
  const slow = session.callTool("s", "echo", {});
  await servers.s.until("tools/call");
  const [first] = servers.s.starts();
  configure({ s: { sampling: true, env: { NEW: "1" } } });
  await update();
  // Nobody waited for the slow call.
  expect(alive("s")).toEqual([first]);
  expect(text(await session.callTool("s", "echo", { a: 1 }))).toBe('{"a":1}');
  expect(alive("s")).toHaveLength(2);
  finish();
  expect(text(await slow)).toBe("slow");
  await until("the old process to end", () => (isAlive(first ?? 0) ? undefined : true));
  expect(servers.s.params("tools/call")).toHaveLength(2);
  expect(alive("s")).toHaveLength(1);
});

test("a call that waits for a start goes to the new server and is made once", async () => {
  const { home, servers, configure, alive } = await ground({
    s: { on: { initialize: [{ silent: true }, { usual: true }] } },
  });
  await using _ = home;
  configure({ s: {} });
  const { session, update } = live(home);
  await using __ = session;
  const [called, listed, reconnected] = [
    session.callTool("s", "echo", { a: 1 }),
    session.listTools("s"),
    session.reconnect("s"),
  ];
  await servers.s.until("initialize");
  configure({ s: { env: { NEW: "1" } } });
  await update();
  expect(text(await called)).toBe('{"a":1}');
  expect(await listed).toHaveLength(1);
  expect(await reconnected).toMatchObject({ state: "ready" });
  expect(servers.s.params("tools/call")).toHaveLength(1);
  expect(alive("s")).toHaveLength(1);
});

test("a new server waits until the old one, which nobody uses, is gone, also one that takes its time", async () => {
  const { home, servers, configure } = await ground({
    s: { startup: [{ ignoreEof: true, ignoreSigterm: true }, {}] },
  });
  await using _ = home;
  configure({ s: {} });
  const { session, update } = live(home);
  await using __ = session;
  await session.callTool("s", "echo", {});
  const [first = 0] = servers.s.starts();
  configure({ s: { env: { NEW: "1" } } });
  const updated = update();
  const called = session.callTool("s", "echo", {});
  await until("the second start", () => (servers.s.starts().length === 2 ? true : undefined));
  expect(isAlive(first)).toBe(false);
  await Promise.all([updated, called]);
  // Neither does one that was removed and has come back.
  configure({});
  const removed = update();
  configure({ s: {} });
  const back = update();
  await Promise.all([removed, back, session.callTool("s", "echo", {})]);
  expect(servers.s.starts().filter(isAlive)).toHaveLength(1);
});

test("a server that is removed ends, and its calls under way say why; a call afterwards names what there is", async () => {
  const { home, servers, configure, alive } = await ground({
    gone: { on: { "tools/call": { silent: true } } },
    stays: {},
  });
  await using _ = home;
  configure({ gone: {}, stays: {} });
  const { session, update } = live(home);
  await using __ = session;
  const called = session.callTool("gone", "echo", {});
  called.catch(() => {});
  await servers.gone.until("tools/call");
  configure({ stays: {} });
  expect(await update()).toEqual({ added: [], replaced: [], removed: ["gone"] });
  expect(alive("gone")).toEqual([]);
  await expect(called).rejects.toMatchObject({
    category: "connection",
    message: "MCP server `gone`: it was removed from the configuration. The request may have run; it was not repeated",
  });
  await expect(session.callTool("gone", "echo", {})).rejects.toMatchObject({
    category: "unknown-server",
    message: "no MCP server configured with name `gone`; configured: stays",
  });
  expect(() => session.status("gone")).toThrow("no MCP server");
});

test("a server that was replaced and then removed ends with the calls that the old process still had", async () => {
  const { home, servers, configure, alive } = await ground({ s: { on: { "tools/call": { silent: true } } } });
  await using _ = home;
  configure({ s: {} });
  const { session, update } = live(home);
  await using __ = session;
  const calls = [session.callTool("s", "echo", {})];
  await servers.s.until("tools/call");
  configure({ s: { env: { NEW: "1" } } });
  await update();
  calls.push(session.callTool("s", "echo", {}));
  await servers.s.until("tools/call", 2);
  for (const call of calls) call.catch(() => {});
  expect(alive("s")).toHaveLength(2);
  configure({});
  await update();
  expect(alive("s")).toEqual([]);
  for (const call of calls) await expect(call).rejects.toThrow("it was removed from the configuration");
});

test("a consent that is taken back ends the servers of that file, also in the middle of a call", async () => {
  const { home, servers, alive } = await ground({
    own: {},
    only: { on: { "tools/call": { silent: true } } },
    both: { on: { "tools/call": { silent: true } } },
  });
  await using _ = home;
  const entry = (name: keyof typeof servers, as: string = name) => {
    const { name: __, ...rest } = servers[name].entry(as);
    return rest;
  };
  home.write({
    mcp: { mcpServers: { both: entry("own") } },
    files: { "project/.mcp.json": { mcpServers: { only: entry("only"), both: entry("both") } } },
  });
  const { session, load, update, user } = live(home);
  await using __ = session;
  for (const file of session.untrusted) allowProject(user, file);
  expect(await update()).toEqual({ added: ["only"], replaced: ["both"], removed: [] });
  expect(session.untrusted).toEqual([]);
  const calls = [session.callTool("only", "echo", {}), session.callTool("both", "echo", {})];
  for (const call of calls) call.catch(() => {});
  await Promise.all([servers.only.until("tools/call"), servers.both.until("tools/call")]);
  revoke(user);
  expect(await update()).toEqual({ added: [], replaced: ["both"], removed: ["only"] });
  expect([...alive("only"), ...alive("both")]).toEqual([]);
  await expect(calls[0]).rejects.toThrow("it was removed from the configuration");
  await expect(calls[1]).rejects.toThrow("the project's file it comes from is not allowed any more");
  expect(session.untrusted).toMatchObject([{ state: "waiting" }]);
  await expect(session.callTool("only", "echo", {})).rejects.toMatchObject({ category: "denied" });
  await session.callTool("both", "echo", {});
  expect(alive("own")).toHaveLength(1);
  expect(load().servers).toHaveLength(1);
});

test("a consent that is taken back ends a server of the person's own that the file had changed, and what it had before", async () => {
  const { home, servers, alive } = await ground({ s: { on: { "tools/call": { silent: true } } }, mine: {} });
  await using _ = home;
  const { name: __, ...entry } = servers.s.entry("s");
  home.write({
    mcp: { mcpServers: { s: entry } },
    files: { "project/.mcp.json": { mcpServers: { s: { env: { THEIRS: "1" } } } } },
  });
  const { session, update, user } = live(home);
  await using ___ = session;
  for (const file of session.untrusted) allowProject(user, file);
  await update();
  const called = session.callTool("s", "echo", {});
  called.catch(() => {});
  await servers.s.until("tools/call");
  revoke(user);
  await update();
  await expect(called).rejects.toThrow("the project's file it comes from is not allowed any more");
  expect(alive("s")).toEqual([]);

  // Also where another entry of the person's own has taken its place before.
  for (const file of session.untrusted) allowProject(user, file);
  await update();
  const before = session.callTool("s", "echo", {});
  before.catch(() => {});
  await servers.s.until("tools/call", 2);
  home.write({ settings: { mcpServers: [servers.mine.entry("s")] } });
  await update();
  expect(alive("s")).toHaveLength(1);
  revoke(user);
  await update();
  await expect(before).rejects.toThrow("the project's file it comes from is not allowed any more");
  expect(alive("s")).toEqual([]);
  await session.callTool("s", "echo", {});
  expect(alive("mine")).toHaveLength(1);
});

test("a call that may have run is not sent to a server in place of its own", async () => {
  await using home = await temporaryHome();
  // The rule allows one more try on this server, which is not due before the configuration has changed.
  const lost = { status: 502, body: "", headers: { "retry-after": "8" } };
  const server = await fakeHttp({ on: { "tools/call": [lost, { usual: true }] } });
  await using ___ = { [Symbol.asyncDispose]: () => server.close() };
  const configure = (replay: string) => home.write({ settings: { mcpServers: [server.entry("s", { replay })] } });
  configure("transport");
  const { session, update } = live(home);
  await using _ = session;
  const called = session.callTool("s", "echo", {});
  called.catch(() => {});
  await until("its end", () => session.status("s").state === "stopped" || undefined);
  configure("never");
  await update();
  await expect(called).rejects.toMatchObject({
    category: "connection",
    message: expect.stringContaining("The request may have run; it was not repeated"),
  });
  expect(server.params("tools/call")).toHaveLength(1);
});

test("of updates at once the last one stays; problems and untrusted files follow", async () => {
  const { home, configure, alive } = await ground({ s: {}, t: {} });
  await using _ = home;
  configure({ s: {} });
  const { session, load } = live(home);
  await using __ = session;
  await session.callTool("s", "echo", {});
  configure({ s: { env: { A: "1" } } });
  const a = load();
  configure({ t: {} });
  home.write({ mcp: "{", files: { "project/.mcp.json": { mcpServers: { x: { command: "x" } } } } });
  const b = load();
  const changes = await Promise.all([session.update(a), session.update(b), session.update(b)]);
  expect(changes).toEqual([
    { added: [], replaced: ["s"], removed: [] },
    { added: ["t"], replaced: [], removed: ["s"] },
    { added: [], replaced: [], removed: [] },
  ]);
  expect(session.servers).toBe(b.servers);
  expect(session.problems).toHaveLength(1);
  expect(session.untrusted).toHaveLength(1);
  expect(alive("s")).toEqual([]);
});

test("closing in the middle of an update leaves nothing, and a closed session takes up nothing", async () => {
  const { home, servers, configure, alive } = await ground({
    s: { startup: { ignoreEof: true }, on: { "tools/call": { silent: true } } },
    t: {},
  });
  await using _ = home;
  configure({ s: {}, t: {} });
  const { session, update } = live(home);
  const calls = [session.callTool("s", "echo", {}), session.callTool("t", "echo", {})];
  for (const call of calls) call.catch(() => {});
  await Promise.all([servers.s.until("tools/call"), calls[1]]);
  configure({ s: { env: { A: "1" } }, t: { env: { A: "1" } } });
  const updated = update();
  calls.push(session.callTool("s", "echo", {}));
  calls.at(-1)?.catch(() => {});
  await session.close();
  expect([...alive("s"), ...alive("t")]).toEqual([]);
  await updated;
  await expect(calls[0]).rejects.toThrow("the session is closed");
  await expect(calls[2]).rejects.toThrow("the session is closed");
  configure({ s: { env: { A: "2" } } });
  expect(await update()).toEqual({ added: [], replaced: [], removed: [] });
  await expect(session.callTool("s", "echo", {})).rejects.toThrow("the session is closed");
  expect([...alive("s"), ...alive("t")]).toEqual([]);
});

test("calls in a storm of updates all end with their own answer, none runs twice and no process piles up", async () => {
  const { home, servers, configure, alive } = await ground({
    s: { on: { "tools/call": { delayMs: 20, echo: true } } },
  });
  await using _ = home;
  configure({ s: {} });
  const { session, update } = live(home);
  await using __ = session;
  const rounds = 12;
  const calls: Promise<string>[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < 4; i++) calls.push(session.callTool("s", "echo", { n: `${round}.${i}` }).then(text));
    if (round % 3 === 1) await calls[calls.length - 2];
    configure({ s: { env: { ROUND: String(round) } } });
    if (round % 2 === 0) await update();
    else void update();
  }
  const answers = await Promise.all(calls);
  expect(answers).toEqual(calls.map((_, at) => JSON.stringify({ n: `${Math.floor(at / 4)}.${at % 4}` })));
  expect(servers.s.params("tools/call")).toHaveLength(calls.length);
  await until("all but one to end", () => (alive("s").length <= 1 ? true : undefined));
}, 60_000);

test("servers that start with the session start with an update, too, once the old one is gone", async () => {
  const { home, servers, configure, alive } = await ground({ added: {}, changed: {} });
  await using _ = home;
  const eager = { lifecycle: "eager" };
  configure({ changed: eager });
  const { session, update } = live(home);
  await using __ = session;
  await servers.changed.until("tools/list");
  configure({ added: eager, changed: { ...eager, env: { NEW: "1" } } });
  await update();
  await Promise.all([servers.added.until("tools/list"), servers.changed.until("tools/list", 2)]);
  expect([alive("added").length, alive("changed").length]).toEqual([1, 1]);
  configure({});
  await update();
  expect([...alive("added"), ...alive("changed")]).toEqual([]);
});
