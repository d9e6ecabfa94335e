/**
 * `npm run bench:search -- DIR`: how well and how fast tools are found for the requests in DIR (`tools.json`,
 * `queries-dev.jsonl`), beside MiniSearch and pi's own ranker. `--halves` adds the cross-validation of the weights.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type BenchQuery,
  FIGURES,
  type Figures,
  judge,
  manyServers,
  mean,
  readQueries,
  readServers,
  type ServerTools,
} from "./search-data.ts";
import { crossValidate } from "./search-halves.ts";
import { miniSearch, ours, pi, type Ranker } from "./search-rankers.ts";

const MANY = 10_000;
const SHOWN = 5;
const ROUNDS = 3;
const UPDATES = 200;
const HEADINGS = { hit1: "hit@1", hit5: "hit@5", mrr: "MRR", recall10: "recall@10", needs10: "by name" };

/** What `pi-mcp` has to reach on the development queries. */
const TARGETS: readonly (readonly [kind: string, figure: keyof Figures, least: number])[] = [
  ["step", "hit1", 0.57],
  ["step", "hit5", 0.73],
  ["call", "hit1", 0.79],
  ["call", "hit5", 0.97],
  ["task", "needs10", 0.48],
];
const MAX_MS = 1;
const MAX_MS_MANY = 5;
const MAX_GAP = 0.05;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { halves: { type: "boolean" } } });
const [folder] = positionals;
if (folder === undefined || !existsSync(join(folder, "tools.json"))) {
  console.error("Usage: npm run bench:search -- DIR [--halves], where DIR holds tools.json and queries-dev.jsonl");
  process.exit(1);
}
const servers = readServers(folder);
const queries = readQueries(folder);
const kinds = [...new Set(queries.map(({ kind }) => kind))];
const failures: string[] = [];

const size = servers.reduce((sum, { tools }) => sum + tools.length, 0);
console.log(`${queries.length} requests over ${size} tools of ${servers.length} servers, Node ${process.version}\n`);
const rankers: Record<string, Ranker> = {
  "pi-mcp": ours(servers),
  MiniSearch: await miniSearch(servers),
  pi: await pi(servers),
};
for (const [name, { rank }] of Object.entries(rankers)) {
  console.log(`${name.padEnd(12)} ${FIGURES.map((figure) => HEADINGS[figure].padStart(10)).join("")}`);
  for (const kind of kinds) {
    const figures = mean(queries.filter((query) => query.kind === kind).map((query) => judge(rank, query)));
    console.log(`  ${kind.padEnd(10)} ${line(figures)}`);
    if (name === "pi-mcp") check(kind, figures);
  }
}

console.log("\nms of processor  per query  per update of one server");
const many = manyServers(servers, MANY);
const ms = time("pi-mcp", rankers["pi-mcp"], servers);
time("MiniSearch", rankers.MiniSearch, servers);
time("pi", rankers.pi, servers);
console.log(`with ${MANY} tools:`);
const msMany = time("pi-mcp", ours(many), many);
time("MiniSearch", await miniSearch(many), many);
if (ms > MAX_MS) failures.push(`${ms.toFixed(2)} ms per query, at most ${MAX_MS}`);
if (msMany > MAX_MS_MANY) failures.push(`${msMany.toFixed(2)} ms per query with ${MANY} tools, at most ${MAX_MS_MANY}`);

if (values.halves) {
  console.log(
    "\nWeights chosen on one half of the requests (first line), measured on the other (second), mean of 400:",
  );
  for (const { kind, chosenOn, other } of crossValidate(servers, queries)) {
    console.log(`  ${kind.padEnd(10)} ${line(chosenOn)}\n${" ".repeat(13)}${line(other)}`);
    for (const figure of FIGURES) {
      const gap = chosenOn[figure] - other[figure];
      if (gap > MAX_GAP) failures.push(`${kind} ${HEADINGS[figure]}: ${(gap * 100).toFixed(1)} points between halves`);
    }
  }
}

console.log(failures.length === 0 ? "\nEvery target is reached." : `\nNot reached:\n  ${failures.join("\n  ")}`);
process.exitCode = failures.length === 0 ? 0 : 1;

function line(figures: Figures): string {
  return FIGURES.map((figure) => figures[figure].toFixed(3).padStart(10)).join("");
}

function check(kind: string, figures: Figures): void {
  for (const [of, figure, least] of TARGETS) {
    if (of === kind && figures[figure] < least) {
      failures.push(`${kind} ${HEADINGS[figure]}: ${figures[figure].toFixed(3)}, at least ${least}`);
    }
  }
}

/** Time of the processor, since other programs on the machine make a clock's time longer. */
function time(name: string, ranker: Ranker | undefined, all: readonly ServerTools[]): number {
  if (ranker === undefined) return Number.NaN;
  const ask = ({ query }: BenchQuery): unknown => ranker.rank(query, SHOWN);
  const perQuery = msPerItem(queries, ask, name === "pi" ? 1 : ROUNDS);
  const perUpdate = ranker.update && msPerItem(all.slice(0, UPDATES), ranker.update, 1);
  console.log(
    `  ${name.padEnd(12)} ${perQuery.toFixed(3).padStart(10)} ${(perUpdate?.toFixed(3) ?? "-").padStart(11)}`,
  );
  return perQuery;
}

function msPerItem<T>(items: readonly T[], run: (item: T) => unknown, rounds: number): number {
  // For the compiler.
  for (const item of items) run(item);
  const begun = process.cpuUsage();
  for (let round = 0; round < rounds; round++) for (const item of items) run(item);
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000 / (items.length * rounds);
}
