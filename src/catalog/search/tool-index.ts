import type { ToolDefinition } from "../../protocol/types.ts";
import type { ServerFacts } from "./fields.ts";
import { createRanker } from "./rank.ts";
import { createStore, type IndexedServer } from "./store.ts";
import { type SearchWeights, WEIGHTS } from "./weights.ts";

export interface FoundTool {
  readonly server: string;
  readonly tool: ToolDefinition;
  /** Comparable within one answer; 0 when no word of the query is in the tool or its server. */
  readonly score: number;
}

export interface SearchOptions {
  /** Only this server's tools. */
  readonly server?: string;
  /** At most so many tools. 10 unless given. */
  readonly limit?: number;
}

/** The tools of all servers, to be found by what they are for. */
export interface ToolIndex {
  /** Takes a server's tools, in place of those it had. Costs what the one server is big. */
  set(server: ServerFacts, tools: readonly ToolDefinition[]): void;
  /** Does nothing for a server that is not there. */
  remove(server: string): void;
  /**
   * The tools that fit a request best, the best first. A tool whose name is the query comes before all others. Where no
   * word of the query is known, the answer is not empty but some tools of every server, with score 0.
   */
  search(query: string, options?: SearchOptions): FoundTool[];
}

const DEFAULT_LIMIT = 10;

/**
 * BM25F over the texts of tools, with what is special about tools and requests: identifiers are taken apart, values in a
 * request hardly count, a server's own words count for its tools, verbs tell reading from changing, and a request for
 * several things gets the best for each. Needs no model, no network and no file, and gives the same order everywhere.
 */
export function createToolIndex(): ToolIndex {
  return createWeightedIndex(WEIGHTS);
}

/** The same with other weights, for trying them. */
export function createWeightedIndex(weights: SearchWeights): ToolIndex {
  const store = createStore(weights);
  const ranker = createRanker(store, weights);

  function search(query: string, options: SearchOptions = {}): FoundTool[] {
    const limit = Math.max(0, Math.min(Math.floor(options.limit ?? DEFAULT_LIMIT) || 0, store.size()));
    const only = options.server === undefined ? undefined : store.servers.get(options.server);
    if (limit === 0 || (options.server !== undefined && only === undefined)) return [];
    const ranked = ranker.rank(query, limit, only);
    const slots = ranked.length > 0 ? ranked : anyOf(only === undefined ? [...store.servers.values()] : [only], limit);
    return slots.flatMap(({ slot, score }) => {
      const found = store.tools[slot];
      return found === undefined ? [] : [{ server: found.server.name, tool: found.tool, score }];
    });
  }

  return { set: store.set, remove: store.remove, search };
}

/** The first tool of each server, then the second, and so on. */
function anyOf(servers: readonly IndexedServer[], limit: number): { slot: number; score: number }[] {
  const inOrder = [...servers].sort((a, b) => (a.name < b.name ? -1 : 1));
  const slots: { slot: number; score: number }[] = [];
  for (let round = 0; slots.length < limit; round++) {
    const before = slots.length;
    for (const { slots: own } of inOrder) {
      const slot = own[round];
      if (slot !== undefined && slots.length < limit) slots.push({ slot, score: 0 });
    }
    if (slots.length === before) break;
  }
  return slots;
}
