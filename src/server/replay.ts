import type { ReplayRule } from "../config/record.ts";
import type { ToolAnnotations } from "../protocol/types.ts";
import { TransportError } from "../transport/transport.ts";

/** A request that failed, as far as it matters for sending it again. */
export interface FailedRequest {
  /** Whether it only asks; otherwise it is a call. */
  readonly isListing: boolean;
  /** What the tool says of itself; undefined when its server was never asked for its tools, which counts as nothing. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Whether it was sent in an HTTP session that lives on, as far as is known. */
  readonly inSession: boolean;
}

/** Answers by which a server, or what stands before it, says that it is busy: the request was not run. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
/** Answers of what stands before a server that has become silent. */
const GATEWAY: ReadonlySet<number> = new Set([502, 504]);

/**
 * May a request that failed so be sent once more? This is the only place that decides it.
 *
 * - An answer is an answer, also one that is an error or cannot be read; what was cancelled or took too long is over.
 * - Known not to have run (it never left, or the server said so in a way that may pass): yes.
 * - Lost after it was sent: listings yes. A call never if its tool is declared destructive or the server's rule is `never`;
 *   yes if the tool is declared read-only or idempotent; else as the rule says, and no once the server has said that it runs.
 */
export function mayReplay(failure: unknown, request: FailedRequest, rule: ReplayRule): boolean {
  if (!(failure instanceof TransportError)) return false;
  if (failure.delivery === "not-sent") return true;
  if (failure.delivery === "rejected") return failure.failure === "session-lost" || hasStatus(failure, BUSY);
  if (!isLoss(failure)) return false;
  if (request.isListing) return true;
  const { destructiveHint, readOnlyHint, idempotentHint } = request.annotations ?? {};
  if (destructiveHint || rule === "never") return false;
  if (readOnlyHint || idempotentHint) return true;
  if (failure.delivery === "begun") return false;
  return rule === "transport" || (rule === "transient" && request.inSession);
}

/** Whether the failure means that its connection is of no more use, whatever became of the request. */
export function isGone({ failure, delivery }: TransportError): boolean {
  return failure === "session-lost" || (failure === "ended" && delivery === "not-sent");
}

/** Whether the way to the server broke, unlike an answer nobody can read. */
function isLoss(failure: TransportError): boolean {
  if (failure.http) return hasStatus(failure, BUSY) || hasStatus(failure, GATEWAY);
  return failure.failure !== "malformed";
}

function hasStatus({ http }: TransportError, statuses: ReadonlySet<number>): boolean {
  return http !== undefined && statuses.has(http.status);
}
