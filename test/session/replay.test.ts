import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readAcpServers } from "../../src/config/acp.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { LoadedConfig, Origin } from "../../src/config/record.ts";
import type { McpServerError } from "../../src/error.ts";
import { createSession } from "../../src/session/create-session.ts";
import { fakeHttp, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import type { Observed } from "../ground/observed.ts";
import type { Step } from "../ground/script.ts";
import { until } from "../ground/wait.ts";

/** What a tool says of itself. `unlisted`: it says that it is safe, but nobody has asked. */
const DECLARED = {
  unlisted: { readOnlyHint: true },
  silent: undefined,
  readOnly: { readOnlyHint: true },
  idempotent: { idempotentHint: true },
  destructive: { destructiveHint: true },
  both: { destructiveHint: true, idempotentHint: true },
} as const;
type Declared = keyof typeof DECLARED;
const ALL = Object.keys(DECLARED) as Declared[];

interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
}

function configOf(home: Home, origin: Origin, entries: Readonly<Record<string, Entry>>): LoadedConfig {
  const list = Object.entries(entries).map(([name, entry]) => ({ name, ...entry }));
  if (origin === "acp") {
    return readAcpServers(
      list.map((entry) => (entry.url ? { type: "http", headers: [], ...entry } : { env: [], ...entry })),
    );
  }
  // Asking a server for its era costs time and is none of this.
  const mcpServers = Object.fromEntries(
    list.map(({ name, ...entry }) => [name, { protocolVersion: "2025-06-18", ...entry }]),
  );
  home.write(origin === "settings" ? { settings: { mcpServers: list } } : { mcp: { mcpServers } });
  return loadConfig({ env: home.env(), home: home.home });
}

interface Told {
  /** How often the call reached the server. */
  readonly calls: number;
  readonly attempts: number;
  readonly message: string;
  readonly category: string;
}

/** One call to each of six servers whose tools differ in what they say of themselves; every call meets the same failure. */
async function callAll(
  origin: Origin,
  kind: "stdio" | "http",
  step: Step,
  options: { timeoutMs?: number; abort?: true } = {},
): Promise<Record<Declared, Told>> {
  await using home = await temporaryHome();
  const scriptOf = (declared: Declared): ServerScript => ({
    tools: [tool("echo", DECLARED[declared] && { annotations: DECLARED[declared] })],
    on: { "tools/call": step },
  });
  const servers = new Map<Declared, Observed & { entry(name: string): Entry; close?(): Promise<void> }>();
  for (const declared of ALL) {
    const script = scriptOf(declared);
    servers.set(declared, kind === "http" ? await fakeHttp(script) : await fakeStdio(home, script));
  }
  const entries = Object.fromEntries([...servers].map(([declared, server]) => [declared, server.entry(declared)]));
  const session = createSession(configOf(home, origin, entries), { env: home.env(), cwd: home.cwd });
  const tell = async (declared: Declared): Promise<[Declared, Told]> => {
    if (declared !== "unlisted") await session.listTools(declared);
    const abort = new AbortController();
    const { timeoutMs } = options;
    const called = session.callTool(declared, "echo", {}, { signal: abort.signal, ...(timeoutMs && { timeoutMs }) });
    const failed = called.then(
      () => Promise.reject(new Error("It was answered.")),
      (error: McpServerError) => error,
    );
    const server = servers.get(declared) as Observed;
    if (options.abort) await server.until("tools/call").then(() => abort.abort());
    const { attempts, message, category } = await failed;
    // One that was given up may still be on its way.
    await server.until("tools/call");
    return [declared, { calls: server.params("tools/call").length, attempts, message, category }];
  };
  try {
    return Object.fromEntries(await Promise.all(ALL.map(tell))) as Record<Declared, Told>;
  } finally {
    await session.close();
    await Promise.all([...servers.values()].map((server) => server.close?.()));
  }
}

/** How often the call arrived, in the order of `ALL`. */
const counts = (told: Record<Declared, Told>) => ALL.map((declared) => told[declared].calls);
/** For unlisted and silent tools, for those that are declared safe, for those that are declared destructive. */
const expected = (undeclared: number, safe: number, destructive: number) => [
  ...[undeclared, undeclared],
  ...[safe, safe],
  ...[destructive, destructive],
];

const FORGOTTEN: Step = { status: 404, error: { code: -32001, message: "Session not found" } };

