/** The rankers that are compared, each over the same tools. */
import { existsSync } from "node:fs";
import { createWeightedIndex } from "../src/catalog/search/tool-index.ts";
import { type SearchWeights, WEIGHTS } from "../src/catalog/search/weights.ts";
import { keyOf, type Rank, type ServerTools } from "./search-data.ts";

export interface Ranker {
  readonly rank: Rank;
  /** Takes one server's tools anew; absent where a ranker has no index. */
  readonly update?: (one: ServerTools) => void;
}

export function ours(servers: readonly ServerTools[], weights: SearchWeights = WEIGHTS): Ranker {
  const index = createWeightedIndex(weights);
  for (const { server, tools } of servers) index.set(server, tools);
  return {
    rank: (query, limit) => index.search(query, { limit }).map(({ server, tool }) => keyOf(server, tool.name)),
    update: ({ server, tools }) => index.set(server, tools),
  };
}

interface MiniSearchIndex {
  addAll(documents: readonly object[]): void;
  discardAll(ids: readonly string[]): void;
  search(query: string): readonly { readonly id: string }[];
}

/** As its README begins: fields, and no other setting. */
export async function miniSearch(servers: readonly ServerTools[]): Promise<Ranker> {
  const file = new URL("node_modules/minisearch/dist/es/index.js", import.meta.url);
  if (!existsSync(file)) throw new Error("MiniSearch is not installed. Run: npm ci --prefix bench");
  const { default: MiniSearch } = (await import(file.href)) as { default: new (options: object) => MiniSearchIndex };
  const index = new MiniSearch({ fields: ["name", "description", "server"] });
  const documentsOf = ({ server, tools }: ServerTools): { id: string }[] =>
    tools.map(({ name, description }, at) => ({
      id: `${keyOf(server.name, name)}\0${at}`,
      name,
      description,
      server: server.name,
    }));
  for (const one of servers) index.addAll(documentsOf(one));
  return {
    rank: (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => id.slice(0, id.lastIndexOf("\0"))),
    update: (one) => {
      const documents = documentsOf(one);
      index.discardAll(documents.map(({ id }) => id));
      index.addAll(documents);
    },
  };
}

interface PiDocument {
  readonly name: string;
}

interface PiToolSearch {
  Bm25Ranker: new () => {
    rank(query: string, documents: readonly PiDocument[], limit: number): readonly PiDocument[];
  };
  createToolSearchDocument(tool: object, namespace: object | undefined): PiDocument;
}

/** The ranker of pi's `tool_search`, under the names pi gives to tools of servers. It indexes anew for each query. */
export async function pi(servers: readonly ServerTools[]): Promise<Ranker> {
  const entry = import.meta.resolve("@earendil-works/pi-coding-agent");
  const search = (await import(new URL("extensions/tool-search/tool.js", entry).href)) as PiToolSearch;
  const ranker = new search.Bm25Ranker();
  const keys = new Map<string, string>();
  const documents: PiDocument[] = [];
  for (const { server, tools } of servers) {
    for (const tool of tools) {
      const plain = `mcp__${server.name}__${tool.name}`.replace(/[^A-Za-z0-9_]/g, "_");
      const name = keys.has(plain) ? `${plain}_${keys.size}` : plain;
      keys.set(name, keyOf(server.name, tool.name));
      const { description, inputSchema: parameters } = tool;
      documents.push(search.createToolSearchDocument({ name, description, parameters }, { name: server.name }));
    }
  }
  return { rank: (query, limit) => ranker.rank(query, documents, limit).map(({ name }) => keys.get(name) ?? name) };
}
