import { describe, expect, test } from "vitest";
import { fakeHttp, fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { connectHttp, connectStdio, discoverResult, modern, patient } from "./open.ts";

const unknown = { error: { code: -32601, message: "Method not found" } };
const META = "io.modelcontextprotocol/";

describe("over stdio", () => {
  test("a modern server is recognised by server/discover and spoken to in its envelope", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, modern({}, { instructions: "be kind" }));
    await using connection = await connectStdio(server, home);
    expect(connection).toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
      serverInfo: { name: "modern", version: "2" },
      instructions: "be kind",
    });
    await connection.callTool("echo", { a: 1 }, patient);
    expect(server.methods()).toEqual(["server/discover", "tools/call"]);
    for (const params of [server.params("server/discover")[0], server.params("tools/call")[0]]) {
      expect(params?._meta).toMatchObject({
        [`${META}protocolVersion`]: "2026-07-28",
        [`${META}clientInfo`]: { name: "test", version: "1" },
        [`${META}clientCapabilities`]: expect.any(Object),
      });
    }
    expect(server.params("tools/call")[0]).toMatchObject({ name: "echo", arguments: { a: 1 } });
  });

  test("an older server answers that it does not know the question, and shakes hands in the same process", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    await using connection = await connectStdio(server, home);
    expect(connection).toMatchObject({ era: "legacy", protocolVersion: "2025-11-25" });
    await server.until("notifications/initialized");
    expect(server.methods()).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(server.starts()).toHaveLength(1);
  });

  test("[E049] a server known to be of the older revisions is not asked", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    await using _ = await connectStdio(server, home, { knownEra: "legacy" });
    expect(server.methods()[0]).toBe("initialize");
  });

  test("[E050] a server that is silent on what it does not know costs two seconds, not its start", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "server/discover": { silent: true } } });
    await using connection = await connectStdio(server, home);
    expect(connection.era).toBe("legacy");
    expect(server.starts()).toHaveLength(1);
    const [asked, shaken] = server.received();
    expect((shaken?.at ?? 0) - (asked?.at ?? 0)).toBeLessThan(4_000);
  });

  test("a server that exits on what it does not know is started once more, for the handshake", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { on: { "server/discover": { exit: 3 } } });
    await using connection = await connectStdio(server, home);
    expect(connection.era).toBe("legacy");
    await server.until("notifications/initialized");
    expect(server.methods()).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(server.starts()).toHaveLength(2);
  });

  test("a server that was older and is now modern contradicts, and is asked", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, modern());
    await using connection = await connectStdio(server, home, { knownEra: "legacy" });
    expect(connection.era).toBe("modern");
    expect(server.methods()).toEqual(["initialize", "server/discover"]);
  });

  test("a server that was modern and is now older shakes hands", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home);
    await using connection = await connectStdio(server, home, { knownEra: "modern" });
    expect(connection.era).toBe("legacy");
  });

  test("[E055] every revision with a handshake is taken as the server answers it", async () => {
    await using home = await temporaryHome();
    for (const protocolVersion of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"]) {
      const server = await fakeStdio(home, { protocolVersion });
      await using connection = await connectStdio(server, home);
      expect(connection.protocolVersion).toBe(protocolVersion);
    }
  });

  test("a revision that is pinned is the only one asked for", async () => {
    await using home = await temporaryHome();
    const old = await fakeStdio(home);
    await using first = await connectStdio(old, home, { protocolVersion: "2025-03-26" });
    expect(first.protocolVersion).toBe("2025-03-26");
    expect(old.methods()[0]).toBe("initialize");
    const newest = await fakeStdio(home, modern());
    await using second = await connectStdio(newest, home, { protocolVersion: "2026-07-28" });
    expect(second.protocolVersion).toBe("2026-07-28");
    const neither = await fakeStdio(home);
    await expect(connectStdio(neither, home, { protocolVersion: "2026-07-28" })).rejects.toThrow("Method not found");
    expect(neither.methods()).toEqual(["server/discover"]);
  });

  test("a refusal that names the revision asked for is asked once more, and no further", async () => {
    await using home = await temporaryHome();
    const refusal = { error: { code: -32022, message: "Unsupported", data: { supported: ["2026-07-28"] } } };
    const once = await fakeStdio(home, modern({ on: { "server/discover": [refusal, { result: discoverResult() }] } }));
    await using connection = await connectStdio(once, home);
    expect(connection.era).toBe("modern");
    const always = await fakeStdio(home, modern({ on: { "server/discover": refusal } }));
    await expect(connectStdio(always, home)).rejects.toThrow();
    expect(always.methods().filter((method) => method === "server/discover").length).toBeLessThanOrEqual(4);
  });
});

