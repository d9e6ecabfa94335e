import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeHttp, fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { runCli as cli, NODES, startCli } from "../ground/run-cli.ts";
import { setTraps, trapFiles } from "../ground/trap.ts";
import { REAL } from "./real-servers.ts";

const [{ node } = { node: "" }] = NODES;

interface Report {
  servers: {
    server: string;
    state: string;
    category?: string;
    checks: { id: string; status: string; text: string; details?: string[]; hint?: string }[];
  }[];
  problems: { message: string }[];
}

/** What `doctor --json` says, and by server and check what became of it. */
function read(stdout: string) {
  const report = JSON.parse(stdout) as Report;
  const of = (name: string) => report.servers.find(({ server }) => server === name);
  return {
    report,
    names: report.servers.map(({ server }) => server),
    of,
    check: (name: string, id: string) => of(name)?.checks.find((each) => each.id === id),
    statuses: (name: string) => Object.fromEntries((of(name)?.checks ?? []).map(({ id, status }) => [id, status])),
  };
}

const WORKS = {
  configuration: "ok",
  variables: "ok",
  program: "ok",
  environment: "ok",
  connection: "ok",
  protocol: "ok",
  tools: "ok",
};

describe.each(NODES)("pi-mcp doctor on $name", ({ node: each }) => {
  test("tries every server and says what works, how fast, and what it offers", async () => {
    await using home = await temporaryHome();
    const web = await fakeHttp({ capabilities: { tools: {} } });
    home.write({
      settings: { mcpServers: [REAL.everything("everything", "stdio"), { name: "web", url: web.url }] },
    });
    const human = await cli(each, home, "doctor");
    expect(human).toMatchObject({ code: 0, stderr: "" });
    const settings = join(home.agentDir, "settings.json");
    expect(human.stdout).toMatch(
      /^everything: works\n {2}ok {7}configuration {2}stdio: .*everything.* \(.*:3:5, your file\)\n/,
    );
    expect(human.stdout).toContain(`${settings}:11:5, your file)`);
    expect(human.stdout).toMatch(/\n {2}ok {7}connection {5}connected in \d+(\.\d)? m?s\n/);
    expect(human.stdout).toMatch(
      /\n {2}ok {7}protocol {7}2024-11-05, with a handshake; mcp-servers\/everything 2\.0\.0; it offers /,
    );
    expect(human.stdout).toMatch(/\n {2}ok {7}resources {6}7 and 2 templates, listed in /);
    expect(human.stdout).toMatch(/\n2 of 2 servers work\.\n$/);
    const json = await cli(each, home, "doctor", "--json");
    expect([json.code, json.stderr]).toEqual([0, ""]);
    const { statuses, names } = read(json.stdout);
    expect(names).toEqual(["everything", "web"]);
    expect(statuses("everything")).toEqual({ ...WORKS, resources: "ok", prompts: "ok" });
    expect(statuses("web")).toMatchObject({
      address: "ok",
      connection: "ok",
      resources: "skipped",
      prompts: "skipped",
    });
    await web.close();
  });
});

