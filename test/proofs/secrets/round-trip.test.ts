import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { createSession } from "../../../src/session/create-session.ts";
import { type AuthorizationOptions, authorizationServer, protectedServer } from "../../ground/authorization-server.ts";
import { type Home, temporaryHome } from "../../ground/home.ts";
import { NODES, runCli } from "../../ground/run-cli.ts";
import type { Mode } from "./answers.ts";
import { type Said, throughAllDoors } from "./doors.ts";
import { echoHttp, type Fault } from "./echo-http.ts";
import { encodings, Planted } from "./planted.ts";

const PROCESS = fileURLToPath(new URL("./echo-process.ts", import.meta.url));
const TIME_MS = 240_000;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function newHome(): Promise<Home> {
  const home = await temporaryHome();
  cleanups.push(() => home.remove());
  return home;
}

/** No part of a secret in anything that was said, and what was to be said is there. */
function expectNothingOf(planted: Planted, said: readonly Said[], says: RegExp): void {
  const leaks = said.flatMap(({ where, text }) => planted.in(text).map((name) => ({ name, where, text })));
  expect(leaks.map(({ name, where, text }) => `${name} in ${where}: ${around(planted, name, text)}`)).toEqual([]);
  expect(
    said.some(({ text }) => says.test(text)),
    `nobody says ${says}`,
  ).toBe(true);
}

/** The first place, for whoever reads the failure. */
function around(planted: Planted, name: string, text: string): string {
  for (let at = 0; at < text.length; at += 100) {
    const part = text.slice(Math.max(0, at - 60), at + 160);
    if (planted.in(part).includes(name)) return part;
  }
  return "(in all of it)";
}

/** An entry for a server that runs as a process, with a secret in every place that may hold one. */
function stdioEntry(planted: Planted, home: Home, mode: string, more: object = {}) {
  home.write({ env: { PLANT_OUTSIDE: planted.plant("variable", "text") } });
  const dsn = `postgres://someone:${encodeURIComponent(planted.plant("password in env", "text"))}@db.internal/x`;
  const web = `https://u:${encodeURIComponent(planted.plant("password in args", "text"))}@h.internal/?token=${planted.plant("query in args", "word")}`;
  return {
    command: process.execPath,
    args: [
      ...[PROCESS, mode, home.path("echo-starts")],
      ...[
        "--api-key",
        planted.plant("argument", "word"),
        `--header=Authorization: Bearer ${planted.plant("header in args", "word")}`,
        web,
      ],
    ],
    env: {
      PLANT_TOKEN: planted.plant("env", "text"),
      PLANT_NOTE: planted.plant("env of no secret name", "text"),
      PLANT_DSN: dsn,
      PLANT_REFERENCE: "before ${PLANT_OUTSIDE} after",
      PLANT_COMMAND: `!printf %s '${planted.plant("output of a command", "word")}'`,
    },
    exposure: "direct",
    requestTimeoutMs: 20_000,
    ...more,
  };
}

function httpEntry(planted: Planted, home: Home, origin: string, more: object = {}) {
  home.write({ env: { PLANT_OUTSIDE: planted.plant("variable", "ascii") } });
  const user = encodeURIComponent(planted.plant("user", "text"));
  const password = encodeURIComponent(planted.plant("password", "text"));
  const [scheme, rest] = origin.split("://");
  const path = `/mcp/${planted.plant("path", "word")}AAAAAAA1`;
  return {
    url: `${scheme}://${user}:${password}@${rest}${path}?api_key=${planted.plant("query", "word")}&page=${encodeURIComponent(planted.plant("query of no secret name", "text"))}`,
    headers: {
      "X-Api-Key": planted.plant("header", "ascii"),
      "X-Note": planted.plant("header of no secret name", "ascii"),
      "X-Reference": "before ${PLANT_OUTSIDE} after",
      "X-Command": `!printf %s '${planted.plant("output of a command", "word")}'`,
      Authorization: `Basic ${Buffer.from(`me:${planted.plant("basic password", "ascii")}`).toString("base64")}`,
    },
    exposure: "direct",
    requestTimeoutMs: 20_000,
    ...more,
  };
}

const REDACTED = /\[REDACTED\]/;

