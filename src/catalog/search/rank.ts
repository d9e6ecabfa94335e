import { COUNTING, MAX_CLAUSES, parseQuery, type QueryWord } from "./query.ts";
import type { IndexedServer, IndexedTool, Store, Term } from "./store.ts";
import { synonymsOf } from "./synonyms.ts";
import type { SearchWeights } from "./weights.ts";

/** Tools looked at again after the first ranking. */
const CANDIDATES = 60;
/** The first tools, whose kin is preferred. */
const KIN_OF = 10;
/** Tools of one server that are no crowd; and in a request for several things. */
const CROWD_FREE = 4;
const CROWD_FREE_MANY = 3;
/** Unknown words of a query for which similar ones are looked for: each takes a look at every word there is. */
const MAX_LOOKED_UP = 12;
/** Where the rarity of all words that no tool has stops counting. */
const MAX_UNKNOWN = 15;

export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

/** One way to say a word of the query. */
interface Said {
  readonly term: Term;
  readonly weight: number;
}

export interface Ranker {
  /** The best tools first, at most `limit`; none when no word of the query is known. */
  rank(query: string, limit: number, only: IndexedServer | undefined): Ranked[];
}

/** How much a word found `count` times among `total` says (BM25's idf, never negative). */
function rarity(count: number, total: number): number {
  return Math.log(1 + (total - count + 0.5) / (count + 0.5));
}

