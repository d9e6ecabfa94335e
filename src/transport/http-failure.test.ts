import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";
import { describeResponse, excerptOf, retryAfterMs, saysSessionIsGone, statusFailure } from "./http-failure.ts";

function response(statusCode: number, headers: Record<string, string | string[]> = {}): Dispatcher.ResponseData {
  return { statusCode, headers } as Dispatcher.ResponseData;
}

describe("Retry-After", () => {
  const now = Date.parse("Wed, 21 Oct 2026 07:28:00 GMT");

  it.each([
    ["2", 2_000],
    [" 120 ", 120_000],
    ["0", 0],
    ["Wed, 21 Oct 2026 07:28:10 GMT", 10_000],
    ["Wed, 21 Oct 2026 07:27:00 GMT", 0],
    ["-1", undefined],
    ["soon", undefined],
    ["", undefined],
  ])("%j is %s ms", (value, ms) => {
    expect(retryAfterMs(value, now)).toBe(ms);
  });
});

describe("the failure of a status", () => {
  it("carries the status, the wait and every challenge", () => {
    const challenges = ["Basic realm=x", 'Bearer error="insufficient_scope"'];
    expect(statusFailure(response(403, { "www-authenticate": challenges, "retry-after": "3" }), "")).toMatchObject({
      failure: "status",
      delivery: "rejected",
      http: { status: 403, challenges, retryAfterMs: 3_000 },
    });
    expect(statusFailure(response(401, { "www-authenticate": "Bearer" }), "<p>who are you?")).toMatchObject({
      failure: "unauthorized",
      message: "it requires authorization (HTTP 401)",
      http: { status: 401, challenges: ["Bearer"] },
    });
    expect(statusFailure(response(500), "").http).toEqual({ status: 500 });
  });

  it("says whether the request may have run", () => {
    for (const status of [401, 403, 404, 405, 415, 429, 503]) {
      expect(statusFailure(response(status), "").delivery).toBe("rejected");
    }
    for (const status of [400, 409, 500, 502, 504])
      expect(statusFailure(response(status), "").delivery).toBe("unknown");
  });
});

describe("a page", () => {
  it("is quoted as a person would read it, in one line of 200 characters", () => {
    const page =
      '<!doctype html><head><title>Log in</title><style>p { color: red }</style>\n<script>alert("<p>")</script></head>' +
      '<!-- hidden --><body onload="x">\u001b[31mPlease   <b>log in</b>\u0000</body>';
    expect(excerptOf(page)).toBe("Log in Please log in");
    expect(excerptOf("x".repeat(500))).toBe(`${"x".repeat(200)}…`);
  });

  it("gives no address away", () => {
    expect(excerptOf('see <a href="https://h/?key=1">https://u:p@h:8080/mcp?key=1</a> now')).toBe("see (address) now");
  });

  it("is not quoted when it is no text", () => {
    expect(describeResponse(response(200, { "content-type": "image/png" }), "\u0089PNG")).toBe("HTTP 200 (image/png)");
    const json = { "content-type": "application/problem+json; charset=utf-8" };
    expect(describeResponse(response(422, json), '{"title":"no"}')).toBe(
      'HTTP 422 (application/problem+json): {"title":"no"}',
    );
    expect(describeResponse(response(502), "Bad gateway")).toBe("HTTP 502: Bad gateway");
    expect(describeResponse(response(202), "")).toBe("HTTP 202");
  });

  it("is looked at in linear time, whatever it is made of", () => {
    for (const piece of ["<script ", "<!--", "<", "https://", "\u0000 "]) {
      expect(excerptOf(piece.repeat(2_000_000)).length).toBeLessThanOrEqual(201);
    }
  });
});

describe("a session", () => {
  it.each([
    "Session not found",
    "Session ID abc-def not found",
    "Bad Request: No valid session ID provided",
    "Bad Request: Server not initialized",
    "Server has not been initialized: not yet initialized",
    "Invalid session id",
    "invalid MCP session",
    "Unknown session",
    "Session expired",
    "session 5f3a does not exist",
    "The session is no longer valid",
    "Session terminated",
  ])("is gone when a server says %j", (text) => {
    expect(saysSessionIsGone(text)).toBe(true);
  });

  it.each([
    "Invalid params",
    "Unknown tool: session_list",
    "Method not found",
    "Bad Request: Unsupported protocol version",
  ])("is not gone when it says %j", (text) => {
    expect(saysSessionIsGone(text)).toBe(false);
  });
});