const STDIO: readonly [mode: string, says: RegExp, more?: object, callMs?: number][] = [
  ["results", REDACTED],
  ["tool errors", REDACTED],
  ["errors", /answered with error -32000: .*\[REDACTED\]/],
  ["invalid arguments", /answered with error -32602: .*\[REDACTED\]/],
  ["refused arguments", /Input validation error[\s\S]*Expected parameters/],
  ["unknown tool", /Unknown tool: .*\[REDACTED\]/],
  ["definitions", REDACTED],
  ["changes", REDACTED],
  ["asks", REDACTED],
  ["refused start", /it refused \(-32603\)/],
  ["odd version", /failed to initialize/],
  ["refused list", /answered with error -32000/],
  ["huge", /output truncated/],
  ["silent", /did not (answer|respond)|within|time/i, { requestTimeoutMs: 1_500 }, 700],
  ["noise", REDACTED],
  ["exits", /failed to initialize/],
  ["dies later", /failed to initialize/],
  ["crashes", /may have run|ended|exited/],
  ["malformed", /may have run|ended|exited/],
  ["exits", /its log/, { stderr: "file" }],
  ["results", /stderr/, { stderr: "show" }],
  ["program is missing", /not found|ENOENT/, { command: "/nosuch/program" }],
  ["folder is missing", /working directory|ENOENT|not there/, { cwd: "/nosuch/folder" }],
];

describe("a server that is a process", () => {
  test.each(STDIO)(
    "%s: says %s and no secret",
    async (mode, says, more, callMs) => {
      const home = await newHome();
      const planted = new Planted();
      home.write({ mcp: { mcpServers: { s: stdioEntry(planted, home, mode, more) } } });
      const said = await throughAllDoors(home, { server: "s", tool: "read", ...(callMs !== undefined && { callMs }) });
      expectNothingOf(planted, said, says);
    },
    TIME_MS,
  );

  test(
    "its command for a value fails and tells everything",
    async () => {
      const home = await newHome();
      const planted = new Planted();
      const entry = stdioEntry(planted, home, "results");
      const env = { ...entry.env, PLANT_BAD: '!echo "$PLANT_OUTSIDE"; echo "$PLANT_OUTSIDE" >&2; exit 3' };
      home.write({ mcp: { mcpServers: { s: { ...entry, env } } } });
      const said = await throughAllDoors(home, { server: "s", tool: "read" });
      expectNothingOf(planted, said, /PLANT_BAD/);
    },
    TIME_MS,
  );

  test(
    "as settings.json has it",
    async () => {
      const home = await newHome();
      const planted = new Planted();
      const { env, ...entry } = stdioEntry(planted, home, "definitions");
      const { PLANT_COMMAND: _, ...plain } = env;
      home.write({ settings: { mcpServers: [{ name: "s", ...entry, env: plain }] } });
      const said = await throughAllDoors(home, { server: "s", tool: "read" });
      expectNothingOf(planted, said, REDACTED);
    },
    TIME_MS,
  );
});

const HTTP: readonly (readonly [name: string, mode: Mode, fault: Fault | undefined, says: RegExp, more?: object])[] = [
  ["results", "results", undefined, REDACTED],
  ["definitions", "definitions", undefined, REDACTED],
  ["refused arguments", "refused arguments", undefined, /Expected parameters/],
  ["errors", "errors", undefined, /answered with error -32000: .*\[REDACTED\]/],
  ["huge", "huge", undefined, /output truncated/],
  ["silent", "silent", undefined, /within|time/i, { requestTimeoutMs: 1_500 }],
  ...[400, 401, 403, 404, 405, 429, 500, 503].flatMap((status) =>
    (["initialize", "tools/call"] as const).map(
      (on) => [`${status} of ${on}`, "results", { on, status }, /HTTP \d{3}|answered|refuses/] as const,
    ),
  ),
  ["401 with a challenge", "results", { on: "initialize", status: 401, challenge: "Bearer" }, /401/],
  [
    "redirect elsewhere",
    "results",
    { on: "initialize", status: 307, location: "http://127.0.0.1:9/?x=" },
    /redirect|30\d/i,
  ],
  ["redirect of a call", "results", { on: "tools/call", status: 302, location: "/other?x=" }, /redirect|30\d/i],
  ["answer that is no JSON", "results", { on: "initialize", body: "not json" }, /JSON|failed to initialize/],
  ["call's answer that is no JSON", "results", { on: "tools/call", body: "not json" }, /JSON|answer/],
  [
    "page of a portal",
    "results",
    { on: "initialize", body: "not json", type: "text/html" },
    /html|failed to initialize/i,
  ],
  ["stream of rubbish", "results", { on: "tools/call", body: "stream" }, /answer|stream/i],
  ["stream that breaks off", "results", { on: "tools/call", body: "broken off" }, /connection|stream|may have run/i],
  ["refused list", "refused list", undefined, /answered with error -32000/],
];

