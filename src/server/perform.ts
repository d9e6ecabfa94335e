import type { ServerConfig } from "../config/record.ts";
import { McpServerError } from "../error.ts";
import { RequestCancelled, RequestTimeout, RpcError } from "../protocol/errors.ts";
import { pause } from "../protocol/pause.ts";
import type { ToolAnnotations } from "../protocol/types.ts";
import { TransportError } from "../transport/transport.ts";
import { cancelled, type LimitKind, toServerError, triedInVain } from "./failure.ts";
import { type Link, Replaced } from "./link.ts";
import type { Live } from "./live.ts";
import { mayReplay } from "./replay.ts";
import { Tries } from "./tries.ts";

export interface PerformRequest<T> {
  readonly signal?: AbortSignal | undefined;
  /** For a call: what its tool says of itself, asked when the call has failed. Without it the request is a listing. */
  annotations?(): ToolAnnotations | undefined;
  /** Which time limit it runs under; the start's is also that of listings. */
  readonly limit?: LimitKind;
  operate(live: Live): Promise<T>;
}

/** One try: its result, or how it failed and the pause before the next one; no pause: there is none. */
type Outcome<T> =
  | { readonly result: T }
  | { readonly error: McpServerError; readonly waitMs: number | undefined; readonly mayHaveRun: boolean };

/**
 * Runs one operation on a server's connection, again where the replay rule allows it and the retry policy provides for it.
 * Rejects with McpServerError.
 */
export async function perform<T>(link: Link, config: ServerConfig, request: PerformRequest<T>): Promise<T> {
  const { signal } = request;
  const tries = new Tries(config.policy.retry);
  let unanswered = 0;
  let failed: McpServerError | undefined;
  for (;;) {
    const outcome = await attempt(link, config, request, tries).catch((thrown: unknown) => {
      // Another server is not asked for what may have run on this one.
      if (thrown instanceof Replaced && unanswered > 0 && failed)
        throw triedInVain(failed, tries.made - 1, unanswered, config);
      throw thrown;
    });
    if ("result" in outcome) return outcome.result;
    failed = outcome.error;
    if (outcome.mayHaveRun) unanswered++;
    if (outcome.waitMs === undefined) throw triedInVain(outcome.error, tries.made, unanswered, config);
    // Whether it was the link that was closed, the next try tells.
    await pause(outcome.waitMs, signal ? AbortSignal.any([signal, link.closed]) : link.closed).catch(() => {});
    if (signal?.aborted) throw triedInVain(cancelled(config), tries.made, unanswered, config);
  }
}

async function attempt<T>(
  link: Link,
  config: ServerConfig,
  request: PerformRequest<T>,
  tries: Tries,
): Promise<Outcome<T>> {
  const isListing = !request.annotations;
  let live: Live;
  try {
    live = await link.ready(request.signal);
  } catch (thrown) {
    if (!(thrown instanceof McpServerError) || thrown instanceof Replaced) throw thrown;
    const { cause } = thrown;
    const waitMs = cause instanceof TransportError && mayPass(cause) ? tries.next("start", cause) : undefined;
    return { error: thrown, waitMs, mayHaveRun: false };
  }
  live.enter();
  let thrown: unknown;
  try {
    const result = await request.operate(live);
    if (!isListing) link.answered();
    link.release(live);
    return { result };
  } catch (error) {
    thrown = link.why(error);
  }
  if (!isListing && thrown instanceof RpcError) link.answered();
  const inSession = live.transport.hasSession ?? false;
  const error = toServerError(thrown, {
    config,
    redactor: live.redact.errors,
    during: "request",
    limit: request.limit ?? "start",
  });
  const isHeld = link.release(live, { thrown, error, isListing });
  if (!(thrown instanceof TransportError)) {
    // By itself a time-out says enough; beside a lost try it is one more that may have run.
    const isUnknown = thrown instanceof RequestTimeout || thrown instanceof RequestCancelled;
    return { error, waitMs: undefined, mayHaveRun: !isListing && isUnknown && tries.made > 1 };
  }
  const failed = { isListing, inSession, annotations: request.annotations?.() };
  // Over HTTP a listing has been repeated on this connection already.
  const isSpent = isListing && isHeld && live.transport.kind === "http";
  const isAllowed = !isSpent && !link.isClosed && mayReplay(thrown, failed, config.policy.replay);
  return {
    error,
    waitMs: isAllowed ? tries.next(isHeld ? "in place" : "anew", thrown) : undefined,
    mayHaveRun: !isListing && (thrown.delivery === "unknown" || thrown.delivery === "begun"),
  };
}

/** Not where the start was answered: what a server says of itself does not change in a moment. */
function mayPass({ failure }: TransportError): boolean {
  return failure === "unreachable" || failure === "ended" || failure === "malformed";
}
