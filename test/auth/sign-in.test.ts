import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { createSession } from "../../src/session/create-session.ts";
import { runMcpAuthTool } from "../../src/tools/mcp-auth.ts";
import { runMcpLoad } from "../../src/tools/split.ts";
import { temporaryHome } from "../ground/home.ts";
import { runCli } from "../ground/run-cli.ts";
import { until } from "../ground/wait.ts";
import { afterwards, answerOf, browse, call, type Place, place } from "./open.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const FOLDER = `sha256-${createHash("sha256").update("s").digest("hex")}`;

const fileOf = ({ home }: Place) => join(home.agentDir, "mcp-oauth", FOLDER, "tokens.json");
const stored = (here: Place) =>
  JSON.parse(readFileSync(fileOf(here), "utf8")) as Record<string, Record<string, unknown>>;
/** All that runs in the page at the callback: it takes the answer out of the address bar. */
const OWN_SCRIPT = ['history.replaceState(null,"",location.pathname)'];
const scriptsOf = (page: string) => [...page.matchAll(/<script[^>]*>(.*?)<\/script>/gs)].map(([, text]) => text);
const needsAuth = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ category: "needs-auth" });
const tool = async (here: Place, args: object) => {
  const { content, isError } = await runMcpAuthTool(here.session, { args });
  return { isError, text: content.map((block) => (block.type === "text" ? block.text : "")).join("") };
};

