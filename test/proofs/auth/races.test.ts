import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { afterwards, call, homeOf, place } from "../../auth/open.ts";
import { expired, folderOf, refreshes, startCaller } from "../../auth/refreshing.ts";
import { changeTokens, credentials } from "../../auth/stored.ts";
import { formBrowser } from "../../ground/form-browser.ts";
import { oidcPlace } from "../../ground/oidc-provider.ts";
import { startCli } from "../../ground/run-cli.ts";
import { until } from "../../ground/wait.ts";

const HOLDER = fileURLToPath(new URL("../../auth/holder.ts", import.meta.url));

describe("several processes", () => {
  test("[E130] [E131] twelve processes with eight calls each: one refresh, no call lost, everybody stays signed in", async () => {
    const here = await expired({ authorization: { tokenDelayMs: 300 } });
    const children = Array.from({ length: 12 }, () => startCaller(here));
    await Promise.all(children.map(({ ready }) => ready));
    for (const { child } of children) child.stdin.write("go\n");
    const ended = (await Promise.all(children.map(({ result }) => result))).flat();
    expect(ended).toEqual(Array.from({ length: 96 }, () => "ok"));
    expect([refreshes(here), here.authorization.refusals]).toEqual([1, []]);
    expect(new Set(here.server.calls).size).toBe(96);
    expect(readdirSync(folderOf(here)).sort()).toEqual(["tokens.json"]);
  });

  test("[E131] a lock that another process holds for 10 s is waited for, and what that has stored is used", async () => {
    const here = await place();
    await here.signIn();
    changeTokens(here.home, { expiresAt: 1 });
    const holder = spawn(process.execPath, [HOLDER, join(here.home.agentDir, "mcp-oauth"), here.server.url], {
      env: here.home.env(),
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    const caller = startCaller(here, {}, { calls: 2 });
    await caller.ready;
    caller.child.stdin.write("go\n");
    // Longer than a lock of a dead process counts.
    await sleep(10_000);
    expect([here.authorization.grants("refresh_token"), here.server.calls]).toEqual([[], []]);
    here.authorization.tokens.set("planted-by-the-other", { scope: "", clientId: "", expiresAt: Date.now() + 60_000 });
    changeTokens(here.home, { accessToken: "planted-by-the-other", expiresAt: Math.floor(Date.now() / 1000) + 3600 });
    holder.stdin.end();
    expect(await caller.result).toEqual(["ok", "ok"]);
    expect([here.authorization.grants("refresh_token"), here.authorization.refusals]).toEqual([[], []]);
  });

  test("[E275] twelve processes renew the tokens of twelve servers at once: twelve entries", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `server-${index}`);
    const here = await place();
    here.home.write({ mcp: { mcpServers: Object.fromEntries(names.map((name) => [name, { url: here.server.url }])) } });
    const session = here.open();
    for (const name of names) {
      const flow = await session.signIn(name).start();
      await (await fetch(flow.url)).text();
      await flow.done;
    }
    const before = names.map((name) => credentials(here.home, name).tokens?.refreshToken);
    for (const name of names) changeTokens(here.home, { expiresAt: 1 }, name);
    const callers = names.map((name) => startCaller(here, {}, { calls: 1, server: name }));
    await Promise.all(callers.map(({ ready }) => ready));
    for (const { child } of callers) child.stdin.write("go\n");
    expect((await Promise.all(callers.map(({ result }) => result))).flat()).toEqual(names.map(() => "ok"));
    const after = names.map((name) => credentials(here.home, name).tokens?.refreshToken);
    expect(new Set([...before, ...after]).size).toBe(24);
    expect(after.every((token) => here.authorization.refreshTokens.has(String(token)))).toBe(true);
    expect(here.authorization.refusals).toEqual([]);
  });

  test.each([
    ["at a server that is told", {}],
    ["at one that cannot be told", { revocation_endpoint: undefined }],
  ])("[E274] signing out by another process during a refresh is the last word (%s)", async (_, metadata) => {
    const here = await place({ authorization: { metadata } });
    await here.signIn();
    changeTokens(here.home, { expiresAt: 1 });
    here.authorization.options.tokenDelayMs = 4_000;
    const callers = [startCaller(here, {}, { calls: 4 }), startCaller(here, {}, { calls: 4 })];
    await Promise.all(callers.map(({ ready }) => ready));
    for (const { child } of callers) child.stdin.write("go\n");
    await until("the refresh", () => here.authorization.grants("refresh_token").length === 1 || undefined);
    const logout = startCli(process.execPath, here.home, ["auth", "logout", "s"]);
    expect(await logout.ended).toMatchObject({ code: 0, stdout: "Signed out of MCP server `s`.\n" });
    for (const { result } of callers) {
      for (const said of await result) expect(said).toContain("Run /mcp-auth login s");
    }
    expect(() => credentials(here.home)).toThrow(/ENOENT/);
    expect(here.server.calls).toEqual([]);
    const status = await startCli(process.execPath, here.home, ["auth", "status", "s"]).ended;
    expect([status.code, status.stdout]).toEqual([5, "s  signed out\n"]);
  });

  test("[E130] six of four calls each share one refresh of an authorization server that ends what is used twice", async () => {
    const oidc = await oidcPlace();
    afterwards(oidc, () => oidc.close());
    const { home, open } = await homeOf(oidc.url);
    const session = open();
    const flow = await session.signIn("s").start();
    const browser = formBrowser();
    await browser.submit(await browser.submit(await browser.open(flow.url), { login: "ada", password: "any" }));
    await flow.done;
    for (let round = 1; round <= 3; round++) {
      changeTokens(home, { expiresAt: 1 });
      const callers = Array.from({ length: 6 }, () => startCaller({ home }, {}, { calls: 4 }));
      await Promise.all(callers.map(({ ready }) => ready));
      for (const { child } of callers) child.stdin.write("go\n");
      const ended = (await Promise.all(callers.map(({ result }) => result))).flat();
      expect(ended).toEqual(Array.from({ length: 24 }, () => "ok"));
      expect(oidc.events.filter((event) => event.startsWith("grant refresh_token"))).toHaveLength(round);
    }
    expect(oidc.events.filter((event) => /refused|revoked|broken/.test(event))).toEqual([]);
    expect(await call(session, "after")).toBe("echo after");
  });
});