test("a server that does not start is told with the step, the reason and what to do; the exit code says which", async () => {
  await using home = await temporaryHome();
  const dying = await fakeStdio(home, { startup: { stderr: "FATAL: missing API_KEY\n", exit: 1 } });
  const closed = await fakeHttp({ on: { "*": { status: 401 } } });
  const script = home.path("script");
  writeFileSync(script, "#!/no/such/python\n");
  chmodSync(script, 0o755);
  home.write({
    settings: {
      mcpServers: [
        dying.entry("dying", { env: { A: "$NOT_SET" } }),
        { name: "gone", command: "no-such-command" },
        { name: "script", command: script },
        { name: "folder", command: "node", cwd: "/no/such" },
        { name: "web", url: closed.url },
      ],
    },
    mcp: { mcpServers: { cmd: { command: "node", env: { KEY: "!exit 3" } } } },
  });
  const all = await cli(node, home, "doctor", "--json");
  expect(all.code).toBe(10);
  const { statuses, check, of } = read(all.stdout);
  const place = (name: string) => new RegExp(`in ${join(home.agentDir, name)}:\\d+`);
  expect(statuses("dying")).toEqual({
    ...{ configuration: "ok", variables: "warning", program: "ok", environment: "ok", connection: "failed" },
  });
  expect(check("dying", "variables")?.text).toMatch(/^not set: NOT_SET \(/);
  expect(check("dying", "connection")).toMatchObject({
    text: expect.stringMatching(/failed to initialize: its process exited with code 1/),
    details: ["--- server stderr ---", "FATAL: missing API_KEY"],
    hint: expect.stringMatching(/^run it in a terminal and see what it says: /),
  });
  expect(check("gone", "program")).toMatchObject({
    status: "failed",
    text: "`no-such-command` was not found",
    details: expect.arrayContaining(["not there: /usr/bin/no-such-command", "not there: /bin/no-such-command"]),
    hint: expect.stringMatching(place("settings.json")),
  });
  expect(statuses("gone").connection).toBe("skipped");
  expect(check("script", "program")?.text).toBe(`${script} needs /no/such/python, which is not there`);
  expect(check("folder", "program")?.text).toBe("the working directory /no/such is not there");
  expect(check("cmd", "variables")).toMatchObject({
    status: "ok",
    text: "none is missing; run at the start for their values: KEY",
  });
  expect(check("cmd", "connection")).toMatchObject({ status: "failed", text: expect.stringMatching(/KEY/) });
  expect(of("web")?.category).toBe("needs-auth");
  for (const [name, code] of [
    ["dying", 4],
    ["gone", 4],
    ["web", 5],
    ["cmd", 10],
  ] as const) {
    const { stdout, ...ended } = await cli(node, home, "doctor", name);
    expect([name, ended.code, ended.stderr]).toEqual([name, code, ""]);
    expect(stdout).toMatch(new RegExp(`^${name}: does not work\n`));
    expect(stdout).toMatch(/\n0 of 1 servers work\.\n$/);
  }
  expect(dying.starts().filter(isAlive)).toEqual([]);
  await closed.close();
});

test("secrets are named where they would be inherited, and shown nowhere", async () => {
  await using home = await temporaryHome({
    env: { CLOUD_SECRET_KEY: "sesame-cloud", DATABASE_URL: "postgres://u:sesame-db@h/x", MY_TOKEN: "sesame-mine" },
  });
  const server = await fakeStdio(home, {
    serverInfo: { name: "says sesame-mine", version: "sesame-own" },
    capabilities: { tools: {}, prompts: {} },
    on: { "prompts/list": { error: { code: -32603, message: "no prompts for sesame-own" } } },
  });
  const dying = await fakeStdio(home, { startup: { stderr: "bad sesame-own and sesame-mine\n", exit: 1 } });
  const more = { env: { API_KEY: "sesame-own", T: "$MY_TOKEN" } };
  const [{ args, ...entry }, bad] = [server.entry("fake", more), dying.entry("bad", more)];
  home.write({
    settings: { mcpServers: [{ ...entry, args: [...args, "--token", "sesame-arg"] }, bad] },
    mcp: { mcpServers: { safe: { command: "no-such", inheritEnv: "safe", env: { PATH: "/x/$MY_TOKEN" } } } },
  });
  const human = await cli(node, home, "doctor");
  const json = await cli(node, home, "doctor", "--json");
  for (const { stdout, stderr } of [human, json]) expect(stdout + stderr).not.toContain("sesame");
  const { check } = read(json.stdout);
  expect(check("fake", "environment")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("what looks secret: CLOUD_SECRET_KEY, DATABASE_URL, MY_TOKEN;"),
    hint: expect.stringContaining('"inheritEnv": "safe"'),
  });
  expect(check("safe", "environment")).toMatchObject({ status: "ok" });
  expect(check("safe", "program")?.details).toEqual(["not there: /x/[REDACTED]/no-such"]);
  expect(check("fake", "prompts")).toMatchObject({ status: "warning", text: expect.stringContaining("[REDACTED]") });
});

