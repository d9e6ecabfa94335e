import { expect, onTestFinished, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import { recordingProxy } from "../ground/forward-proxy.ts";
import { temporaryHome } from "../ground/home.ts";
import type { Step } from "../ground/script.ts";
import { mcp, sessionOf } from "../session/open.ts";
import { served } from "./served.ts";

const call = { action: "call", server: "fake", tool: "echo" };
const JSON_TYPE = { "content-type": "application/json" };
const rpcError = (code: number, message: string, id: number | null = null) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

const signs: [string, Step][] = [
  [
    "404 -32000",
    { status: 404, headers: JSON_TYPE, body: rpcError(-32000, "Bad Request: No valid session ID provided") },
  ],
  ["400 -32000", { status: 400, headers: JSON_TYPE, body: rpcError(-32000, "Bad Request: Server not initialized") }],
  ["400 in words", { status: 400, body: "No valid session ID" }],
  ["404 with another error", { status: 404, headers: JSON_TYPE, body: '{"error":"unknown"}' }],
  ["-32600 on 200", { error: { code: -32600, message: "Session not found" } }],
  ["-32001 on 200 in a stream", { sse: true, error: { code: -32001, message: "Session expired" } }],
];

test.each(signs)("[E059] a lost session is recognised by %s, and renewed once", async (_, sign) => {
  await using home = await temporaryHome();
  const server = await served({ on: { "tools/call": [{ echo: true }, sign, { echo: true }] } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url, protocolVersion: "2025-11-25" } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(false);
  expect((await mcp(session, call)).isError).toBe(false);
  expect(server.params("initialize")).toHaveLength(2);
  expect(server.params("tools/call")).toHaveLength(3);
});

test.each(signs)("[E059] the same answer is an error where no session id was sent: %s", async (_, sign) => {
  await using home = await temporaryHome();
  const server = await served({ sessions: false, on: { "tools/call": sign } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url, protocolVersion: "2025-11-25" } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(true);
  expect(server.params("initialize")).toHaveLength(1);
  expect(server.params("tools/call")).toHaveLength(1);
});

test("[E286] an error of the server is no loss of the session: two calls, two errors, nothing repeated", async () => {
  await using home = await temporaryHome();
  const server = await served({ on: { "tools/call": { status: 500, body: "Internal Server Error" } } });
  home.write({ mcp: { mcpServers: { fake: { url: server.url, protocolVersion: "2025-11-25" } } } });
  await using session = sessionOf(home);
  for (const _ of [1, 2]) {
    const { text, isError } = await mcp(session, call);
    expect(isError).toBe(true);
    expect(text).toContain("HTTP 500: Internal Server Error");
  }
  expect(server.params("initialize")).toHaveLength(1);
  expect(server.params("tools/call")).toHaveLength(2);
});

test("[E074] the limit of a call covers the body of its answer", async () => {
  await using home = await temporaryHome();
  const stalled: Step = { raw: ['{"jsonrpc":'], silent: true };
  const server = await served({ on: { "tools/call": [stalled, { ...stalled, headers: JSON_TYPE }] } });
  const entry = { url: server.url, requestTimeoutMs: 400, protocolVersion: "2025-11-25" };
  home.write({ mcp: { mcpServers: { fake: entry } } });
  await using session = sessionOf(home);
  for (const _ of [1, 2]) {
    const { text, details } = await mcp(session, call);
    expect(text).toContain("`tools/call` timed out after 0.4s");
    expect(details).toMatchObject({ category: "timeout" });
  }
});

test("the newest of several session ids is the one that counts", async () => {
  await using home = await temporaryHome();
  const renewed: string[] = [];
  const server = await served({
    sessions: false,
    on: {
      initialize: { usual: true, headers: { "mcp-session-id": "first" } },
      "tools/call": [{ echo: true, headers: { "mcp-session-id": "second" } }, { echo: true }],
    },
  });
  home.write({ mcp: { mcpServers: { fake: { url: server.url, protocolVersion: "2025-11-25" } } } });
  await using session = sessionOf(home);
  await mcp(session, call);
  await mcp(session, call);
  for (const { message, headers } of server.received()) {
    if (message?.method === "tools/call") renewed.push(String(headers?.["mcp-session-id"]));
  }
  expect(renewed).toEqual(["first", "second"]);
});

test("[S2-59] the session's environment says which proxy is used, and this machine is reached without one", async () => {
  const near = await served();
  const far = await served();
  const proxy = await recordingProxy(far.port);
  onTestFinished(() => proxy.close());
  await using home = await temporaryHome({ env: { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: "" } });
  home.write({ mcp: { mcpServers: { near: { url: near.url }, far: { url: "http://mcp.example.test/mcp" } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, { ...call, server: "near" })).isError).toBe(false);
  expect(proxy.requests()).toEqual([]);
  expect((await mcp(session, { ...call, server: "far" })).isError).toBe(false);
  expect(proxy.requests()[0]).toMatchObject({ method: "POST", target: "http://mcp.example.test/mcp" });
});

test("[E091] a server process gets the variables for proxies and authorities", async () => {
  const variables = {
    HTTPS_PROXY: "http://127.0.0.1:9",
    https_proxy: "http://127.0.0.1:9",
    NO_PROXY: "localhost",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "/none/ca.pem",
    SSL_CERT_FILE: "/none/ca.pem",
    SSL_CERT_DIR: "/none",
    REQUESTS_CA_BUNDLE: "/none/ca.pem",
  };
  await using home = await temporaryHome({ env: { ...variables, OWN_API_KEY: "not for servers" } });
  const server = await fakeStdio(home);
  home.write({ mcp: { mcpServers: { fake: { ...server.entry("fake"), inheritEnv: "safe" } } } });
  await using session = sessionOf(home);
  await mcp(session, call);
  expect(server.launches()[0]?.env).toMatchObject(variables);
  expect(server.launches()[0]?.env).not.toHaveProperty("OWN_API_KEY");
});

test("[S2-53] what a person or a model reads of a failure holds no address, header or credential", async () => {
  const refusing = await served({
    on: { "*": { status: 401, headers: { "www-authenticate": "Bearer" }, body: "no" } },
  });
  await using home = await temporaryHome();
  const headers = { Authorization: "Bearer t0ken-value" };
  const urls = {
    refused: "http://me:hunter22@127.0.0.1:9/private?key=k3y-in-query",
    unknown: "http://me:hunter22@sec.invalid/private?key=k3y-in-query",
    denied: `${refusing.url}?key=k3y-in-query`,
  };
  const env = { NO_PROXY: "*" };
  home.write({
    env,
    mcp: { mcpServers: Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { url, headers }])) },
  });
  await using session = sessionOf(home);
  for (const name of Object.keys(urls)) {
    const { text, isError } = await mcp(session, { ...call, server: name });
    expect(isError).toBe(true);
    expect(text).not.toMatch(/hunter22|k3y-in-query|t0ken-value|sec\.invalid|127\.0\.0\.1|private|https?:/);
  }
});
