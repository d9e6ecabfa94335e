import { spawn } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import tls from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Authority, Identity } from "../ground/certificates.ts";
import { certificateAuthority } from "../ground/certificates.ts";
import type { RecordingProxy } from "../ground/forward-proxy.ts";
import { recordingProxy } from "../ground/forward-proxy.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import type { FakeHttp } from "../ground/http-server.ts";
import { until } from "../ground/wait.ts";
import { call, failureOf, initialize, type Options, openHttp } from "./open.ts";
import { served } from "./served.ts";

let authority: Authority;
let identity: Identity;

beforeAll(() => {
  authority = certificateAuthority();
  identity = authority.issue("localhost", "127.0.0.1", "mcp.example.test");
});

async function proxied(to: FakeHttp, options?: Parameters<typeof recordingProxy>[1]): Promise<RecordingProxy> {
  const proxy = await recordingProxy(to.port, options);
  onTestFinished(() => proxy.close());
  return proxy;
}

async function homeWith(files: Record<string, string>): Promise<Home & { file(name: string): string }> {
  const home = await temporaryHome();
  onTestFinished(() => home.remove());
  for (const [name, content] of Object.entries(files)) writeFileSync(home.path(name), content);
  return { ...home, file: (name) => home.path(name) };
}

/** What comes of an exchange with these options. */
async function exchange(options: Options): Promise<unknown> {
  try {
    await using http = await openHttp(options);
    await http.transport.send(initialize);
    return http.messages;
  } catch (error) {
    return error;
  }
}

const answered = [{ id: 1, result: { serverInfo: {} } }];
const untrusted = { failure: "unreachable", delivery: "not-sent", message: expect.stringContaining("is not trusted") };

describe("[E088] a server whose certificate comes from a private authority", () => {
  test("is not spoken to, whatever the environment says about not looking", async () => {
    const server = await served({}, { tls: identity });
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    expect(await exchange({ url: server.url, env })).toMatchObject(untrusted);
    expect(server.received()).toEqual([]);
  });

  test("is trusted by its own `ca` file, or by one that the session's environment names", async () => {
    const server = await served({}, { tls: identity });
    const home = await homeWith({ "ca.pem": authority.cert, "other.pem": certificateAuthority().cert });
    const ca = home.file("ca.pem");
    const other = home.file("other.pem");
    expect(await exchange({ url: server.url, ca })).toMatchObject(answered);
    expect(await exchange({ url: server.url, ca: other })).toMatchObject(untrusted);
    for (const variable of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]) {
      expect(await exchange({ url: server.url, env: { [variable]: ca } })).toMatchObject(answered);
      expect(await exchange({ url: server.url, ca: other, env: { [variable]: ca } })).toMatchObject(answered);
      const missing = { [variable]: home.file("none.pem") };
      expect(await exchange({ url: server.url, env: missing })).toMatchObject(untrusted);
    }
  });

  test("does not make those untrusted that are trusted everywhere", async () => {
    const server = await served({}, { tls: identity });
    const home = await homeWith({ "ca.pem": authority.cert });
    const created = vi.spyOn(tls, "createSecureContext");
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await exchange({ url: server.url, ca: home.file("ca.pem") })).toMatchObject(answered);
    const trusted = created.mock.calls.flatMap(([options]) => options?.ca ?? []);
    expect(trusted).toEqual(expect.arrayContaining([...tls.rootCertificates.slice(0, 20), authority.cert]));
  });

  test("has to be the one the certificate names", async () => {
    const server = await served({}, { tls: authority.issue("somebody.else.test") });
    const home = await homeWith({ "ca.pem": authority.cert });
    expect(await exchange({ url: server.url, ca: home.file("ca.pem") })).toMatchObject({
      failure: "unreachable",
      message: "the certificate of the server is not valid (ERR_TLS_CERT_ALTNAME_INVALID)",
    });
  });

  test("may ask who we are", async () => {
    const asking = { ...identity, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
    const server = await served({}, { tls: asking });
    const own = authority.issue("me");
    const home = await homeWith({ "ca.pem": authority.cert, "me.pem": own.cert, "me.key": own.key });
    const ca = home.file("ca.pem");
    const shown = { cert: home.file("me.pem"), key: home.file("me.key") };
    expect(await exchange({ url: server.url, ca, ...shown })).toMatchObject(answered);
    expect(await exchange({ url: server.url, ca })).toMatchObject({ name: "TransportError" });
    expect(server.methods()).toEqual(["initialize"]);
  });
});

