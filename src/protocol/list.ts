import type { Listing } from "./connection.ts";
import type { JsonObject } from "./types.ts";

/** What one listing may hold [S1-28, S1-29]: enough for any server met so far, and an end for one that has none. */
const MAX_ITEMS = 512;
const MAX_PAGES = 32;

export interface Decoded<T> {
  readonly item?: T;
  /** Why the item was dropped, or what was mended in it. */
  readonly notice?: string;
}

/**
 * Follows `nextCursor` through all pages of a listing method. Each item is decoded alone, so a bad one costs only
 * itself. A missing, empty or repeated cursor ends it [E181].
 */
export async function listAll<T>(
  request: (params: JsonObject) => Promise<JsonObject>,
  key: string,
  decode: (value: unknown) => Decoded<T>,
): Promise<Listing<T>> {
  const items: T[] = [];
  const notices: string[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const result = await request(cursor === undefined ? {} : { cursor });
    const values = result[key];
    if (!Array.isArray(values)) notices.push(`the server's list of ${key} is no list`);
    for (const value of Array.isArray(values) ? values : []) {
      const { item, notice } = decode(value);
      if (notice !== undefined) notices.push(notice);
      if (item === undefined) continue;
      if (items.length === MAX_ITEMS) {
        notices.push(`the server lists more than ${MAX_ITEMS} ${key}; the rest is left out`);
        return { items, complete: false, notices };
      }
      items.push(item);
    }
    const next = result.nextCursor;
    if (typeof next !== "string" || next === "" || next === cursor) return { items, complete: true, notices };
    cursor = next;
  }
  notices.push(`the server's list of ${key} has more than ${MAX_PAGES} pages; the rest is left out`);
  return { items, complete: false, notices };
}