describe("a server that is reached over HTTP", () => {
  test.each(HTTP.map((row) => ({ name: row[0], row })))(
    "$name",
    async ({ row }) => {
      const [, mode, fault, says, more] = row;
      const home = await newHome();
      const planted = new Planted();
      const server = await echoHttp(mode, fault);
      cleanups.push(() => server.close());
      home.write({ mcp: { mcpServers: { s: httpEntry(planted, home, `http://127.0.0.1:${server.port}`, more) } } });
      const callMs = mode === "silent" ? { callMs: 700 } : {};
      const said = await throughAllDoors(home, { server: "s", tool: "read", ...callMs });
      expectNothingOf(planted, said, says);
      expect(planted.in(server.seen()).length, "secrets that the server got").toBeGreaterThan(5);
    },
    TIME_MS,
  );

  test.each([
    ["no TLS there", "https", "127.0.0.1"],
    ["a name nobody knows", "http", "nosuch.invalid"],
    ["nobody listens", "http", "127.0.0.1:9"],
    ["no address at all", "http", "[nosuch"],
  ])(
    "%s",
    async (_name, scheme, host) => {
      const home = await newHome();
      const planted = new Planted();
      const server = await echoHttp("results");
      cleanups.push(() => server.close());
      const origin = `${scheme}://${host === "127.0.0.1" ? `${host}:${server.port}` : host}`;
      home.write({ mcp: { mcpServers: { s: httpEntry(planted, home, origin) } }, env: { NO_PROXY: "*" } });
      const said = await throughAllDoors(home, { server: "s", tool: "read" });
      expectNothingOf(planted, said, /failed to initialize|address/);
    },
    TIME_MS,
  );
});

describe("a configuration that is wrong", () => {
  const broken: readonly [string, (secret: string) => string][] = [
    ["cut off in a secret", (secret) => `{"mcpServers": {"s": {"command": "x", "env": {"TOKEN": "${secret}`],
    [
      "with a line break in a secret",
      (secret) => `{"mcpServers": {"s": {"command": "x", "env": {"TOKEN": "\n${secret}"}}}}`,
    ],
    [
      "with a secret without quotes",
      (secret) => `{"mcpServers": {"s": {"command": "x", "env": {"TOKEN": ${secret}}}}}`,
    ],
    [
      "with secrets of the wrong kind",
      (secret) => `{"mcpServers": {"s": {"command": "x", "env": {"TOKEN": ["${secret}"]}, "headers": "${secret}"}}}`,
    ],
    [
      "with secrets as addresses",
      (secret) =>
        `{"mcpServers": {"s": {"url": "${secret}", "headers": {"X-Key": "${secret}"}, "bearerToken": {"a": "${secret}"}}}}`,
    ],
    [
      "with secrets under names that say so",
      (secret) =>
        `{"mcpServers": {"s": {"command": "x", "type": "websocket", "bearerToken": "${secret}", "timeout": "x", "apiKey": "${secret}"}}}`,
    ],
  ];
  test.each(broken)(
    "%s",
    async (_name, text) => {
      const home = await newHome();
      const planted = new Planted();
      const secret = planted.plant("secret", "word");
      home.write({ mcp: text(secret), settings: text(planted.plant("another", "word")) });
      const said = await throughAllDoors(home, { server: "s", tool: "read" });
      expectNothingOf(planted, said, /mcp\.json:\d+/);
    },
    TIME_MS,
  );
});

