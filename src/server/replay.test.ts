import { describe, expect, it } from "vitest";
import type { ReplayRule } from "../config/record.ts";
import { ProtocolError, RequestCancelled, RequestTimeout, RpcError } from "../protocol/errors.ts";
import type { ToolAnnotations } from "../protocol/types.ts";
import { type Delivery, TransportError, type TransportFailure } from "../transport/transport.ts";
import { type FailedRequest, mayReplay } from "./replay.ts";

const RULES: readonly ReplayRule[] = ["transport", "transient", "declared", "never"];
const SAFE: readonly ToolAnnotations[] = [{ readOnlyHint: true }, { idempotentHint: true }];
const UNSAFE: readonly ToolAnnotations[] = [
  { destructiveHint: true },
  { destructiveHint: true, idempotentHint: true },
  { destructiveHint: true, readOnlyHint: true },
];
const SILENT = [undefined, {}, { readOnlyHint: false }, { destructiveHint: false, openWorldHint: true }];
const ANY = [...SAFE, ...UNSAFE, ...SILENT];

const lost = (delivery: Delivery, failure: TransportFailure = "ended") => new TransportError(failure, "gone", delivery);
const status = (code: number, delivery: Delivery) =>
  new TransportError("status", "no", delivery, { http: { status: code } });
const call = (annotations: ToolAnnotations | undefined, inSession = true): FailedRequest => ({
  isListing: false,
  annotations,
  inSession,
});

/** What the rules say, each with and without a session: in the order of `RULES`. */
function verdicts(failure: unknown, annotations: ToolAnnotations | undefined): string {
  const told = (inSession: boolean) =>
    RULES.map((rule) => (mayReplay(failure, call(annotations, inSession), rule) ? "yes" : "no")).join(" ");
  return `${told(true)} | ${told(false)}`;
}
const ALWAYS = "yes yes yes yes | yes yes yes yes";
const IF_SAFE = "yes yes yes no | yes yes yes no";
const NEVER = "no no no no | no no no no";

describe("a request is sent again", () => {
  it.each([
    lost("not-sent"),
    lost("not-sent", "unreachable"),
    lost("rejected", "session-lost"),
    status(429, "rejected"),
    status(503, "rejected"),
  ])("always when it is known not to have run: %o", (failure) => {
    for (const annotations of ANY) expect(verdicts(failure, annotations)).toBe(ALWAYS);
  });

  it.each([lost("unknown"), status(502, "unknown"), status(504, "unknown")])(
    "after a loss as its tool and its server's rule allow: %o",
    (failure) => {
      for (const annotations of SAFE) expect(verdicts(failure, annotations)).toBe(IF_SAFE);
      for (const annotations of UNSAFE) expect(verdicts(failure, annotations)).toBe(NEVER);
      for (const annotations of SILENT) expect(verdicts(failure, annotations)).toBe("yes yes no no | yes no no no");
      expect(RULES.every((rule) => mayReplay(failure, { isListing: true, inSession: false }, rule))).toBe(true);
    },
  );

  it("once the server has begun, only when its tool says that it is safe", () => {
    for (const annotations of SAFE) expect(verdicts(lost("begun"), annotations)).toBe(IF_SAFE);
    for (const annotations of [...UNSAFE, ...SILENT]) expect(verdicts(lost("begun"), annotations)).toBe(NEVER);
  });

  it.each([
    new RpcError({ code: -32603, message: "connection reset" }),
    new RequestTimeout("tools/call", 1_000),
    new RequestCancelled(),
    new ProtocolError("odd"),
    new Error("ECONNRESET"),
    lost("unknown", "malformed"),
    status(500, "unknown"),
    ...[401, 403, 404, 405, 406, 413, 415].map((code) => status(code, "rejected")),
  ])("never after an answer, a time-out or a cancellation: %o", (failure) => {
    for (const annotations of ANY) expect(verdicts(failure, annotations)).toBe(NEVER);
    expect(RULES.some((rule) => mayReplay(failure, { isListing: true, inSession: true }, rule))).toBe(false);
  });
});