test("what is disabled, wrong or not allowed is listed, and nothing of a project runs", async () => {
  await using home = await temporaryHome();
  await using traps = await setTraps(home);
  const on = await fakeStdio(home);
  const off = await fakeStdio(home);
  home.write({
    settings: { mcpServers: [on.entry("on"), off.entry("off", { disabled: true })] },
    files: trapFiles(traps),
    env: traps.env,
  });
  const all = await cli(node, home, "doctor", "--json");
  expect(traps.sprung()).toEqual([]);
  expect(all.stdout + all.stderr).not.toContain(traps.secret);
  const { report, of } = read(all.stdout);
  expect([all.code, of("on")?.category, of("off")?.state]).toEqual([0, undefined, "disabled"]);
  const waiting = report.servers.filter(({ state }) => state === "waiting");
  expect(waiting).toHaveLength(18);
  expect(waiting.every(({ checks }) => checks.every(({ status }) => status === "skipped"))).toBe(true);
  expect((await cli(node, home, "doctor")).stdout).toMatch(/\n1 of 1 servers work, 19 not in use\.\n$/);
  // Of a server that was asked for the answer is no.
  expect((await cli(node, home, "doctor", "off")).code).toBe(3);
  expect((await cli(node, home, "doctor", "run-1")).code).toBe(9);
  expect(await cli(node, home, "doctor", "none")).toMatchObject({
    code: 3,
    stdout: "",
    stderr: expect.stringMatching(/^pi-mcp: no MCP server configured with name `none`/),
  });
  expect((await cli(node, home, "doctor", "a", "b")).code).toBe(2);
  expect([traps.sprung(), off.starts()]).toEqual([[], []]);

  home.write({ mcp: { mcpServers: { bad: { command: 5 } } }, files: { "agent/settings.toml": "[oops" } });
  const broken = await cli(node, home, "doctor");
  expect(broken.code).toBe(10);
  expect(broken.stdout).toMatch(/^.*settings\.toml:\d+:\d+: error: /);
  expect(broken.stdout).toContain("bad: does not work\n  failed   configuration  is left out because of a mistake at ");
  expect((await cli(node, home, "doctor", "on")).code).toBe(0);
});

test("what is named on the command line is looked at, too, and where each field stands", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  const { command, args } = server.entry("fake");
  home.write({ mcp: { mcpServers: { fake: { command, args } } } });
  const flag = JSON.stringify({ mcpServers: { fake: { env: { A: "b" } }, gone: { command: "no-such" } } });
  const ended = await cli(node, home, "doctor", "--json", "--mcp-config", flag);
  const { check, statuses } = read(ended.stdout);
  expect([ended.code, statuses("fake").tools, statuses("gone").program]).toEqual([4, "ok", "failed"]);
  expect(check("fake", "configuration")?.details).toEqual([
    expect.stringMatching(/^from .*mcp\.json \(your file\): command \d+:\d+, args /),
    expect.stringMatching(/^from .* \(command line\): env \d+:\d+$/),
  ]);
  expect(server.launches()[0]?.env.A).toBe("b");
});

test("each server has the limit for itself, and all end with it", async () => {
  await using home = await temporaryHome();
  const silent = await fakeStdio(home, {
    on: { initialize: { silent: true } },
    startup: { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true },
  });
  const good = await fakeStdio(home);
  const names = Array.from({ length: 4 }, (_, index) => `silent-${index}`);
  home.write({ settings: { mcpServers: [...names.map((name) => silent.entry(name)), good.entry("fine")] } });
  const ended = await cli(node, home, "doctor", "--json", "--timeout", "3");
  const { of } = read(ended.stdout);
  expect(ended.code).toBe(6);
  expect(names.map((name) => of(name)?.category)).toEqual(names.map(() => "timeout"));
  expect(of("fine")?.category).toBeUndefined();
  expect([...silent.starts(), ...silent.grandchildren(), ...good.starts()].filter(isAlive)).toEqual([]);
});

test("Ctrl-C ends it as cancelled, with everything it started", async () => {
  await using home = await temporaryHome();
  const silent = await fakeStdio(home, { on: { initialize: { silent: true } } });
  home.write({ settings: { mcpServers: [silent.entry("silent")] } });
  const { child, ended } = startCli(node, home, ["doctor"]);
  await silent.until("initialize");
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130, stderr: "" });
  expect(silent.starts().filter(isAlive)).toEqual([]);
});