// What each server's default rule makes of a call that fails each time.
describe.each<[Origin, Record<"died" | "reset" | "known", number[]>]>([
  ["settings", { died: expected(3, 3, 1), reset: expected(3, 3, 1), known: expected(3, 3, 3) }],
  ["mcpjson", { died: expected(1, 2, 1), reset: expected(3, 3, 1), known: expected(3, 3, 3) }],
  ["acp", { died: expected(1, 2, 1), reset: expected(1, 2, 1), known: expected(2, 2, 2) }],
])("a call to a server of origin %s", (origin, { died, reset, known }) => {
  test("that dies under it", async () => {
    const told = await callAll(origin, "stdio", { exit: 3 });
    expect(counts(told)).toEqual(died);
    for (const { calls, attempts, message, category } of Object.values(told)) {
      expect([attempts, category]).toEqual([calls, "connection"]);
      expect(message).toContain("its process exited with code 3");
      expect(message).toContain(
        calls === 1 ? "may have run; it was not repeated" : `may have run up to ${calls} times (tried ${calls} times)`,
      );
    }
  });

  test("that resets its connection while the session lives", async () => {
    const told = await callAll(origin, "http", { destroy: true });
    expect(counts(told)).toEqual(reset);
    for (const { calls, message } of Object.values(told)) {
      expect(message).toContain(
        calls === 1 ? "may have run; it was not repeated" : `may have run up to ${calls} times`,
      );
    }
  });

  test("whose gateway has lost it", async () => {
    expect(counts(await callAll(origin, "http", { status: 502, body: "" }))).toEqual(reset);
  });

  test("that died before it was sent runs it once, and nobody notices", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, { tools: [tool("echo", { annotations: DECLARED.destructive })] });
    const config = configOf(home, origin, { fake: server.entry("fake") });
    await using session = createSession(config, { env: home.env(), cwd: home.cwd });
    await session.listTools("fake");
    process.kill(server.starts()[0] ?? 0, "SIGKILL");
    await until("the news of its end", () => session.status("fake").state === "stopped" || undefined);
    expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
    expect([server.starts().length, server.params("tools/call").length]).toEqual([2, 1]);
  });

  test("that cannot be reached is tried as often as one that is busy, and runs when it is back", async () => {
    await using home = await temporaryHome();
    const first = await fakeHttp({ tools: [tool("echo", { annotations: DECLARED.destructive })] });
    const config = configOf(home, origin, { fake: first.entry("fake") });
    await using session = createSession(config, { env: home.env(), cwd: home.cwd });
    await session.listTools("fake");
    await first.close();
    // The news that the idle connection is closed has to arrive, or the call goes out on it and may have run.
    await sleep(100);
    const failure = await session.callTool("fake", "echo", {}).catch((error: McpServerError) => error);
    expect(failure).toMatchObject({ attempts: known[0], category: "connection" });
    expect((failure as McpServerError).message).not.toContain("may have run");
    const second = await fakeHttp({}, { port: first.port });
    try {
      expect((await session.callTool("fake", "echo", {})).isError).toBe(false);
      // One that came with the session id of before was turned away, not run.
      const run = second
        .received()
        .filter(({ message }) => message?.method === "tools/call")
        .filter(({ headers }) => second.sessions().includes(headers?.["mcp-session-id"] ?? ""));
      expect(run).toHaveLength(1);
    } finally {
      await session.close();
      await second.close();
    }
  });

  test.each([429, 503])("that is busy (%i)", async (status) => {
    const told = await callAll(origin, "http", { status, body: "" });
    expect(counts(told)).toEqual(known);
    for (const { message } of Object.values(told)) expect(message).not.toContain("may have run");
  });

  test("that forgets each session", async () => {
    const told = await callAll(origin, "http", FORGOTTEN);
    expect(counts(told)).toEqual(origin === "settings" ? expected(3, 3, 3) : expected(2, 2, 2));
    for (const { message } of Object.values(told)) expect(message).not.toContain("may have run");
  });

  test.each<[string, Step]>([
    ["answers with an error", { error: { code: -32603, message: "ECONNRESET socket hang up" } }],
    ["fails inside (500)", { status: 500, body: "" }],
    ["answers with a page", { status: 200, body: "<p>hello</p>", headers: { "content-type": "text/html" } }],
    ["refuses (403)", { status: 403, body: "" }],
    ["wants a login (401)", { status: 401, body: "" }],
  ])("that %s is not repeated", async (_, step) => {
    expect(counts(await callAll(origin, "http", step))).toEqual(expected(1, 1, 1));
  });

  test.each(["stdio", "http"] as const)("that takes too long is not repeated (%s)", async (kind) => {
    const told = await callAll(origin, kind, { silent: true }, { timeoutMs: 300 });
    expect(counts(told)).toEqual(expected(1, 1, 1));
    for (const { category } of Object.values(told)) expect(category).toBe("timeout");
  });

  test.each(["stdio", "http"] as const)("that was cancelled is not repeated (%s)", async (kind) => {
    const told = await callAll(origin, kind, { silent: true }, { abort: true });
    expect(counts(told)).toEqual(expected(1, 1, 1));
    for (const { category } of Object.values(told)) expect(category).toBe("cancelled");
  });
});
