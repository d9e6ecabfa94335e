import { describe, expect, it } from "vitest";
import { ORIGINS } from "../config/origins.ts";
import { TransportError } from "../transport/transport.ts";
import { type NextTry, pauseMs, Tries } from "./tries.ts";

const broken = new TransportError("ended", "gone", "not-sent");
const forgotten = new TransportError("session-lost", "gone", "rejected");
const busy = (retryAfterMs: number) =>
  new TransportError("status", "busy", "rejected", { http: { status: 429, retryAfterMs } });

function pauses(origin: keyof typeof ORIGINS, ...tries: (NextTry | [NextTry, TransportError])[]) {
  const counted = new Tries(ORIGINS[origin].retry);
  return tries.map((each) => (typeof each === "string" ? counted.next(each, broken) : counted.next(...each)));
}

describe("tries", () => {
  it("[S1-43] pause 100 ms, each time doubled, and at most 1 s", () => {
    const delays = [1, 2, 3, 4, 5, 6].map((attempt) => pauseMs(ORIGINS.settings.retry.pause, attempt));
    expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it("[S3-18] pause 200 ms, then 400 ms", () => {
    expect([1, 2].map((attempt) => pauseMs(ORIGINS.mcpjson.retry.pause, attempt))).toEqual([200, 400]);
  });

  it("of a settings server are three in all, wherever they go", () => {
    expect(pauses("settings", "start", "start", "start")).toEqual([100, 200, undefined]);
    expect(pauses("settings", "anew", "in place", "start")).toEqual([100, 200, undefined]);
  });

  it("of an mcp.json server are three in its session and one in a new one; a start is not tried again", () => {
    expect(pauses("mcpjson", "in place", "in place", "in place")).toEqual([200, 400, undefined]);
    expect(pauses("mcpjson", "in place", "in place", ["anew", forgotten], "anew")).toEqual([200, 400, 0, undefined]);
    expect(pauses("mcpjson", ["anew", forgotten], ["anew", forgotten])).toEqual([0, undefined]);
    expect(pauses("mcpjson", "start")).toEqual([undefined]);
  });

  it("of an editor's server are two in all", () => {
    expect(pauses("acp", "in place", "anew")).toEqual([200, undefined]);
    expect(pauses("acp", ["anew", forgotten], "in place")).toEqual([0, undefined]);
    expect(pauses("acp", "start")).toEqual([undefined]);
  });

  it("wait as long as the server asks, and not at all when that is too long", () => {
    expect(pauses("mcpjson", ["in place", busy(3_000)], ["in place", busy(0)])).toEqual([3_000, 400]);
    expect(pauses("mcpjson", ["in place", busy(11_000)])).toEqual([undefined]);
  });
});
