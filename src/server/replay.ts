import { TransportError } from "../transport/transport.ts";

/**
 * May a request that failed so be sent once more, on a new connection? Only when it is known not to have run: it
 * never left this process because the connection had already ended, or the server answered that it no longer knows
 * the session. Everything else may have run, and a call is never repeated behind anyone's back.
 */
export function mayReplay(failure: unknown): boolean {
  return failure instanceof TransportError && isGone(failure) && failure.delivery !== "unknown";
}

/** Whether the failure means that its connection is of no more use, whatever became of the request. */
export function isGone({ failure, delivery }: TransportError): boolean {
  return failure === "session-lost" || (failure === "ended" && delivery === "not-sent");
}
