/**
 * Whether the weights are fitted to the queries: they are chosen anew on one half and measured on the other, for many
 * halves. What belongs to one task stays in one half.
 */
import { type SearchWeights, WEIGHTS } from "../src/catalog/search/weights.ts";
import { type BenchQuery, FIGURES, type Figures, judge, mean, type ServerTools } from "./search-data.ts";
import { ours } from "./search-rankers.ts";

const SPLITS = 200;
const FACTORS = [0.5, 0.75, 1.33, 2];

export interface Halves {
  readonly kind: string;
  /** On the half the weights were chosen on. */
  readonly chosenOn: Figures;
  /** On the other half. */
  readonly other: Figures;
}

type Path = readonly string[];

/** Every weight by its way through the record. */
function pathsOf(value: object, before: Path = []): Path[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "number" ? [[...before, key]] : pathsOf(inner as object, [...before, key]),
  );
}

function changed<T extends object>(value: T, [key, ...rest]: Path, factor: number): T {
  if (key === undefined) return value;
  const inner = value[key as keyof T];
  const next = typeof inner === "number" ? inner * factor : changed(inner as object, rest, factor);
  return { ...value, [key]: next };
}

function variants(): SearchWeights[] {
  const paths = pathsOf(WEIGHTS).filter((path) => path.at(-1) !== "usualWords");
  return [WEIGHTS, ...paths.flatMap((path) => FACTORS.map((factor) => changed(WEIGHTS, path, factor)))];
}

/** Every figure of every query under every set of weights, then the choice for each split. */
export function crossValidate(servers: readonly ServerTools[], queries: readonly BenchQuery[]): Halves[] {
  const outcomes = variants().map((weights) => {
    const { rank } = ours(servers, weights);
    return queries.map((query) => judge(rank, query));
  });
  const groups = [...new Set(queries.map(groupOf))];
  const kinds = [...new Set(queries.map(({ kind }) => kind))];
  const chosenOn = new Map<string, Figures[]>(kinds.map((kind) => [kind, []]));
  const other = new Map<string, Figures[]>(kinds.map((kind) => [kind, []]));
  const random = randomFrom(1);
  for (let split = 0; split < SPLITS; split++) {
    const first = new Set(groups.filter(() => random() < 0.5));
    for (const side of [true, false]) {
      const inHalf = queries.map((query) => first.has(groupOf(query)) === side);
      const best = outcomes.reduce((a, b) => (objective(a, queries, inHalf) >= objective(b, queries, inHalf) ? a : b));
      for (const kind of kinds) {
        const of = (half: boolean) => best.filter((_, at) => queries[at]?.kind === kind && inHalf[at] === half);
        if (of(true).length === 0 || of(false).length === 0) continue;
        chosenOn.get(kind)?.push(mean(of(true)));
        other.get(kind)?.push(mean(of(false)));
      }
    }
  }
  return kinds.map((kind) => ({
    kind,
    chosenOn: mean(chosenOn.get(kind) ?? []),
    other: mean(other.get(kind) ?? []),
  }));
}

/** Requests of one task share the beginning of their ids. */
function groupOf({ id }: BenchQuery): string {
  return id.split("-")[0] ?? id;
}

/** Each kind counts the same. */
function objective(outcomes: readonly Figures[], queries: readonly BenchQuery[], inHalf: readonly boolean[]): number {
  let sum = 0;
  for (const kind of new Set(queries.map((query) => query.kind))) {
    const figures = mean(outcomes.filter((_, at) => queries[at]?.kind === kind && inHalf[at] === true));
    for (const figure of FIGURES) sum += figures[figure];
  }
  return sum;
}

/** Numbers from 0 to 1, the same in every run (a linear congruential generator of Numerical Recipes). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