test("a `ca`, `cert` or `key` file that cannot be used is named by its field, not by its path", async () => {
  const server = await served({}, { tls: identity });
  const home = await homeWith({ "ca.pem": authority.cert, "text.pem": "no pem", "key.pem": authority.issue("x").key });
  const [text, missing] = [home.file("text.pem"), home.file("none.pem")];
  const cases: [Partial<Options>, string][] = [
    [{ ca: missing }, "its `ca` file cannot be read (ENOENT)"],
    [{ ca: text }, "its `ca` file is not in PEM form"],
    [{ cert: missing, key: missing }, "its `cert` file cannot be read (ENOENT)"],
    [
      { cert: home.file("ca.pem"), key: home.file("key.pem") },
      "its `ca`, `cert` and `key` files do not hold what TLS needs",
    ],
  ];
  for (const [options, message] of cases) {
    const failure = await exchange({ url: server.url, ...options });
    expect(failure).toMatchObject({ failure: "unreachable", delivery: "not-sent" });
    expect((failure as Error).message).toContain(message);
    expect((failure as Error).message).not.toContain(home.root);
  }
});

describe("a proxy", () => {
  const url = "http://mcp.example.test/mcp?key=k1";

  test("[S2-59] gets what goes to other hosts, and nothing of what goes to this machine", async () => {
    const server = await served({ getStream: true });
    const proxy = await proxied(server);
    const env = { HTTP_PROXY: proxy.url, https_proxy: proxy.url, ALL_PROXY: proxy.url };
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await exchange({ url: server.url.replace("127.0.0.1", host), env })).toMatchObject(answered);
    }
    expect(proxy.requests()).toEqual([]);
    {
      await using http = await openHttp({ url, env, headers: { "x-api-key": "k" } });
      await http.transport.send(initialize);
      http.transport.listen({});
      await until("the stream", () => server.push({ method: "ping" }) || undefined);
      await http.heard("ping");
    }
    expect(proxy.requests().map(({ method, target }) => `${method} ${target}`)).toEqual([
      `POST ${url}`,
      `GET ${url}`,
      `DELETE ${url}`,
    ]);
    for (const { headers } of proxy.requests()) {
      expect(headers).toMatchObject({ host: "mcp.example.test", "x-api-key": "k" });
    }
  });

  test("is a mere tunnel to an https server, and sees none of its headers", async () => {
    const server = await served({ getStream: true }, { tls: identity });
    const proxy = await proxied(server, { credentials: "me:p@ss" });
    const home = await homeWith({ "ca.pem": authority.cert });
    const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:p%40ss@"), SSL_CERT_FILE: home.file("ca.pem") };
    await using http = await openHttp({ url: "https://mcp.example.test/mcp", env, headers: { "x-api-key": "k" } });
    await http.transport.send(initialize);
    http.transport.listen({});
    await until("the stream", () => server.push({ method: "ping" }) || undefined);
    expect(http.messages).toMatchObject(answered);
    for (const { method, target, headers } of proxy.requests()) {
      expect([method, target]).toEqual(["CONNECT", "mcp.example.test:443"]);
      expect(headers).not.toHaveProperty("x-api-key");
    }
    for (const { headers } of server.received()) expect(headers).not.toHaveProperty("proxy-authorization");
  });

  test("is not asked for hosts that NO_PROXY names", async () => {
    const server = await served();
    const proxy = await proxied(server);
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: "mcp.example.test" };
    vi.spyOn(dns, "lookup").mockImplementation(lookup({ address: "127.0.0.1", family: 4 }));
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await exchange({ url: `http://mcp.example.test:${server.port}/mcp`, env })).toMatchObject(answered);
    expect(proxy.requests()).toEqual([]);
  });

  test("that refuses, or is not there, is told by the name of its variable", async () => {
    const server = await served({}, { tls: identity });
    const strict = await proxied(server, { credentials: "me:hunter2" });
    const closed = await proxied(server, { refuseTunnels: true });
    const dead = { url: "http://127.0.0.1:9" };
    const wrong = { url: strict.url.replace("//", "//me:hunter3@") };
    for (const [proxy, why] of [
      [strict, "wants a user and a password (HTTP 407)"],
      [wrong, "wants a user and a password (HTTP 407)"],
      [closed, "refused the connection (HTTP 403)"],
      [dead, "is not reachable (ECONNREFUSED)"],
    ] as const) {
      const failure = await exchange({ url: "https://mcp.example.test/", env: { HTTPS_PROXY: proxy.url } });
      expect(failure).toMatchObject({
        failure: "unreachable",
        delivery: "not-sent",
        message: `the proxy in HTTPS_PROXY ${why}`,
      });
    }
    for (const [proxy, why] of [
      [strict, "wants a user and a password (HTTP 407)"],
      [dead, "is not reachable (ECONNREFUSED)"],
    ] as const) {
      expect(await exchange({ url, env: { all_proxy: proxy.url } })).toMatchObject({
        failure: "unreachable",
        message: `the proxy in all_proxy ${why}`,
      });
    }
  });
});

