import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ORIGINS } from "../../src/config/origins.ts";
import { RequestClock } from "../../src/protocol/clock.ts";
import { connect } from "../../src/protocol/connect.ts";
import type { JsonRpcMessage } from "../../src/transport/message.ts";
import { memoryTransport } from "../ground/memory-transport.ts";
import { clientInfo } from "./open.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const { startTimeoutMs, callTimeoutMs, protocolVersion } = ORIGINS.settings;

/** How long a promise takes to reject, by the clock of the test, and with what. */
async function rejection(promise: Promise<unknown>): Promise<[afterMs: number, message: string]> {
  const start = performance.now();
  const failed = promise.then(
    () => [0, "(did not reject)"] as [number, string],
    (error: Error) => [performance.now() - start, error.message] as [number, string],
  );
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  return failed;
}

const initialized = (message: JsonRpcMessage): JsonRpcMessage | undefined =>
  "method" in message && message.method === "initialize" && "id" in message
    ? { jsonrpc: "2.0", id: message.id, result: { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: {} } }
    : undefined;

const shake = (reply: (message: JsonRpcMessage) => JsonRpcMessage | undefined, policy = ORIGINS.settings) =>
  connect(async () => memoryTransport(reply), {
    protocolVersion: policy.protocolVersion,
    clientInfo,
    timeoutMs: policy.startTimeoutMs,
    handlers: {},
    onClosed: () => {},
  });

test("[S1-54] initialize, tools/list and tools/call each fail after 30 seconds and say which it was", async () => {
  expect(await rejection(shake(() => undefined))).toEqual([30_000, "`initialize` timed out after 30s"]);
  const connection = await shake(initialized);
  expect(await rejection(connection.listTools({ timeoutMs: startTimeoutMs }))).toEqual([
    30_000,
    "`tools/list` timed out after 30s",
  ]);
  expect(await rejection(connection.callTool("t", {}, { timeoutMs: callTimeoutMs }))).toEqual([
    30_000,
    "`tools/call` timed out after 30s",
  ]);
});

test("[S2-35] [S2-36] a server of an editor has 60 seconds to start, and 120 for a call", async () => {
  const policy = ORIGINS.acp;
  expect(await rejection(shake(() => undefined, policy))).toEqual([60_000, "`initialize` timed out after 60s"]);
  const unknown = (message: JsonRpcMessage): JsonRpcMessage | undefined =>
    "method" in message && message.method === "server/discover" && "id" in message
      ? { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } }
      : initialized(message);
  const connection = await shake(unknown, policy);
  expect(await rejection(connection.callTool("t", {}, { timeoutMs: policy.callTimeoutMs }))).toEqual([
    120_000,
    "`tools/call` timed out after 120s",
  ]);
});

test("[E197] progress for ever is stopped by the limit in all", async () => {
  const transport = memoryTransport(initialized);
  const connection = await connect(async () => transport, {
    protocolVersion,
    clientInfo,
    timeoutMs: startTimeoutMs,
    handlers: {},
    onClosed: () => {},
  });
  const call = rejection(connection.callTool("t", {}, { timeoutMs: 1_000 }));
  const progress = setInterval(() => {
    const params = { progressToken: 2, progress: 1 };
    transport.deliver({ jsonrpc: "2.0", method: "notifications/progress", params });
  }, 500);
  const [afterMs, message] = await call;
  expect(message).toBe("`tools/call` timed out after 60s in all, for all its progress");
  expect(Math.round(afterMs / 100) * 100).toBe(60_000);
  clearInterval(progress);
});

test("a clock ends at its limit, later by each progress, at sixty limits in all, and not while it is paused", async () => {
  let expired = 0;
  const make = () => new RequestClock(1_000, () => expired++);
  const plain = make();
  plain.start();
  await vi.advanceTimersByTimeAsync(999);
  expect(expired).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(expired).toBe(1);

  const lively = make();
  lively.start();
  for (let elapsed = 0; elapsed < 59_500; elapsed += 500) {
    await vi.advanceTimersByTimeAsync(500);
    lively.progress();
  }
  expect(expired).toBe(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(expired).toBe(2);

  const patient = make();
  patient.start();
  await vi.advanceTimersByTimeAsync(900);
  patient.pause();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(expired).toBe(2);
  patient.start();
  await vi.advanceTimersByTimeAsync(100);
  expect(expired).toBe(3);
});