export function createRanker(store: Store, weights: SearchWeights): Ranker {
  // One number per tool each, kept between queries and left at zero.
  let totals = new Float64Array(0);
  let best = new Float64Array(0);
  let named = new Float64Array(0);
  let seen = new Float64Array(0);
  let clauseTotals: Float64Array[] = [];
  /** Counts the words of all queries, so that `seen` tells whether a tool was met for this word. */
  let word = 0;
  /** Words looked up in the current query. */
  let lookedUp = 0;

  /** By how many tools have a word; for as long as there are as many tools. */
  let rarities: number[] = [];
  let raritiesOf = -1;

  function rarityOf(term: Term): number {
    if (raritiesOf !== store.size()) {
      rarities = [];
      raritiesOf = store.size();
    }
    const count = term.slots.length;
    rarities[count] ??= rarity(count, raritiesOf);
    return rarities[count] as number;
  }

  function makeRoom(): void {
    if (totals.length >= store.tools.length) return;
    const room = store.tools.length * 2;
    totals = new Float64Array(room);
    best = new Float64Array(room);
    named = new Float64Array(room);
    seen = new Float64Array(room);
    clauseTotals = Array.from({ length: MAX_CLAUSES }, () => new Float64Array(room));
  }

  /** All ways to say a word, itself first. What nobody wrote is taken for what it nearly is. */
  function waysToSay({ term, surface, weight }: QueryWord): {
    readonly ways: readonly Said[];
    readonly isKnown: boolean;
  } {
    const ways: Said[] = [];
    const add = (text: string, share: number): void => {
      const other = store.terms.get(text);
      if (other !== undefined && !ways.some((way) => way.term === other)) {
        ways.push({ term: other, weight: weight * share });
      }
    };
    add(term, 1);
    const isKnown = ways.length > 0;
    for (const { term: other, kind } of synonymsOf(term)) add(other, weights[kind === "same" ? "same" : "synonym"]);
    if (!isKnown && lookedUp++ < MAX_LOOKED_UP)
      for (const near of store.vocabulary.near(surface)) add(near.term, weights[near.kind] * near.share);
    return { ways, isKnown };
  }

  /** Adds to each tool the best of the ways. */
  function addWays(ways: readonly Said[], clauses: readonly Float64Array[], touched: number[]): void {
    word++;
    for (const { term, weight } of ways) {
      if (term.slots.length === 0) continue;
      const scale = weight * rarityOf(term);
      for (let at = 0; at < term.slots.length; at++) {
        const slot = term.slots[at] as number;
        const value = scale * (term.impacts[at] as number);
        let more = value;
        if (seen[slot] !== word) {
          if (totals[slot] === 0) touched.push(slot);
          seen[slot] = word;
          named[slot] = (named[slot] as number) + weight * (term.shares[at] as number);
        } else {
          more -= best[slot] as number;
          if (more <= 0) continue;
        }
        best[slot] = value;
        totals[slot] = (totals[slot] as number) + more;
        for (const clause of clauses) clause[slot] = (clause[slot] as number) + more;
      }
    }
  }

  /** Likewise for what servers say of themselves. */
  function addServerWays(ways: readonly Said[], scores: Map<IndexedServer, number>): void {
    const bests = new Map<IndexedServer, number>();
    for (const { term, weight } of ways) {
      if (term.servers === undefined) continue;
      const scale = weight * rarity(term.servers.size, store.servers.size);
      for (const [server, impact] of term.servers) {
        bests.set(server, Math.max(bests.get(server) ?? 0, scale * impact));
      }
    }
    for (const [server, value] of bests) scores.set(server, (scores.get(server) ?? 0) + value);
  }

  /**
   * The best tool for one of several things asked for should not lose to tools that fit all of them a little. A clause
   * that fits nothing well (thanks, reasons) counts less.
   */
  function addClauses(clauses: readonly Float64Array[], touched: readonly number[], top: number): void {
    const tops = clauses.map((clause) => touched.reduce((most, slot) => Math.max(most, clause[slot] as number), 0));
    const most = Math.max(...tops);
    for (const slot of touched) {
      let share = 0;
      for (const [at, clause] of clauses.entries()) {
        const own = tops[at] as number;
        if (own > 0) share = Math.max(share, ((clause[slot] as number) / own) ** 2 * Math.sqrt(own / most));
        clause[slot] = 0;
      }
      totals[slot] = (totals[slot] as number) + weights.clause * top * share;
    }
  }

  function rank(text: string, limit: number, only: IndexedServer | undefined): Ranked[] {
    makeRoom();
    lookedUp = 0;
    const query = parseQuery(text, weights);
    const touched: number[] = [];
    const serverScores = new Map<IndexedServer, number>();
    const clauses = query.clauses > 1 ? clauseTotals.slice(0, query.clauses) : [];
    let unknown = 0;
    for (const one of query.words) {
      const { ways, isKnown } = waysToSay(one);
      // Of Han and the like, pairs of letters are unknown that are no words.
      if (!isKnown && one.weight >= COUNTING && one.surface < "\x80") unknown += one.weight * rarity(0, store.size());
      addWays(ways, clauses.length > 0 ? one.clauses.map((at) => clauses[at] as Float64Array) : [], touched);
      addServerWays(ways, serverScores);
    }
    for (const [phrase, weight] of query.phrases) {
      const term = store.terms.get(phrase);
      if (term !== undefined) addWays([{ term, weight: weight * weights.phrase }], [], touched);
    }

    for (const slot of touched) {
      const { intent, isOpen } = store.tools[slot] as IndexedTool;
      let score = (totals[slot] as number) * (1 + weights.nameCoverage * Math.min(1, named[slot] as number));
      if (intent !== undefined && query.intent !== undefined && intent !== query.intent) score *= 1 - weights.intent;
      if (isOpen) score += weights.open * Math.min(unknown, MAX_UNKNOWN);
      totals[slot] = score;
      named[slot] = 0;
    }
    for (const [server, score] of serverScores) {
      for (const slot of server.slots) {
        if (totals[slot] === 0) touched.push(slot);
        totals[slot] = (totals[slot] as number) + weights.server * score;
      }
    }
    const top = touched.reduce((most, slot) => Math.max(most, totals[slot] as number), 0);
    if (clauses.length > 0) addClauses(clauses, touched, top);

    const exact = exactOf(query.names, touched);
    const found = bestOf(touched, Math.max(limit, CANDIDATES), exact, only);
    for (const slot of touched) totals[slot] = 0;
    addKin(found);
    return spread(found.sort(before), limit, clauses.length > 0);
  }

  /** Places of the tools named in the query: 2 when the whole query is the name, 1 when a piece of it is. */
  function exactOf(names: readonly string[], touched: number[]): ReadonlyMap<number, number> {
    const exact = new Map<number, number>();
    for (const [at, name] of names.entries()) {
      for (const slot of store.named(name)) {
        if (exact.has(slot)) continue;
        exact.set(slot, at === 0 ? 2 : 1);
        if (totals[slot] === 0) touched.push(slot);
      }
    }
    return exact;
  }

  /** The best so far, and whatever is named. Only these are put in order. */
  function bestOf(
    touched: readonly number[],
    count: number,
    exact: ReadonlyMap<number, number>,
    only: IndexedServer | undefined,
  ): Found[] {
    const slots = only === undefined ? touched : touched.filter((slot) => store.tools[slot]?.server === only);
    let least = Number.NEGATIVE_INFINITY;
    if (slots.length > count) {
      const scores = Float64Array.from(slots, (slot) => totals[slot] as number).sort();
      least = scores[scores.length - count] as number;
    }
    const found: Found[] = [];
    for (const slot of slots) {
      const score = totals[slot] as number;
      const rank = exact.get(slot) ?? 0;
      if (score < least && rank === 0) continue;
      found.push({ slot, entry: store.tools[slot] as IndexedTool, exact: rank, score });
    }
    return found.sort(before).slice(0, count);
  }

  /**
   * What the best tools have in common is what the query is about, in words the query may not have: tools like them
   * gain, odd ones among them do not (pseudo relevance feedback, after Rocchio).
   */
  function addKin(found: readonly Found[]): void {
    const heads = found.slice(0, KIN_OF);
    const sum = heads.reduce((all, { score }) => all + score, 0);
    if (sum <= 0) return;
    for (const { entry, score } of heads) {
      const scale = score ** 2 / sum / lengthOf(entry);
      for (const [at, term] of entry.terms.entries())
        term.mark += scale * rarityOf(term) * (entry.impacts[at] as number);
    }
    const gains = found.map(({ entry }) => {
      let product = 0;
      for (const [at, term] of entry.terms.entries()) {
        if (term.mark !== 0) product += term.mark * rarityOf(term) * (entry.impacts[at] as number);
      }
      return product / lengthOf(entry);
    });
    for (const { entry } of heads) for (const term of entry.terms) term.mark = 0;
    for (const [at, one] of found.entries()) one.score += weights.kin * (gains[at] as number);
  }

  function lengthOf({ terms, impacts }: IndexedTool): number {
    let sum = 0;
    for (const [at, term] of terms.entries()) sum += (rarityOf(term) * (impacts[at] as number)) ** 2;
    return Math.sqrt(sum) || 1;
  }

  /** After its first few, the tools of one server give way to others that are nearly as good. */
  function spread(found: readonly Found[], limit: number, isForMany: boolean): Ranked[] {
    const free = isForMany ? CROWD_FREE_MANY : CROWD_FREE;
    const share = 1 - (isForMany ? weights.crowdMany : weights.crowd);
    const left = [...found];
    const taken = new Map<IndexedServer, number>();
    const result: Ranked[] = [];
    while (result.length < limit && left.length > 0) {
      let best = 0;
      let bestScore = Number.NEGATIVE_INFINITY;
      for (const [at, { entry, exact, score }] of left.entries()) {
        if (exact > 0) {
          best = at;
          break;
        }
        if (score <= bestScore) break;
        const crowd = Math.max(0, (taken.get(entry.server) ?? 0) - free + 1);
        const after = score * share ** crowd;
        if (after <= bestScore) continue;
        best = at;
        bestScore = after;
      }
      const [next] = left.splice(best, 1);
      if (next === undefined) break;
      taken.set(next.entry.server, (taken.get(next.entry.server) ?? 0) + 1);
      result.push({ slot: next.slot, score: next.score });
    }
    return result;
  }

  return { rank };
}

interface Found {
  readonly slot: number;
  readonly entry: IndexedTool;
  /** 2 when the query is its name, 1 when its name is in the query, else 0. */
  readonly exact: number;
  score: number;
}

/** The same order wherever and in whatever order servers joined. */
function before(a: Found, b: Found): number {
  if (a.exact !== b.exact) return b.exact - a.exact;
  if (a.score !== b.score) return b.score - a.score;
  const [left, right] = [a.entry, b.entry];
  if (left.server.name !== right.server.name) return left.server.name < right.server.name ? -1 : 1;
  return left.position - right.position;
}