describe("without a sign-in", () => {
  test("[S3-32] [S3-65] a 401 is the state needs-auth, says what to do, and starts nothing", async () => {
    const here = await place();
    const said =
      'MCP server `s` failed to initialize: Server "s" requires authentication. Run /mcp-auth login s to start the OAuth flow (in a shell: pi-mcp auth login s).';
    await expect(here.session.listTools("s")).rejects.toMatchObject({ category: "needs-auth", message: said });
    expect(here.session.status("s")).toMatchObject({ state: "needs-auth", error: said });
    expect(here.authorization.requests).toEqual([]);
    expect(here.server.paths.every((path) => path === "/mcp")).toBe(true);
    expect(existsSync(join(here.home.agentDir, "mcp-oauth"))).toBe(false);
  });

  test("[S3-50] mcp_load says so, starts nothing and opens nothing", async () => {
    const here = await place();
    const { content, isError, details } = await runMcpLoad(here.session, { args: { server: "s" } });
    expect([isError, details.category]).toEqual([true, "needs-auth"]);
    expect(JSON.stringify(content)).toContain("Run /mcp-auth login s to start the OAuth flow");
    expect(here.session.status("s").state).toBe("needs-auth");
    expect(here.authorization.requests).toEqual([]);
  });

  test("[S2-61] for a server that an editor hands over it is the same, and it can be signed in to", async () => {
    const here = await place();
    here.home.write({ mcp: {} });
    const list = [{ type: "http", name: "s", url: here.server.url, headers: [] }];
    const env = { ...here.home.env(), PI_ACP_MCP_SERVERS: JSON.stringify(list) };
    const session = createSession(loadConfig({ env, home: here.home.home }), { env, cwd: here.home.cwd });
    afterwards(session, () => session.close());
    await needsAuth(session.listTools("s"));
    expect([session.status("s").state, session.config("s").origin]).toEqual(["needs-auth", "acp"]);
    expect([here.authorization.requests, existsSync(join(here.home.agentDir, "mcp-oauth"))]).toEqual([[], false]);
    const flow = await session.signIn("s").start();
    await browse(flow.url);
    await flow.done;
    expect(await call(session)).toBe("echo hi");
  });

  test.each([
    ["oauth", { oauth: false }],
    ["auth", { auth: false }],
  ])("[S3-33] [S3-63] `%s: false` makes a 401 an error like any other, which says so", async (_, entry) => {
    const here = await place({ entry });
    await expect(here.session.listTools("s")).rejects.toMatchObject({
      category: "connection",
      message: expect.stringContaining("HTTP 401"),
    });
    expect(here.session.status("s").state).toBe("failed");
    await expect(here.session.signIn("s").start()).rejects.toThrow(/`oauth` is false in .*mcp\.json:\d+/);
  });

  test("a configured Authorization header is never replaced", async () => {
    const here = await place({ entry: { headers: { authorization: "Bearer mine" } } });
    await expect(here.session.listTools("s")).rejects.toThrow(/HTTP 401\). Check `headers`/);
    expect(new Set(here.server.requests.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer mine"]));
    await expect(here.session.signIn("s").start()).rejects.toThrow(/gets the `Authorization` header of its entry/);
  });
});

describe("a sign-in", () => {
  test("[S3-24] [S3-25] [S3-26] [S3-27] [S3-28] [S3-40] completes by itself at the callback, and is stored", async () => {
    const here = await place({
      authorization: { metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] } },
    });
    await here.signIn();
    expect(await call(here.session)).toBe("echo hi");
    const { tokens, clientInfo, serverUrl } = stored(here);
    expect(here.authorization.tokens.has(String(tokens?.accessToken))).toBe(true);
    expect(here.authorization.refreshTokens.has(String(tokens?.refreshToken))).toBe(true);
    expect(tokens?.expiresAt).toBeCloseTo(Date.now() / 1000 + 3600, -2);
    expect([...here.authorization.clients.keys()]).toEqual([clientInfo?.clientId]);
    expect(here.authorization.secrets.has(String(clientInfo?.clientSecret))).toBe(true);
    expect(serverUrl).toBe(here.server.url);
    expect(statSync(fileOf(here)).mode & 0o777).toBe(0o600);
    expect(statSync(join(here.home.agentDir, "mcp-oauth", FOLDER)).mode & 0o777).toBe(0o700);
    expect(here.authorization.refusals).toEqual([]);
  });

  test("[S3-26] the scope is stored as it was granted", async () => {
    const here = await place({ server: { metadata: { scopes_supported: ["read", "write"] } } });
    await here.signIn();
    expect(stored(here).tokens?.scope).toBe("read write");
  });

  test("[S3-30] MCP_OAUTH_DIR is the folder of all credentials", async () => {
    const elsewhere = await temporaryHome();
    afterwards(elsewhere, () => elsewhere.remove());
    const root = elsewhere.path("tokens");
    const here = await place({ env: { MCP_OAUTH_DIR: root } });
    await here.signIn();
    expect(readdirSync(root)).toEqual([FOLDER]);
    expect(existsSync(join(here.home.agentDir, "mcp-oauth"))).toBe(false);
    expect(await call(here.open())).toBe("echo hi");
  });

  test("[S3-29] the credentials of one address are not shown to another", async () => {
    const here = await place();
    await here.signIn();
    const { accessToken } = stored(here).tokens as { accessToken: string };
    const other = await place();
    writeFileSync(
      join(here.home.agentDir, "mcp.json"),
      JSON.stringify({ mcpServers: { s: { url: other.server.url } } }),
    );
    await needsAuth(call(here.open()));
    expect(other.server.requests.map(({ authorization }) => authorization)).not.toContain(`Bearer ${accessToken}`);
  });

  test("fields that are not known are kept", async () => {
    const here = await place();
    await here.signIn();
    writeFileSync(fileOf(here), JSON.stringify({ ...stored(here), note: { mine: 1 } }));
    await here.signIn();
    expect(stored(here).note).toEqual({ mine: 1 });
  });

  test("[S3-31] [E101] MCP_OAUTH_CALLBACK_PORT, and `callbackPort`, are where it listens and what it says", async () => {
    const port = await freePort();
    const here = await place({ env: { MCP_OAUTH_CALLBACK_PORT: String(port) } });
    const flow = await here.session.signIn("s").start();
    expect(new URL(flow.url).searchParams.get("redirect_uri")).toBe(`http://localhost:${port}/callback`);
    expect((await fetch(`http://127.0.0.1:${port}/else`)).status).toBe(404);
    flow.cancel("enough");
    const other = await place({ entry: { oauth: { callbackPort: port } } });
    const second = await other.session.signIn("s").start();
    expect(second.redirectUri).toBe(`http://localhost:${port}/callback`);
    await browse(second.url);
    await second.done;
  });

  test("[E101] [E103] an explicit redirectUri is sent to the letter and served", async () => {
    const port = await freePort();
    const redirectUri = `http://127.0.0.1:${port}/my/place`;
    const here = await place({ entry: { oauth: { redirectUri } } });
    const flow = await here.session.signIn("s").start();
    expect(flow.redirectUri).toBe(redirectUri);
    await browse(flow.url);
    await flow.done;
  });

  test.each(["https://localhost:1/cb", "http://localhost/cb", "http://example.com:1/cb", "http://u:p@localhost:1/cb"])(
    "the redirectUri %s is refused",
    async (redirectUri) => {
      const here = await place({ entry: { oauth: { redirectUri } } });
      await expect(here.session.signIn("s").start()).rejects.toThrow(/must be an http address of this computer/);
    },
  );

  test("[S3-34] [S3-36] [S3-39] with the callback's port taken, the pasted address completes it", async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
    afterwards(blocker, () => new Promise((resolve) => blocker.close(resolve)));
    const { port } = blocker.address() as AddressInfo;
    const here = await place({ env: { MCP_OAUTH_CALLBACK_PORT: String(port) } });
    const flow = await here.session.signIn("s").start();
    expect(flow.notice).toBe(
      `OAuth callback port ${port} is already in use. Set MCP_OAUTH_CALLBACK_PORT or free port ${port}`,
    );
    const query = new URL(flow.url).searchParams;
    expect([query.get("code_challenge_method"), query.get("state")]).toEqual(["S256", expect.stringMatching(/.{32}/)]);
    await here.session.signIn("s").complete(await answerOf(flow.url));
    await flow.done;
    expect(await here.session.signIn("s").status()).toMatchObject({ state: "signed-in" });
    expect(await call(here.session)).toBe("echo hi");
  });

  test.each<[string, (answer: URL) => string]>([
    ["address", ({ href }) => href],
    ["query", ({ search }) => search.slice(1)],
    ["address that a terminal has broken into lines", ({ href }) => `  ${href.slice(0, 40)}\n${href.slice(40)}\n`],
    ["raw code", ({ searchParams }) => searchParams.get("code") ?? ""],
  ])("[S3-35] [S3-37] [S3-38] [E106] mcp_auth starts it, and completes it by the %s", async (_, paste) => {
    const here = await place({
      authorization: { metadata: { authorization_response_iss_parameter_supported: undefined } },
    });
    await needsAuth(call(here.session));
    const started = await tool(here, { action: "start", server: "s" });
    const url = /^http\S+$/m.exec(started.text)?.[0] ?? "";
    expect(new URL(url).pathname).toBe("/authorize");
    const done = await tool(here, { action: "complete", server: "s", code: paste(new URL(await answerOf(url))) });
    expect(done).toEqual({ isError: false, text: "Signed in to MCP server `s`; its tools can be used now." });
    expect(await tool(here, { action: "status", server: "s" })).toMatchObject({ text: "MCP server `s`: signed in." });
    expect(await call(here.session)).toBe("echo hi");
  });

  test("a code alone is not enough where the answer has to say whose it is", async () => {
    const here = await place();
    const flow = await here.session.signIn("s").start();
    const answer = new URL(await answerOf(flow.url));
    await expect(flow.complete(answer.searchParams.get("code") ?? "")).rejects.toThrow(/paste the whole address/);
    await flow.complete(answer.href);
  });

  test("[E241] wrong answers are refused and leave the sign-in open", async () => {
    const here = await place();
    const flow = await here.session.signIn("s").start();
    const answer = new URL(await answerOf(flow.url));
    const at = (change: (url: URL) => void) => {
      const url = new URL(answer);
      change(url);
      return fetch(url).then(async (response) => [response.status, scriptsOf(await response.text())]);
    };
    expect(await at((url) => url.searchParams.set("state", "wrong"))).toEqual([400, OWN_SCRIPT]);
    expect(await at((url) => url.searchParams.delete("state"))).toEqual([400, OWN_SCRIPT]);
    expect(await at((url) => url.searchParams.set("error", "<script>"))).toEqual([200, OWN_SCRIPT]);
    const again = await here.session.signIn("s").start();
    const right = new URL(await answerOf(again.url));
    expect(await statusAs("evil.example", right)).toBe(403);
    await expect(again.complete("http://localhost/callback?code=x&state=y")).rejects.toThrow(/OAuth state mismatch/);
    await browse(right.href);
    await again.done;
    expect(
      await fetch(right).then(
        ({ status }) => status,
        () => "gone",
      ),
    ).toSatisfy((status) => status !== 200);
  });

  test("[E242] what an authorization server says is text on the page", async () => {
    const here = await place({
      authorization: {
        callback: ({ state, iss }) => ({ state, iss, error: "access_denied", error_description: "<script>x</script>" }),
      },
    });
    const flow = await here.session.signIn("s").start();
    const page = await browse(flow.url);
    expect(page.text).toContain("&#60;script&#62;");
    expect(scriptsOf(page.text)).toEqual(OWN_SCRIPT);
    await expect(flow.done).rejects.toThrow(/access_denied/);
  });

  test("a sign-in that is given up leaves the former one alone", async () => {
    const here = await place();
    await here.signIn();
    const before = readFileSync(fileOf(here), "utf8");
    const flow = await here.session.signIn("s").start();
    flow.cancel("changed my mind");
    await expect(flow.done).rejects.toThrow(/changed my mind/);
    expect(readFileSync(fileOf(here), "utf8")).toBe(before);
    expect(await call(here.session)).toBe("echo hi");
  });

  test("[E133] two sign-ins at once are in nobody's way", async () => {
    const here = await place();
    const [one, two] = await Promise.all([here.session.signIn("s").start(), here.open().signIn("s").start()]);
    await browse(two.url);
    await two.done;
    await browse(one.url);
    await one.done;
    expect(here.authorization.refusals).toEqual([]);
  });

  test("signing out forgets it here and there", async () => {
    const here = await place();
    await here.signIn();
    expect(await here.session.signIn("s").logout()).toBe(true);
    expect(existsSync(fileOf(here))).toBe(false);
    expect(here.authorization.refreshTokens.size).toBe(0);
    await needsAuth(call(here.session));
    expect(await here.session.signIn("s").logout()).toBe(false);
  });
});

