import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { describeUntrustedFile } from "../../src/config/consent.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { sessionOf } from "../session/open.ts";

type Headers = Record<string, unknown>;

/** An MCP server that lets in who has the right `x-key`, and tells a caller what it was shown. */
async function guarded(isRight: (key: string, body: string) => boolean) {
  const seen: { status: number; headers: Headers }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    if (request.method !== "POST") return void response.writeHead(405).end();
    const key = String(request.headers["x-key"]);
    const status = isRight(key, body) ? 200 : 401;
    seen.push({ status, headers: request.headers });
    if (status === 401) return void response.writeHead(401).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: `you sent ${key}` }] },
    };
    const rest = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

/** A program that counts its runs and writes the key of a file. */
function keyed(home: Home) {
  const [runs, key] = [home.path("runs"), home.path("key")];
  writeFileSync(key, "key-number-1");
  return {
    command: `echo run >> ${runs}; printf '{"X-Key": "%s", "Content-Type": "text/evil", "Connection": "close"}' "$(cat ${key})"`,
    runs: () => (existsSync(runs) ? readFileSync(runs, "utf8").trim().split("\n").length : 0),
    change: (to: string) => writeFileSync(key, to),
  };
}

const textOf = ({ content }: { content: readonly { type: string }[] }) => JSON.stringify(content);

test.each(["headersCommand", "headersHelper"])(
  "%s runs with the connection, and its output is a secret",
  async (field) => {
    await using home = await temporaryHome();
    const server = await guarded((key) => key === "key-number-1");
    const { command, runs } = keyed(home);
    home.write({ mcp: { mcpServers: { fake: { url: server.url, [field]: command } } } });
    await using session = sessionOf(home);
    expect([session.status("fake").state, runs()]).toEqual(["idle", 0]);
    const called = await Promise.all([1, 2, 3].map(() => session.callTool("fake", "echo", {})));
    expect(called.map(textOf)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("you sent [REDACTED]")));
    expect(runs()).toBe(1);
    // It replaces no header of the protocol.
    expect(new Set(server.seen.map(({ headers }) => headers["content-type"]))).toEqual(new Set(["application/json"]));
  },
);

test("[E128] headersCommand is run once more after a 401, once for all, and the request is sent again", async () => {
  await using home = await temporaryHome();
  let right = "key-number-1";
  const server = await guarded((key) => key === right);
  const { command, runs, change } = keyed(home);
  home.write({ mcp: { mcpServers: { fake: { url: server.url, headersCommand: command } } } });
  await using session = sessionOf(home);
  await session.listTools("fake");
  right = "key-number-2";
  change(right);
  const called = await Promise.all([1, 2, 3].map(() => session.callTool("fake", "echo", {})));
  expect(called.map(textOf)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("you sent [REDACTED]")));
  expect(runs()).toBe(2);
  // The same once more is no reason to ask again, and no sign-in takes its place.
  right = "another";
  const before = server.seen.length;
  await expect(session.callTool("fake", "echo", {})).rejects.toMatchObject({
    category: "needs-auth",
    message: expect.stringMatching(/HTTP 401\)\. Check `headersCommand` in .*mcp\.json:\d+/),
  });
  expect([server.seen.length - before, runs()]).toEqual([1, 3]);
});

test("requestHeadersCommand is told of each request, and what it writes is sent with that one", async () => {
  await using home = await temporaryHome({ env: { SALT: "pepper" } });
  const heard: string[] = [];
  const server = await guarded((key, body) => {
    heard.push(body);
    return key === `POST-${Buffer.from(body).toString("base64").length}-pepper-own`;
  });
  const script = `const r = JSON.parse(require("fs").readFileSync(0, "utf8"));
    if (r.version !== 1 || r.url !== process.argv[1]) process.exit(9);
    console.log(JSON.stringify({ "x-key": [r.method, r.bodyBase64.length, process.env.SALT, process.env.OWN].join("-") }));`;
  const command = { command: process.execPath, args: ["-e", script, "${THE_URL}"], env: { OWN: "own" } };
  home.write({ mcp: { mcpServers: { fake: { url: server.url, requestHeadersCommand: command } } } });
  home.write({ env: { THE_URL: server.url } });
  await using session = sessionOf(home);
  expect(textOf(await session.callTool("fake", "echo", { a: 1 }))).toContain("[REDACTED]");
  expect(server.seen.map(({ status }) => status)).not.toContain(401);
  expect(new Set(server.seen.map(({ headers }) => headers["x-key"])).size).toBeGreaterThan(1);
}, 60_000);

