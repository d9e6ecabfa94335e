import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type FakeChild, fakeChild } from "./child.fixture.ts";
import { StdioTransport } from "./stdio.ts";

/** No such process group can exist: it is above the largest pid of any system. */
const PID = 99_999_999;

let fake: FakeChild;
let spawned: number;

vi.mock("./process-tree.ts", async (importOriginal) => ({
  ...(await importOriginal<typeof import("./process-tree.ts")>()),
  spawnTree: () => {
    spawned++;
    return fake.child;
  },
}));

/** What was sent to the group, in milliseconds after the last `mark`. */
let signals: [signal: unknown, ms: number][];
let begun = 0;
const mark = () => {
  begun = performance.now();
};

beforeEach(() => {
  vi.useFakeTimers();
  fake = fakeChild(PID);
  spawned = 0;
  signals = [];
  vi.spyOn(process, "kill").mockImplementation((_pid, signal) => {
    if (signal === 0) throw Object.assign(new Error("no such group"), { code: "ESRCH" });
    signals.push([signal, performance.now() - begun]);
    if (signal === "SIGKILL") fake.exit(137);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const FAREWELL = { request: "shutdown", notification: "notifications/exit" };

/** An open connection that has answered once, as after `initialize`. */
async function serving(): Promise<StdioTransport> {
  const transport = new StdioTransport({ command: "x", args: [], env: {}, cwd: undefined, farewell: FAREWELL });
  await transport.open({ message: () => {}, lost: () => {}, notice: () => {}, closed: () => {} });
  await transport.send({ jsonrpc: "2.0", id: 7, method: "initialize" });
  fake.says({ jsonrpc: "2.0", id: 7, result: {} });
  await vi.advanceTimersByTimeAsync(1);
  mark();
  return transport;
}

/** How long `close` took, milliseconds. */
async function closed(transport: StdioTransport, withinMs?: number): Promise<number> {
  let ms = Number.NaN;
  const closing = transport.close(withinMs).then(() => {
    ms = performance.now() - begun;
  });
  await vi.advanceTimersByTimeAsync(20_000);
  await closing;
  return ms;
}

const methods = () => fake.written().map((message) => ("method" in message ? message.method : undefined));

describe("a server that is asked to end", () => {
  test("[S1-55] gets 5 s to answer the request, with the next id, and is then told to exit", async () => {
    const transport = await serving();
    const closing = transport.close(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(fake.written().at(-1)).toEqual({ jsonrpc: "2.0", id: 8, method: "shutdown" });
    expect(fake.child.stdin?.writableEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(methods()).toEqual(["initialize", "shutdown", "notifications/exit"]);
    expect(fake.child.stdin?.writableEnded).toBe(true);
    fake.exit(0);
    await closing;
    expect(signals).toEqual([]);
  });

  test.each([
    ["a result", { result: null }],
    ["an error", { error: { code: -32601, message: "Method not found" } }],
  ])("is told to exit as soon as it has answered with %s", async (_name, answer) => {
    const transport = await serving();
    const closing = transport.close();
    await vi.advanceTimersByTimeAsync(10);
    expect(methods()).not.toContain("notifications/exit");
    fake.says({ jsonrpc: "2.0", id: 8, ...answer });
    await vi.advanceTimersByTimeAsync(10);
    expect(methods()).toContain("notifications/exit");
    fake.exit(0);
    await closing;
  });

  test("[S1-56] then gets 2 s to exit before it is signalled and killed", async () => {
    const transport = await serving();
    void transport.close();
    await vi.advanceTimersByTimeAsync(10);
    mark();
    fake.says({ jsonrpc: "2.0", id: 8, result: null });
    await closed(transport);
    expect(methods()).toContain("notifications/exit");
    expect(signals).toEqual([
      ["SIGTERM", 2_000],
      ["SIGKILL", 2_200],
    ]);
  });

  test("[E023] is gone within 3 s, whatever it ignores, when it ends with its session", async () => {
    expect(await closed(await serving())).toBeLessThan(3_000);
    expect(signals.map(([signal]) => signal)).toEqual(["SIGTERM", "SIGKILL"]);
  });

  test("is not waited for when it ends instead of answering", async () => {
    const transport = await serving();
    setTimeout(() => fake.exit(0), 100);
    expect(await closed(transport, Number.POSITIVE_INFINITY)).toBeLessThan(500);
    expect(signals).toEqual([]);
  });

  test("is not asked before it has given a result", async () => {
    const transport = new StdioTransport({ command: "x", args: [], env: {}, cwd: undefined, farewell: FAREWELL });
    await transport.open({ message: () => {}, lost: () => {}, notice: () => {}, closed: () => {} });
    await transport.send({ jsonrpc: "2.0", id: 1, method: "initialize" });
    fake.says({ jsonrpc: "2.0", id: 1, error: { code: -32000, message: "no" } });
    await vi.advanceTimersByTimeAsync(1);
    mark();
    await closed(transport);
    expect(methods()).toEqual(["initialize"]);
    expect(signals.map(([signal]) => signal)).toEqual(["SIGTERM", "SIGKILL"]);
  });
});

test("no second process is started for a connection that is being closed", async () => {
  const transport = new StdioTransport({ command: "x", args: [], env: {}, cwd: undefined, framing: "auto" });
  const told: unknown[] = [];
  await transport.open({ message: () => {}, lost: () => {}, notice: () => {}, closed: (reason) => told.push(reason) });
  fake.exit(1);
  mark();
  await closed(transport);
  expect(spawned).toBe(1);
  expect(told).toEqual([]);
});
