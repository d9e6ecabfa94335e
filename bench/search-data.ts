/** Requests and the tools that serve them, and how well a ranker finds these. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerFacts } from "../src/catalog/search/fields.ts";
import type { JsonObject, ToolDefinition } from "../src/protocol/types.ts";

export interface ServerTools {
  readonly server: ServerFacts;
  readonly tools: readonly ToolDefinition[];
}

export interface BenchQuery {
  readonly id: string;
  readonly kind: string;
  readonly query: string;
  /** Server and tool. */
  readonly relevant: readonly (readonly [string, string])[];
}

/** Gives tools as `keyOf` names them, the best first. */
export type Rank = (query: string, limit: number) => readonly string[];

export function keyOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}

interface ToolLine {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly serverDescription?: string;
}

export function readServers(folder: string): ServerTools[] {
  const lines = JSON.parse(readFileSync(join(folder, "tools.json"), "utf8")) as ToolLine[];
  const byServer = new Map<string, ToolLine[]>();
  for (const line of lines) byServer.set(line.server, [...(byServer.get(line.server) ?? []), line]);
  return [...byServer].map(([name, tools]) => {
    const description = tools[0]?.serverDescription;
    return {
      server: { name, ...(description && { description }) },
      tools: tools.map((tool) => ({
        name: tool.name,
        description: tool.description ?? "",
        inputSchema: tool.inputSchema ?? { type: "object", properties: {} },
        annotations: {},
        raw: {},
      })),
    };
  });
}

export function readQueries(folder: string): BenchQuery[] {
  const lines = readFileSync(join(folder, "queries-dev.jsonl"), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as BenchQuery);
}

/** `count` tools on servers of sizes like the real ones, each server under names of its own. */
export function manyServers(servers: readonly ServerTools[], count: number): ServerTools[] {
  const result: ServerTools[] = [];
  let size = 0;
  for (let copy = 1; ; copy++) {
    for (const { server, tools } of servers) {
      if (size >= count) return result;
      const taken = tools.slice(0, count - size);
      result.push({ server: { ...server, name: `${server.name}-${copy}` }, tools: taken });
      size += taken.length;
    }
  }
}

export interface Figures {
  readonly hit1: number;
  readonly hit5: number;
  readonly mrr: number;
  /** Share of the relevant tools among the first ten, a tool on several servers counted on each. */
  readonly recall10: number;
  /** Likewise, a tool on several servers counted once. */
  readonly needs10: number;
}

const DEPTH = 10;
export const FIGURES = ["hit1", "hit5", "mrr", "recall10", "needs10"] as const;

export function judge(rank: Rank, { query, relevant }: BenchQuery): Figures {
  const wanted = new Set(relevant.map(([server, tool]) => keyOf(server, tool)));
  const names = new Set(relevant.map(([, tool]) => tool));
  const ranked = rank(query, DEPTH);
  const first = ranked.findIndex((key) => wanted.has(key));
  const found = ranked.slice(0, DEPTH).filter((key) => wanted.has(key));
  return {
    hit1: first === 0 ? 1 : 0,
    hit5: first >= 0 && first < 5 ? 1 : 0,
    mrr: first < 0 ? 0 : 1 / (first + 1),
    recall10: found.length / wanted.size,
    needs10: new Set(found.map((key) => key.split("\0")[1])).size / names.size,
  };
}

export function mean(all: readonly Figures[]): Figures {
  const of = (figure: keyof Figures): number => all.reduce((sum, one) => sum + one[figure], 0) / (all.length || 1);
  return { hit1: of("hit1"), hit5: of("hit5"), mrr: of("mrr"), recall10: of("recall10"), needs10: of("needs10") };
}