describe("the command line", () => {
  test("[E106] prints the address, takes what was pasted, and never a secret", async () => {
    const here = await place();
    const cli = (args: readonly string[]) => runCli(process.execPath, here.home, ...args);
    const listed = await cli(["list", "s"]);
    expect([listed.code, listed.stderr]).toEqual([5, expect.stringContaining("pi-mcp auth login s")]);
    const login = await cli(["auth", "login", "s", "--no-wait"]);
    expect(login.code).toBe(5);
    const url = /^http\S+$/m.exec(login.stdout)?.[0] ?? "";
    expect(new URL(url).searchParams.get("redirect_uri")).toBe("http://localhost:19876/callback");
    expect(statSync(join(here.home.agentDir, "mcp-oauth", FOLDER, "pending.json")).mode & 0o777).toBe(0o600);
    const answer = await answerOf(url);
    const wrong = await cli(["auth", "complete", "s", answer.replace(/state=[^&]+/, "state=other")]);
    expect([wrong.code, wrong.stderr]).toEqual([5, expect.stringContaining("OAuth state mismatch")]);
    const complete = await cli(["auth", "complete", "s", answer]);
    expect([complete.code, complete.stdout]).toEqual([0, "Signed in to MCP server `s`.\n"]);
    expect(readdirSync(join(here.home.agentDir, "mcp-oauth", FOLDER))).toEqual(["tokens.json"]);
    const status = await cli(["auth", "status", "s", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({
      servers: [{ server: "s", state: "signed-in", renewable: true }],
    });
    const called = await cli(["call", "s", "echo", '{"text":"there"}']);
    expect([called.code, called.stdout]).toEqual([0, expect.stringContaining("echo there")]);
    const logout = await cli(["auth", "logout", "s"]);
    expect(logout.code).toBe(0);
    expect((await cli(["auth", "status", "s"])).code).toBe(5);
    const runs = [listed, login, wrong, complete, status, called, logout];
    const all = runs.map(({ stdout, stderr }) => stdout + stderr).join("\n");
    for (const secret of here.authorization.secrets) expect(all).not.toContain(secret);
  });
});

test("[E127] a server that is removed is signed out of, and nobody who still names it gets anywhere", async () => {
  const here = await place();
  await here.signIn();
  const session = here.open();
  expect(await call(session)).toBe("echo hi");
  const { code, stderr } = await runCli(process.execPath, here.home, "remove", "s");
  expect([code, stderr, existsSync(fileOf(here))]).toEqual([0, "pi-mcp: its sign-in was forgotten, too.\n", false]);
  await session.update(loadConfig({ env: here.home.env(), home: here.home.home }));
  const before = [here.server.requests.length, here.authorization.requests.length];
  for (const each of [session, here.open()]) {
    await expect(call(each)).rejects.toMatchObject({ category: "unknown-server" });
    await expect(async () => each.signIn("s").start()).rejects.toMatchObject({ category: "unknown-server" });
  }
  expect([here.server.requests.length, here.authorization.requests.length]).toEqual(before);
});

test("[S3-40] [E106] `auth login` ends when the browser comes back, or with what is pasted into it", async () => {
  for (const way of ["browser", "paste"]) {
    const here = await place();
    const child = spawn(process.execPath, [CLI, "auth", "login", "s"], { cwd: here.home.cwd, env: here.home.env() });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
      });
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    const url = await until("the address", () => /^http\S+$/m.exec(output.stdout)?.[0]);
    if (way === "browser") {
      // A browser opens a connection more, in case it needs one; nobody waits for that to end.
      const spare = connect(Number(new URL(new URL(url).searchParams.get("redirect_uri") ?? "").port), "127.0.0.1");
      await once(spare, "connect");
      afterwards(spare, async () => spare.destroy());
      await browse(url);
    } else {
      child.stdin.write("http://localhost/callback?code=x&state=wrong\n");
      await until("the refusal", () => /OAuth state mismatch/.exec(output.stderr) ?? undefined);
      child.stdin.write(`${await answerOf(url)}\n`);
    }
    expect([way, await ended, output.stdout.split("\n").at(-2)]).toEqual([way, 0, "Signed in to MCP server `s`."]);
    for (const secret of here.authorization.secrets) expect(output.stdout + output.stderr).not.toContain(secret);
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** How the callback answers a browser that was led there under another name. */
function statusAs(host: string, url: URL): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", reject);
  });
}