describe("over HTTP", () => {
  test("[E056] a modern server is sent the headers of its era, and no session id", async () => {
    const server = await fakeHttp(
      modern({
        on: { "server/discover": { result: discoverResult(), headers: { "mcp-session-id": "none-of-mine" } } },
      }),
    );
    await using connection = await connectHttp(server);
    await connection.callTool("echo", {}, patient);
    await connection.readResource("file:///é.txt", patient).catch(() => {});
    await connection.close();
    await server.close();
    const [discover, call, read, ...more] = server.received();
    expect(more).toEqual([]);
    expect(discover?.headers).toMatchObject({ "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" });
    expect(call?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    });
    expect(read?.headers?.["mcp-name"]).toBe(`=?base64?${Buffer.from("file:///é.txt").toString("base64")}?=`);
    expect([discover, call, read].map((request) => request?.headers?.["mcp-session-id"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ["404 with an error", { status: 404, ...unknown }],
    ["400 in words", { status: 400, body: "Bad Request: no valid session" }],
    ["400 of another SDK", { status: 400, error: { code: -32000, message: "Unsupported protocol version" } }],
    ["405", { status: 405, body: "" }],
    ["500", { status: 500, body: "oops" }],
    ["503", { status: 503, body: "" }],
    ["202 and nothing", { status: 202, body: "" }],
    ["a web page", { status: 200, headers: { "content-type": "text/html" }, body: "<h1>hello</h1>" }],
    ["an empty result", { result: {} }],
    ["[E052] a stream without an event", { endStream: true as const }],
    ["a reset connection", { destroy: true as const }],
  ])("a server that answers the question with %s shakes hands", async (_name, step) => {
    const server = await fakeHttp({ on: { "server/discover": step } });
    try {
      await using connection = await connectHttp(server);
      expect(connection.era).toBe("legacy");
      expect(server.methods()).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    } finally {
      await server.close();
    }
  });

  test("[E053] 401 says nothing about the era", async () => {
    const server = await fakeHttp({
      on: { "server/discover": { status: 401, headers: { "www-authenticate": "Bearer" } } },
    });
    await expect(connectHttp(server)).rejects.toMatchObject({ failure: "unauthorized", http: { status: 401 } });
    expect(server.methods()).toEqual(["server/discover"]);
    await server.close();
  });

  test("a modern server's own refusals are recognised whatever their status", async () => {
    const refusal = { status: 400, error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } };
    const server = await fakeHttp(modern({ on: { "server/discover": [refusal, { result: discoverResult() }] } }));
    await using connection = await connectHttp(server);
    expect(connection.era).toBe("modern");
    await connection.close();
    await server.close();
  });

  test("[E287] what passes is tried again in the handshake, what does not is not", async () => {
    const passing = [408, 429, 500, 502, 503, 504].map(async (status) => {
      const refusal = { status, body: "" };
      const server = await fakeHttp({ on: { initialize: [refusal, refusal, { usual: true }] } });
      await using connection = await connectHttp(server, { knownEra: "legacy" });
      expect(connection.era).toBe("legacy");
      expect(server.params("initialize")).toHaveLength(3);
      await connection.close();
      await server.close();
    });
    await Promise.all(passing);
    for (const status of [401, 403, 410]) {
      const server = await fakeHttp({ on: { initialize: { status, body: "" } } });
      await expect(connectHttp(server, { knownEra: "legacy" })).rejects.toMatchObject({ http: { status } });
      expect(server.params("initialize")).toHaveLength(1);
      await server.close();
    }
  });

  test("[E079] a listing that is asked to wait is asked again", async () => {
    const limited = { status: 429, headers: { "retry-after": "1" }, body: "" };
    const server = await fakeHttp({ on: { "tools/list": [limited, { usual: true }] } });
    await using connection = await connectHttp(server);
    expect((await connection.listTools(patient)).items).toHaveLength(1);
    expect(server.params("tools/list")).toHaveLength(2);
    await connection.close();
    await server.close();
  });
});
