import { stem } from "./stem.ts";

function listOf(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}

/**
 * English words that say nothing about what a tool does: little words, and what a request to a helper is wrapped in
 * ("can you please help me"). Left out of the index and of queries, unless a query has no others.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  listOf(
    "a about above after again all also am an and any are as at be because been before being below between both but by",
    "can could did do does doing don down during each few for from further had has have having he her here hers him his",
    "how i if in into is it its itself just let may me might more most must my no nor not now of off on once only or",
    "other our ours out over own per please s same shall she should so some such t than that the their theirs them then",
    "there these they this those through to too under until up us very via want was we were what when where which while",
    "who whom whose why will with within without would you your yours yourself d ll m re ve",
    "help need needs like using use used able given give gives tell know",
  ),
);

/** Words that narrow nothing down: nearly every tool gives the latest information. They count half. */
export const WEAK_WORDS: ReadonlySet<string> = new Set(
  listOf(
    "latest current recent newest info information data detail details detailed specific specified following related",
    "based various different best top good great main available complete provide including include name named id",
  ),
);

/** After these the next thing that is wanted may begin. */
export const JOINING_WORDS: ReadonlySet<string> = new Set(["and", "then", "also"]);

/** What a request is after: to be told something, or to have something done. */
export type Intent = "reading" | "changing";

const INTENTS: ReadonlyMap<string, Intent> = new Map([
  ...intents("reading", "get fetch retrieve obtain read show view find search query lookup locate list browse check"),
  ...intents("reading", "analyze what which where explain describe compare count"),
  ...intents(
    "changing",
    "create make add generate insert write save store update edit change modify set alter replace",
  ),
  ...intents("changing", "rename delete remove erase clear send post publish upload move copy fill"),
]);

function intents(intent: Intent, words: string): [string, Intent][] {
  return listOf(words).map((word) => [stem(word), intent]);
}

/** The intent a verb speaks of. */
export function intentOf(term: string): Intent | undefined {
  return INTENTS.get(term);
}