test.each([
  ["a failure", "echo boom planted-x >&2; exit 3", /ended with code 3, saying: boom/],
  ["no JSON", "echo planted-x", /did not write a JSON object of headers/],
  ["a list", `echo '["planted-x"]'`, /did not write a JSON object of headers/],
  ["a number", `echo '{"X-Key": 5}'`, /did not write a JSON object of headers/],
  ["two lines in one header", `printf '{"X-Key": "planted-x\\\\nEvil: 1"}'`, /did not write a JSON object of headers/],
  ["nothing", "true", /wrote nothing/],
  ["too much", "head -c 70000 /dev/zero | tr '\\0' x", /wrote more than 64 KiB/],
])(
  "%s of the program is an error that names the field and its place, and nothing it wrote",
  async (_, command, what) => {
    await using home = await temporaryHome();
    const server = await guarded(() => true);
    home.write({ mcp: { mcpServers: { fake: { url: server.url, headersCommand: command } } } });
    await using session = sessionOf(home);
    const { message } = (await session.listTools("fake").catch((error: unknown) => error)) as Error;
    expect(message).toMatch(/the command in "headersCommand" /);
    expect(message).toMatch(what);
    expect(message).toMatch(/Check it in .*mcp\.json:\d+$/);
    if (!message.includes("boom")) expect(message).not.toContain("planted");
    expect(server.seen).toEqual([]);
  },
);

test("a program that hangs is ended in time, with all it has started", async () => {
  await using home = await temporaryHome();
  const server = await guarded(() => true);
  const pid = home.path("pid");
  const command = { command: "sh", args: ["-c", `sleep 600 & echo $! > ${pid}; wait`], timeoutMs: 500 };
  home.write({ mcp: { mcpServers: { fake: { url: server.url, headersCommand: command } } } });
  await using session = sessionOf(home);
  await expect(session.listTools("fake")).rejects.toMatchObject({
    category: "timeout",
    message: expect.stringContaining("has not ended within 0.5 s"),
  });
  await until("its end", () => !isAlive(Number(readFileSync(pid, "utf8"))) || undefined);
});

test("an untrusted file of a project runs nothing, and shows exactly what it would run", async () => {
  await using home = await temporaryHome();
  const trap = home.path("trapped");
  const signing = { command: "touch", args: [trap, "b c"], env: { A: "${HOME}" } };
  home.write({
    files: {
      "project/.mcp.json": {
        mcpServers: {
          a: { url: "http://127.0.0.1:9/mcp", headersCommand: `touch ${trap}` },
          b: { url: "http://127.0.0.1:9/mcp", requestHeadersCommand: signing },
        },
      },
    },
  });
  const { servers, untrusted } = loadConfig({ env: home.env(), home: home.home, cwd: home.cwd });
  expect([servers, existsSync(trap)]).toEqual([[], false]);
  const text = (untrusted ?? []).map(describeUntrustedFile).join("\n");
  expect(text).toContain(
    `runs "touch ${trap}" with all variables of your environment, for the headers of the connection`,
  );
  expect(text).toContain(
    `runs touch ${trap} "b c" with all variables of your environment, for the headers of each request`,
  );
  expect(text).toContain("with A=${HOME} for it");
  expect(text).toContain("reads from your environment: HOME");
});

test("with `oauth` as well a 401 that the program cannot mend is the state needs-auth", async () => {
  await using home = await temporaryHome();
  const server = await guarded(() => false);
  const { command } = keyed(home);
  home.write({ mcp: { mcpServers: { fake: { url: server.url, headersCommand: command, oauth: {} } } } });
  await using session = sessionOf(home);
  await expect(session.listTools("fake")).rejects.toThrow(/Run \/mcp-auth login fake/);
  expect(session.status("fake").state).toBe("needs-auth");
});

test.each([
  [{ headersCommand: 5 }, /"headersCommand" must be a command line or an object/],
  [{ requestHeadersCommand: "x" }, /"requestHeadersCommand" must be an object/],
  [{ requestHeadersCommand: {} }, /"requestHeadersCommand" needs "command"/],
  [{ headersCommand: { command: "x", args: "y" } }, /"args" in "headersCommand" must be a list of texts/],
  [{ headersCommand: { command: "x", env: { A: 1 } } }, /"env" in "headersCommand" must be an object of texts/],
  [{ headersCommand: { command: "x", timeoutMs: 0 } }, /"timeoutMs" in "headersCommand" must be a number/],
  [{ headersCommand: "x", requestHeadersCommand: { command: "y" } }, /"headersCommand" is not used, because/],
])("%j is told as a mistake", async (entry, message) => {
  await using home = await temporaryHome({ mcp: { mcpServers: { fake: { url: "https://h/mcp", ...entry } } } });
  const { problems } = loadConfig({ env: home.env(), home: home.home });
  expect(problems.map((problem) => problem.message).join("\n")).toMatch(message);
});
