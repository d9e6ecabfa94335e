import type { ChangingList } from "./client-side.ts";
import type { JsonObject } from "./types.ts";

/** Methods whose results may be kept as long as they say (2026-07-28, server/utilities/caching). */
const CACHEABLE = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
/** A server's day is long enough; longer ones are mistakes. */
const LONGEST_TTL_MS = 24 * 3_600_000;
const MAX_ENTRIES = 200;

/**
 * Results that said how long they hold (`ttlMs`), by method and parameters. It belongs to one connection, so a `private`
 * one is never seen under another authorization. Older revisions say nothing and nothing is kept.
 */
export class ResponseCache {
  /** Raised by every change: what was asked for before one is not kept after it. */
  generation = 0;
  readonly #entries = new Map<string, { readonly result: JsonObject; readonly until: number }>();

  get(method: string, params: JsonObject): JsonObject | undefined {
    const entry = this.#entries.get(keyOf(method, params));
    return entry && entry.until > performance.now() ? entry.result : undefined;
  }

  /** `generation` is that of the moment the request was made. */
  put(method: string, params: JsonObject, result: JsonObject, generation: number): void {
    const { ttlMs } = result;
    if (generation !== this.generation || !CACHEABLE.has(method) || typeof ttlMs !== "number" || !(ttlMs > 0)) return;
    const oldest = this.#entries.size >= MAX_ENTRIES ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(keyOf(method, params), { result, until: performance.now() + Math.min(ttlMs, LONGEST_TTL_MS) });
  }

  /** A list has changed; resources carry their contents with them. */
  forget(list: ChangingList): void {
    this.generation++;
    for (const key of this.#entries.keys()) if (key.startsWith(`${list}/`)) this.#entries.delete(key);
  }
}

function keyOf(method: string, params: JsonObject): string {
  return `${method} ${JSON.stringify(params)}`;
}