/** Answers as `dns.lookup` does when it is asked for all addresses. */
function lookup(...addresses: { address: string; family: number }[]): typeof dns.lookup {
  const answer = (_host: string, _options: unknown, callback: (error: null, found: typeof addresses) => void) =>
    callback(null, addresses);
  return answer as unknown as typeof dns.lookup;
}

/**
 * A port of `::1` at which a connection is neither taken nor refused: a process that listens, has a full queue, and does
 * nothing else.
 */
async function blackHole(port: number): Promise<void> {
  const sleep = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120_000)";
  const code = `require("net").createServer().listen({ port: ${port}, host: "::1", backlog: 1 }, () => {
    require("fs").writeSync(1, "up"); ${sleep}; });`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const fillers: Socket[] = [];
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy();
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  await once(child.stdout, "data");
  for (;;) {
    const filler = connect({ host: "::1", port }).on("error", () => {});
    fillers.push(filler);
    const taken = once(filler, "connect").then(
      () => true,
      () => true,
    );
    if (!(await Promise.race([taken, new Promise<boolean>((resolve) => setTimeout(resolve, 300, false))]))) return;
  }
}

describe("a host with an address that is dead", () => {
  test("[E089] is reached at its other one without a long wait", async () => {
    const server = await served();
    await blackHole(server.port);
    vi.spyOn(dns, "lookup").mockImplementation(
      lookup({ address: "::1", family: 6 }, { address: "127.0.0.1", family: 4 }),
    );
    onTestFinished(() => void vi.restoreAllMocks());
    await using http = await openHttp({ url: `http://dual.example.test:${server.port}/mcp`, env: {} });
    // Far less than the limit of one connection, which is where a client ends that tries one address after the other.
    await http.transport.send(initialize, { signal: AbortSignal.timeout(5_000) });
    expect(http.messages).toMatchObject(answered);
  });

  test("does not keep a transport from being closed, nor a request from being given up", async () => {
    const server = await served();
    await blackHole(server.port);
    const http = await openHttp({ url: `http://[::1]:${server.port}/mcp` });
    const abort = new AbortController();
    const givenUp = failureOf(http.transport.send(call(1), { signal: abort.signal }));
    const cut = failureOf(http.transport.send(call(2)));
    abort.abort();
    expect(await givenUp).toMatchObject({ name: "TransportError" });
    await http.transport.close();
    expect(await cut).toMatchObject({ name: "TransportError" });
  });
});

test("[S2-53] no failure tells an address, a header or a credential", async () => {
  const secrets = ["hunter2", "k3y-in-query", "t0ken", "sec.invalid", "/private/path"];
  const unauthorized = await served({
    on: { "*": { status: 401, headers: { "www-authenticate": "Bearer" }, body: "no" } },
  });
  const secure = await served({}, { tls: identity });
  const tail = "/private/path?key=k3y-in-query";
  const urls = [
    `http://me:hunter2@127.0.0.1:9${tail}`,
    `http://me:hunter2@sec.invalid${tail}`,
    `https://me:hunter2@127.0.0.1:${secure.port}${tail}`,
    `http://me:hunter2@127.0.0.1:${secure.port}${tail}`,
    `http://me:hunter2@127.0.0.1:${unauthorized.port}/mcp?key=k3y-in-query`,
    `me:hunter2@sec.invalid${tail}`,
  ];
  for (const url of urls) {
    const failure = await exchange({ url, headers: { "x-token": "t0ken" } });
    expect(failure).toMatchObject({ name: "TransportError" });
    const { message } = failure as Error;
    for (const secret of secrets) expect(message, url).not.toContain(secret);
    expect(message, url).not.toMatch(/127\.0\.0\.1|x-token/);
  }
});
