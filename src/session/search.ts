import { createToolIndex, type FoundTool, type SearchOptions, type ToolIndex } from "../catalog/search/tool-index.ts";
import type { KnownTools } from "../server/catalogue.ts";
import type { Server } from "../server/server.ts";

export interface SearchAnswer {
  /** The best first; where no word of the request is known, some of what there is, with score 0. */
  readonly found: readonly FoundTool[];
  /** How many tools were looked at. */
  readonly total: number;
  /** Names of the servers whose tools have never been listed, so that nothing was found there. */
  readonly unlisted: readonly string[];
}

export type ToolSearch = (query: string, options?: SearchOptions) => SearchAnswer;

/** A search over the servers there are at the time. What is known of a server is indexed once, with the first search. */
export function createSearch(servers: () => readonly Server[]): ToolSearch {
  let index: ToolIndex | undefined;
  const indexed = new Map<string, KnownTools>();

  return (query, options = {}) => {
    index ??= createToolIndex();
    const all = servers();
    const names = new Set(all.map(({ config }) => config.name));
    for (const name of indexed.keys()) if (!names.has(name)) forget(index, name);
    for (const { config, tools } of all) {
      const { known } = tools;
      if (indexed.get(config.name) === known) continue;
      if (known === undefined) forget(index, config.name);
      else {
        index.set(known.server, known.tools);
        indexed.set(config.name, known);
      }
    }
    const isAsked = ({ config }: Server) => options.server === undefined || config.name === options.server;
    const asked = all.filter(isAsked);
    return {
      found: index.search(query, options),
      total: asked.reduce((sum, { tools }) => sum + (tools.known?.tools.length ?? 0), 0),
      unlisted: asked.filter(({ tools }) => tools.known === undefined).map(({ config }) => config.name),
    };
  };

  function forget(from: ToolIndex, name: string): void {
    from.remove(name);
    indexed.delete(name);
  }
}
