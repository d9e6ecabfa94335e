import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ForeignProgram } from "../../src/auth/foreign.ts";
import { FOREIGN_PROGRAMS } from "../../src/auth/foreign.ts";
import { runCli } from "../ground/run-cli.ts";
import { call, type Place, place } from "./open.ts";
import { fileOf, refreshes, stored } from "./refreshing.ts";

interface Granted {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
  readonly clientId: string;
}

/** What another program got, from the very authorization server; it is stored nowhere yet. */
async function grantedElsewhere(here: Place): Promise<Granted> {
  await here.signIn();
  const { tokens, clientInfo } = stored(here);
  rmSync(fileOf(here));
  return { ...tokens, clientId: (clientInfo as { clientId: string }).clientId } as Granted;
}

const standard = ({ accessToken, refreshToken }: Granted) => ({
  ...{ access_token: accessToken, refresh_token: refreshToken, token_type: "Bearer", expires_in: 3600 },
  scope: "",
});

type Write = (here: Place, granted: Granted, name?: string, url?: string) => void;

/** Each program's file, as that program writes it. */
const WRITE: Record<ForeignProgram, Write> = {
  pi: ({ home, server, authorization }, granted, name = "s", url = server.url) =>
    home.write({
      files: {
        "agent/mcp-auth.json": {
          [`mcp__${name}|${url}`]: {
            serverUrl: url,
            clientInformation: { client_id: granted.clientId, redirect_uris: ["http://localhost:1/callback"] },
            tokens: standard(granted),
            tokensExpireAt: granted.expiresAt * 1000,
            discovery: {
              authorizationServerUrl: authorization.issuer,
              resourceMetadata: { resource: server.url, authorization_servers: [authorization.issuer] },
              authorizationServerMetadata: {
                issuer: authorization.issuer,
                authorization_endpoint: `${authorization.issuer}/authorize`,
                token_endpoint: `${authorization.issuer}/token`,
                response_types_supported: ["code"],
              },
            },
          },
        },
      },
    }),
  "pi-mcp-adapter": ({ home, server }, granted, name = "s", url = server.url) => {
    const folder = `sha256-${createHash("sha256").update(name).digest("hex")}`;
    const { clientId, ...tokens } = granted;
    home.write({
      files: { [`~/adapter/${folder}/tokens.json`]: { tokens, clientInfo: { clientId }, serverUrl: url } },
    });
    const mcp = JSON.parse(readFileSync(join(home.agentDir, "mcp.json"), "utf8")) as object;
    home.write({ mcp: { ...mcp, settings: { oauthDir: "~/adapter" } } });
  },
  mcporter: ({ home, server }, granted, name = "s", url = server.url) =>
    home.write({
      files: {
        "~/.mcporter/credentials.json": {
          version: 1,
          entries: {
            [`${name}|0123456789abcdef`]: {
              ...{ serverName: name, serverUrl: url, updatedAt: new Date(granted.expiresAt * 1000 - 3_600_000) },
              tokens: standard(granted),
              clientInfo: { client_id: granted.clientId },
            },
          },
        },
      },
    }),
};

const adopt = (here: Place, more: { force?: boolean; dryRun?: boolean; programs?: readonly ForeignProgram[] } = {}) =>
  here
    .open()
    .signIn("s")
    .adopt({ programs: FOREIGN_PROGRAMS, force: false, dryRun: false, ...more });

test.each(FOREIGN_PROGRAMS)("a sign-in of %s is taken over on request, used and renewed", async (program) => {
  const here = await place();
  const granted = await grantedElsewhere(here);
  WRITE[program](here, granted);
  await expect(call(here.open())).rejects.toMatchObject({ category: "needs-auth" });
  expect(await adopt(here, { dryRun: true })).toEqual({ state: "found", from: program });
  expect(existsSync(fileOf(here))).toBe(false);
  expect(await adopt(here)).toEqual({ state: "imported", from: program });
  const { expiresAt = 0 } = stored(here).tokens ?? {};
  expect(Math.abs(expiresAt - granted.expiresAt)).toBeLessThanOrEqual(1);
  expect(await call(here.open())).toBe("echo hi");
  expect(await adopt(here)).toEqual({ state: "same", from: program });
  here.server.revoked.add(granted.accessToken);
  expect(await call(here.open(), "again")).toBe("echo again");
  expect([refreshes(here), here.authorization.refusals]).toEqual([1, []]);
  expect(here.authorization.seen("/register")).toHaveLength(1);
});

test.each(FOREIGN_PROGRAMS)("one of %s for another address is not", async (program) => {
  const here = await place();
  const granted = await grantedElsewhere(here);
  WRITE[program](here, granted, "s", `${here.server.url}/other`);
  expect(await adopt(here, { force: true })).toEqual({ state: "absent" });
});

