import { TransportError } from "../transport/transport.ts";
import { pause } from "./pause.ts";
import type { RpcChannel } from "./rpc.ts";

/** Waits before the second and third try of what starts a connection [E287]. */
const DELAYS_MS = [250, 1_000];
/** A server that wants us to wait longer than this is not going to be ready in time. */
const LONGEST_WAIT_MS = 10_000;
/** Statuses of servers that are busy or being replaced. */
export const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Repeats what changes nothing at the server (the handshake, a listing) over HTTP when the failure is of a passing kind:
 * 408, 429, 5xx or a broken connection. Each wait is at least what `Retry-After` says, and none goes beyond the limit.
 */
export async function retrying<T>(
  channel: RpcChannel,
  limits: { remainingMs(): number; signal?: AbortSignal | undefined },
  request: () => Promise<T>,
): Promise<T> {
  for (const delayMs of DELAYS_MS) {
    try {
      return await request();
    } catch (error) {
      const wait = channel.transport.kind === "http" ? waitFor(error, delayMs) : undefined;
      if (wait === undefined || wait > Math.min(LONGEST_WAIT_MS, limits.remainingMs())) throw error;
      await channel.between(limits.signal, (either) => pause(wait, either));
    }
  }
  return request();
}

function waitFor(error: unknown, delayMs: number): number | undefined {
  if (!(error instanceof TransportError)) return undefined;
  if (error.http) return PASSING.has(error.http.status) ? Math.max(delayMs, error.http.retryAfterMs ?? 0) : undefined;
  return error.failure === "ended" ? delayMs : undefined;
}
