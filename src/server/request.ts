import type { Progress } from "../protocol/types.ts";

/** How long somebody waits for an answer of a server, and what they want to hear until then. */
export interface ServerRequest {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}
