import type { Listing, ListLimit } from "./connection.ts";
import type { JsonObject } from "./types.ts";

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
  { maxItems, maxPages }: ListLimit,
): Promise<Listing<T>> {
  const items: T[] = [];
  const notices: string[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= maxPages; page++) {
    const result = await request(cursor === undefined ? {} : { cursor });
    const values = result[key];
    if (!Array.isArray(values)) notices.push(`the server's list of ${key} is no list`);
    for (const value of Array.isArray(values) ? values : []) {
      const { item, notice } = decode(value);
      if (notice !== undefined) notices.push(notice);
      if (item === undefined) continue;
      if (items.length === maxItems) {
        notices.push(`the server lists more than ${maxItems} ${key}; the rest is left out`);
        return { items, complete: false, notices };
      }
      items.push(item);
    }
    const next = result.nextCursor;
    if (typeof next !== "string" || next === "" || next === cursor) return { items, complete: true, notices };
    cursor = next;
  }
  notices.push(`the server's list of ${key} has more than ${maxPages} pages; the rest is left out`);
  return { items, complete: false, notices };
}
