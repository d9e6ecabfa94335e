/** Each way to say who one is, and that it goes to the origin it is configured for and to no other. */
import { createServer as createPlain, type RequestListener } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { createServer as createTls } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { certificateAuthority } from "../ground/certificates.ts";
import { temporaryHome } from "../ground/home.ts";
import { sessionOf } from "../session/open.ts";

interface Listening {
  listen(port: number, host: string, done: () => void): unknown;
  address(): unknown;
  close(done: () => void): unknown;
}

async function portOf(server: Listening, closeAll: () => void = () => {}): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    closeAll();
    await new Promise<void>((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function plain(listener: RequestListener): Promise<string> {
  const server = createPlain(listener);
  return `http://127.0.0.1:${await portOf(server, () => server.closeAllConnections())}`;
}

const HEADERS = `printf '{"x-key": "planted-key", "Authorization": "Bearer planted-token"}'`;

describe.each([
  ["headers", { headers: { "X-Key": "planted-key" } }],
  ["a variable in headers", { headers: { "X-Key": "${KEY}" } }],
  ["bearerToken", { bearerToken: "planted-token" }],
  ["bearerTokenEnv", { bearerTokenEnv: "TOKEN" }],
  ["a command for a value", { bearerToken: "!echo planted-token" }],
  ["headersCommand", { headersCommand: HEADERS }],
  ["requestHeadersCommand", { requestHeadersCommand: { command: "sh", args: ["-c", HEADERS] } }],
])("%s", (_, entry) => {
  test.each([301, 302, 303, 307, 308])("is sent to its origin and not where it redirects by %i", async (status) => {
    const elsewhere: unknown[] = [];
    const other = await plain((request, response) => {
      elsewhere.push(request.headers);
      response.writeHead(200).end();
    });
    const seen: string[] = [];
    const origin = await plain((request, response) => {
      seen.push(JSON.stringify(request.headers));
      response.writeHead(status, { location: `${other}/mcp` }).end();
    });
    await using home = await temporaryHome({
      mcp: { mcpServers: { fake: { url: `${origin}/mcp`, ...entry } } },
      env: { KEY: "planted-key", TOKEN: "planted-token" },
    });
    await using session = sessionOf(home);
    const error = await session.listTools("fake").catch((thrown: Error) => thrown.message);
    expect(error).toContain("another origin");
    expect(error).not.toContain("planted");
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen) expect(headers).toMatch(/planted-(key|token)/);
    expect(elsewhere).toEqual([]);
  });
});

describe("a client certificate", () => {
  async function certificates() {
    const authority = certificateAuthority();
    const me = authority.issue("me");
    const home = await temporaryHome({
      files: { "~/ca.pem": authority.cert, "~/me.pem": me.cert, "~/me.key": me.key },
    });
    onTestFinished(() => home.remove());
    const asking = {
      ...authority.issue("127.0.0.1"),
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
    };
    const tls = { ca: "~/ca.pem", cert: "~/me.pem", key: "~/me.key" };
    return { home, asking, tls };
  }
  const shownBy = (socket: unknown) => (socket as TLSSocket).getPeerCertificate().subject?.CN;

  test("is shown to its origin and not where that redirects", async () => {
    const { home, asking, tls } = await certificates();
    const shown: unknown[] = [];
    const other = createSecure(asking, (_, response) => response.end());
    other.on("connection", () => shown.push("elsewhere"));
    const otherPort = await portOf(other, () => other.closeAllConnections());
    const server = createSecure(asking, (request, response) => {
      shown.push(shownBy(request.socket));
      response.writeHead(307, { location: `https://127.0.0.1:${otherPort}/mcp` }).end();
    });
    const port = await portOf(server, () => server.closeAllConnections());
    home.write({ mcp: { mcpServers: { fake: { url: `https://127.0.0.1:${port}/mcp`, ...tls } } } });
    await using session = sessionOf(home);
    await expect(session.listTools("fake")).rejects.toThrow(/another origin/);
    expect(new Set(shown)).toEqual(new Set(["me"]));
  });

  test("is not shown to a proxy on the way that asks for one", async () => {
    const { home, asking, tls } = await certificates();
    const shown: unknown[] = [];
    const proxy = createTls(asking, (socket) => {
      shown.push(shownBy(socket));
      socket
        .on("error", () => {})
        .resume()
        .end("HTTP/1.1 403 Forbidden\r\n\r\n", () => socket.destroy());
    });
    const port = await portOf(proxy);
    const env = { HTTPS_PROXY: `https://127.0.0.1:${port}`, NO_PROXY: "" };
    home.write({ mcp: { mcpServers: { fake: { url: "https://mcp.example/mcp", ...tls } } }, env });
    await using session = sessionOf(home);
    await expect(session.listTools("fake")).rejects.toThrow(/refused the connection \(HTTP 403\)/);
    expect(new Set(shown)).toEqual(new Set([undefined]));
  });
});