describe("a server that is signed in to", () => {
  const echo =
    (status: number, error?: string): NonNullable<AuthorizationOptions["onToken"]> =>
    (form, { headers }) => {
      const all = encodings({ ...Object.fromEntries(form), ...headers });
      return { status, body: { ...(error && { error }), error_description: all, message: all, all } };
    };
  const cases: readonly [string, AuthorizationOptions, RegExp][] = [
    ["works, and tells the token", {}, /REDACTED/],
    ["its token cannot be renewed", { lifetimeS: 5 }, /REDACTED|auth/i],
    [
      "its authorization server refuses",
      { onToken: echo(400, "invalid_grant") },
      /refused \(invalid_grant|requires auth/,
    ],
    [
      "its authorization server refuses the client",
      { onToken: echo(401, "invalid_client") },
      /invalid_client|requires auth/,
    ],
    ["its authorization server has failed", { onToken: echo(500) }, /500|requires auth/],
    [
      "its authorization server answers 200 and an error",
      { onToken: echo(200, "invalid_request") },
      /invalid_request|requires auth/,
    ],
    ["its authorization server gives what is no token", { onToken: echo(200) }, /no token|requires auth/],
    [
      "nobody is registered there",
      {
        onRegister: (given) => ({
          status: 400,
          body: { error: "invalid_client_metadata", error_description: JSON.stringify(given) },
        }),
      },
      /register|REDACTED/,
    ],
  ];
  for (const isConfigured of [false, true]) {
    test.each(cases)(
      `%s${isConfigured ? ", with a client of its own" : ""}`,
      async (name, { onToken, ...options }, says) => {
        const home = await newHome();
        const planted = new Planted();
        let isLater = false;
        // The first tokens are had; what is wrong is wrong from then on, but where nobody has signed in before.
        const refresh = name.includes("renewed");
        const authorization = await authorizationServer({
          ...options,
          onToken: (form, request) =>
            refresh && isLater
              ? echo(400, "invalid_grant")(form, request)
              : refresh
                ? undefined
                : onToken?.(form, request),
        });
        cleanups.push(() => authorization.close());
        const server = await protectedServer({ authorization });
        cleanups.push(() => server.close());
        const clientSecret = planted.plant("client secret", "ascii");
        const oauth = { clientId: "me", clientSecret, grantType: "client_credentials" };
        if (isConfigured)
          authorization.clients.set("me", {
            id: "me",
            secret: clientSecret,
            method: "client_secret_basic",
            redirectUris: [],
          });
        home.write({
          mcp: { mcpServers: { s: { url: server.url, exposure: "direct", ...(isConfigured && { oauth }) } } },
        });
        const env = home.env();
        const said: Said[] = [];
        const session = createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd });
        try {
          const signIn = await session.signIn("s").start();
          signIn.done.catch((error: Error) => said.push({ where: "sign-in", text: error.message }));
          const page = await fetch(signIn.url);
          said.push({ where: "page of the sign-in", text: await page.text() });
          await signIn.done;
          for (const text of ["who am I", "hi"])
            said.push({ where: "call", text: JSON.stringify(await session.callTool("s", "echo", { text })) });
        } catch (error) {
          said.push({ where: "sign-in failed", text: (error as Error).message });
        }
        try {
          said.push({ where: "call", text: JSON.stringify(await session.callTool("s", "echo", { text: "who am I" })) });
        } catch (error) {
          said.push({ where: "call failed", text: (error as Error).message });
        }
        await session.close();
        isLater = true;
        for (const token of authorization.tokens.keys()) server.revoked.add(token);
        said.push(...(await throughAllDoors(home, { server: "s", tool: "echo" })));
        for (const secret of authorization.secrets) if (secret !== "") planted.add(secret);
        expectNothingOf(planted, said, says);
      },
      TIME_MS,
    );
  }
});

test.each(NODES)(
  "the command itself on $name",
  async ({ node }) => {
    for (const mode of ["definitions", "exits", "errors"]) {
      const home = await newHome();
      const planted = new Planted();
      home.write({ mcp: { mcpServers: { s: stdioEntry(planted, home, mode) } } });
      const said: Said[] = [];
      for (const words of [
        ["list", "s", "--json"],
        ["call", "s", "read"],
        ["call", "s", "read", "--json"],
        ["doctor", "--json"],
        ["config"],
      ]) {
        const { stdout, stderr } = await runCli(node, home, ...words);
        said.push({ where: words.join(" "), text: `${stdout}\n${stderr}` });
      }
      expectNothingOf(planted, said, /\[REDACTED\]|failed to initialize/);
    }
  },
  TIME_MS,
);