test("what is stored here stays where it is newer, or may be, unless that is asked for", async () => {
  const here = await place();
  const granted = await grantedElsewhere(here);
  WRITE.mcporter(here, granted);
  await here.signIn();
  const own = stored(here);
  const change = (expiresAt: number | undefined) =>
    writeFileSync(fileOf(here), JSON.stringify({ ...own, tokens: { ...own.tokens, expiresAt } }));
  for (const expiresAt of [granted.expiresAt + 60, undefined]) {
    change(expiresAt);
    expect(await adopt(here)).toEqual({ state: "kept", from: "mcporter" });
    expect(stored(here).tokens?.accessToken).toBe(own.tokens?.accessToken);
  }
  expect(await adopt(here, { force: true })).toEqual({ state: "imported", from: "mcporter" });
  expect(stored(here).tokens?.accessToken).toBe(granted.accessToken);
  change(granted.expiresAt - 60);
  expect(await adopt(here)).toEqual({ state: "imported", from: "mcporter" });
});

test("of several for one address that of the server's name counts, and without one none", async () => {
  const here = await place();
  const granted = await grantedElsewhere(here);
  const state = (accessToken: string) => ({
    serverUrl: here.server.url,
    tokens: { access_token: accessToken, token_type: "bearer" },
  });
  const url = here.server.url;
  const write = (states: Record<string, object>) => here.home.write({ files: { "agent/mcp-auth.json": states } });
  write({ [`mcp__work|${url}`]: state("a"), [`mcp__home|${url}`]: state("b") });
  expect(await adopt(here)).toEqual({ state: "ambiguous", names: ["work", "home"] });
  write({ [`mcp__work|${url}`]: state("a"), [`mcp__s|${url}`]: state(granted.accessToken) });
  expect(await adopt(here)).toEqual({ state: "imported", from: "pi" });
  expect(stored(here).tokens).toEqual({ accessToken: granted.accessToken });
});

test.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  [
    "other kinds",
    { version: 1, entries: { a: 1, b: { serverUrl: 5, tokens: "x" }, c: { tokens: { access_token: 1 } } } },
  ],
  ["what is encrypted", { version: 1, entries: { s: { serverName: "s", serverUrl: "URL", tokens: "encrypted:abc" } } }],
  ["names that every object has", '{"__proto__": {"tokens": {}}, "constructor": {"serverUrl": "x"}}'],
])("%s in the files of other programs is nothing", async (_, content) => {
  const here = await place();
  const text = (typeof content === "string" ? content : JSON.stringify(content)).replace("URL", here.server.url);
  here.home.write({ files: { "agent/mcp-auth.json": text, "~/.mcporter/credentials.json": text } });
  expect(await adopt(here)).toEqual({ state: "absent" });
});

test("tokens that are bound to another program's key are left there", async () => {
  const here = await place();
  const entry = { serverName: "s", serverUrl: here.server.url, tokens: { access_token: "x", token_type: "DPoP" } };
  here.home.write({ files: { "~/.mcporter/credentials.json": { version: 1, entries: { s: entry } } } });
  expect(await adopt(here)).toEqual({ state: "absent" });
});

test("`auth import` says what it did for each server, shows no token, and ends with 5 where the one asked for has none", async () => {
  const here = await place();
  const granted = await grantedElsewhere(here);
  WRITE.pi(here, granted);
  const mcp = JSON.parse(readFileSync(join(here.home.agentDir, "mcp.json"), "utf8")) as { mcpServers: object };
  here.home.write({
    mcp: { mcpServers: { ...mcp.mcpServers, other: { url: "http://127.0.0.1:9/mcp" }, p: { command: "x" } } },
  });
  const cli = (...args: string[]) => runCli(process.execPath, here.home, "auth", "import", ...args);
  const dry = await cli("--dry-run");
  expect([dry.code, dry.stdout.split("\n")[0]]).toEqual([0, "s  would be imported from pi"]);
  const done = await cli("--json");
  expect(JSON.parse(done.stdout)).toEqual({
    servers: [
      { server: "other", state: "absent" },
      { server: "s", state: "imported", from: "pi" },
    ],
  });
  const again = await cli("s", "--from", "pi");
  expect([again.code, again.stdout]).toEqual([0, "s  the sign-in of pi is the one in use already\n"]);
  const none = await cli("other");
  expect([none.code, none.stdout]).toEqual([5, "other  no other program has a sign-in to this address\n"]);
  expect((await cli("--from", "elsewhere")).code).toBe(2);
  expect((await cli("p")).stderr).toContain("it is a program on this computer");
  for (const { stdout, stderr } of [dry, done, again, none])
    for (const secret of here.authorization.secrets) expect(stdout + stderr).not.toContain(secret);
  expect(await call(here.open())).toBe("echo hi");
  const status = await runCli(process.execPath, here.home, "auth", "status", "s");
  expect(status.stdout).toMatch(/^s {2}signed in/);
});
