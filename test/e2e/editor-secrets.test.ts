import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeHttp, fakeStdio, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { rpcPi } from "../ground/rpc-pi.ts";
import { EXTENSION, HOSTS } from "../ground/run-pi.ts";
import { scriptedModel } from "../ground/scripted-model.ts";
import { until } from "../ground/wait.ts";

/** Every file a run has left, but the logs of servers, which are their own words. */
function filesOf(home: Home): string[] {
  return [home.home, home.tmp, home.cwd].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !file.includes(`${sep}logs${sep}mcp${sep}`)),
  );
}

describe.each(HOSTS)("$name", (host) => {
  test("[S2-50] [S2-51] [S2-52] [S2-53] no env, header, argument or URL of an editor's server is in a log, a notice, `/mcp` or an error", async () => {
    const secret = (place: string) => `zq-${place}-zq`;
    const call = (server: string) => ({ call: { tool: `mcp__${server}__echo`, args: {} } });
    await using model = await scriptedModel([
      call("works"),
      call("fails"),
      call("dies"),
      call("breaks"),
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    // Each server says what it was given.
    const quoting = `${secret("env")} and ${secret("arg")}`;
    const quotingHttp = `${secret("url")} and ${secret("header")}`;
    const tools = [tool("echo", { description: `Uses ${quoting}.` })];
    const toolsHttp = [tool("echo", { description: `Uses ${quotingHttp}.` })];
    const works = await fakeStdio(home, {
      tools,
      startup: { stderr: `${quoting}\n` },
      on: { "tools/call": { env: "TOKEN" } },
    });
    const fails = await fakeStdio(home, { tools, on: { "tools/call": { error: { code: -1, message: quoting } } } });
    const dies = await fakeStdio(home, { tools, on: { "tools/call": { stderr: quoting, exit: 1 } } });
    const dead = await fakeStdio(home, { startup: { stderr: quoting, exit: 1 } });
    const breaks = await fakeHttp({ tools: toolsHttp, on: { "tools/call": { status: 500, body: quotingHttp } } });
    const denies = await fakeHttp({ on: { "*": { status: 401, body: quotingHttp } } });
    const gone = await fakeHttp();
    await gone.close();
    const stdio = (name: string, command: string, args: readonly string[]) => ({
      name,
      command,
      args: [...args, secret("arg")],
      env: [
        { name: "TOKEN", value: secret("env") },
        { name: "ECHOED", value: quoting },
      ],
    });
    const http = (name: string, url: string) => ({
      type: "http",
      name,
      url: `${url}?key=${secret("url")}`,
      headers: [{ name: "X-Api-Key", value: secret("header") }],
    });
    const servers = [
      ...[stdio("works", works.command, works.args), stdio("fails", fails.command, fails.args)],
      ...[stdio("dies", dies.command, dies.args), stdio("dead", dead.command, dead.args)],
      stdio("missing", home.path(secret("arg")), []),
      ...[http("breaks", breaks.url), http("denies", denies.url), http("gone", gone.url)],
      http("nowhere", `http://${secret("url")}.invalid/mcp`),
    ];
    const pi = await rpcPi(host, home, { extension: EXTENSION, env: { PI_ACP_MCP_SERVERS: JSON.stringify(servers) } });
    await pi.prompt("go");
    const notices = () => pi.ui.filter(({ method }) => method === "notify").map(({ message }) => String(message));
    const all = ["dead", "missing", "denies", "gone", "nowhere"];
    await until("the failures", () =>
      all.every((name) => notices().join("\n").includes(`\`${name}\``)) ? true : undefined,
    );
    for (const command of ["/mcp", ...servers.map(({ name }) => `/mcp reconnect ${name}`), "/mcp"]) {
      const before = notices().length;
      await pi.send({ type: "prompt", message: command });
      await until(`an answer to ${command}`, () => (notices().length > before ? true : undefined));
    }
    expect(notices().find((text) => text.startsWith("breaks: "))).toMatch(/^dead: failed/m);
    const shown = [...notices(), pi.stderr(), ...pi.events.map((event) => JSON.stringify(event))];
    expect((await pi.close()).hung).toBe(false);
    await breaks.close();
    await denies.close();
    const hidden = /zq-(?:env|arg|url|header)-zq/;
    for (const text of shown) expect(text).not.toMatch(hidden);
    for (const text of notices()) expect(text).not.toMatch(/127\.0\.0\.1|http:|stdio-process|invalid\b/);
    const files = filesOf(home);
    expect(files.some((file) => file.includes("mcp-catalog"))).toBe(true);
    for (const file of files) expect(`${file}\n${readFileSync(file, "latin1")}`).not.toMatch(hidden);
  });
});
