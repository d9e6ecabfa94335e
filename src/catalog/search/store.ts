import type { ToolDefinition } from "../../protocol/types.ts";
import { MAX_FIELD_CHARS, type ServerFacts, serverTexts, TOOL_FIELDS, toolTexts } from "./fields.ts";
import { nameKey, phraseOf } from "./query.ts";
import { stem } from "./stem.ts";
import { createVocabulary, type Vocabulary } from "./vocabulary.ts";
import type { FieldWeight, SearchWeights } from "./weights.ts";
import { type Intent, intentOf, STOP_WORDS } from "./word-lists.ts";
import { wordsOf } from "./words.ts";

/** Different terms of one tool, side by side pairs among them: real ones have under 200. */
const MAX_TERMS = 400;
/**
 * Different terms of one server, and of all: ten times what real ones have. What is beyond is not found by that term; so
 * texts made of noise cost no more than this, and one server's noise leaves room for the others.
 */
const MAX_SERVER_TERMS = 20_000;
const MAX_ALL_TERMS = 400_000;
/** Names of a parameter that takes a question in free words. */
const OPEN_PARAMETERS: ReadonlySet<string> = new Set(["query", "q", "keyword", "keywords", "search", "question"]);

/** A term and where it is. */
export interface Term {
  /** Tools that have it, by their place, and for each what it counts there, without the term's rarity. */
  readonly slots: number[];
  readonly impacts: number[];
  /** For each, which part of the tool's name it is, from 0 to 1. */
  readonly shares: number[];
  /** Servers that have it in their own texts, with what it counts there. */
  servers: Map<IndexedServer, number> | undefined;
  readonly isPhrase: boolean;
  /** Room for the ranker. */
  mark: number;
}

export interface IndexedServer {
  readonly name: string;
  readonly slots: readonly number[];
  readonly terms: ReadonlyMap<string, Term>;
  readonly surfaces: ReadonlySet<string>;
}

export interface IndexedTool {
  readonly server: IndexedServer;
  readonly tool: ToolDefinition;
  /** In its server's list. */
  readonly position: number;
  readonly intent: Intent | undefined;
  /** Takes a question in free words. */
  readonly isOpen: boolean;
  readonly terms: readonly Term[];
  readonly impacts: readonly number[];
}

/** What is known of all tools, changed by whole servers. */
export interface Store {
  readonly terms: ReadonlyMap<string, Term>;
  readonly servers: ReadonlyMap<string, IndexedServer>;
  /** By place; places of removed tools are taken again. */
  readonly tools: readonly (IndexedTool | undefined)[];
  readonly vocabulary: Vocabulary;
  /** How many tools there are. */
  size(): number;
  /** Places of the tools that go by a name, as `nameKey` gives it. */
  named(key: string): readonly number[];
  set(server: ServerFacts, tools: readonly ToolDefinition[]): void;
  remove(server: string): void;
}

export function createStore(weights: SearchWeights): Store {
  const terms = new Map<string, Term>();
  const servers = new Map<string, IndexedServer>();
  const tools: (IndexedTool | undefined)[] = [];
  const free: number[] = [];
  const names = new Map<string, number[]>();
  const vocabulary = createVocabulary();
  let size = 0;

  const impactOf = (frequency: number): number =>
    (frequency * (weights.saturation + 1)) / (weights.saturation + frequency);

  /** The term for a text, made where there is none; undefined where there is no more room. */
  function termOf(text: string, used: Map<string, Term>): Term | undefined {
    let term = used.get(text);
    if (term !== undefined) return term;
    if (used.size >= MAX_SERVER_TERMS) return undefined;
    term = terms.get(text);
    if (term === undefined) {
      if (terms.size >= MAX_ALL_TERMS) return undefined;
      term = { slots: [], impacts: [], shares: [], servers: undefined, isPhrase: text.includes(" "), mark: 0 };
      terms.set(text, term);
    }
    used.set(text, term);
    return term;
  }

  function set(facts: ServerFacts, definitions: readonly ToolDefinition[]): void {
    remove(facts.name);
    const surfaces = new Set<string>();
    const slots: number[] = [];
    const used = new Map<string, Term>();
    const server: IndexedServer = { name: facts.name, slots, terms: used, surfaces };

    const own = new Map<string, number>();
    for (const [field, text] of Object.entries(serverTexts(facts))) {
      addWords(own, termsOf(text, surfaces), weights.serverFields[field as keyof typeof weights.serverFields], false);
    }
    for (const [text, frequency] of own) {
      const term = termOf(text, used);
      if (term === undefined) continue;
      term.servers ??= new Map();
      term.servers.set(server, impactOf(frequency));
    }

    for (const [position, tool] of definitions.entries()) {
      const slot = free.pop() ?? tools.length;
      const frequencies = new Map<string, number>();
      const texts = toolTexts(tool);
      for (const field of TOOL_FIELDS) {
        const phrases = field === "name" || field === "title" || field === "lead";
        addWords(frequencies, termsOf(texts[field], surfaces), weights.fields[field], phrases);
      }
      const shares = nameShares(tool.name, own, weights.ownName);
      const listed: Term[] = [];
      const impacts: number[] = [];
      for (const [text, frequency] of frequencies) {
        const term = termOf(text, used);
        if (term === undefined) continue;
        const impact = impactOf(frequency);
        term.slots.push(slot);
        term.impacts.push(impact);
        term.shares.push(shares.get(text) ?? 0);
        if (term.isPhrase) continue;
        listed.push(term);
        impacts.push(impact);
      }
      tools[slot] = {
        server,
        tool,
        position,
        intent: nameIntent(tool.name),
        isOpen: isOpen(tool),
        terms: listed,
        impacts,
      };
      for (const key of namesOf(facts.name, tool.name)) {
        const same = names.get(key);
        if (same === undefined) names.set(key, [slot]);
        else same.push(slot);
      }
      slots.push(slot);
    }
    for (const surface of surfaces) vocabulary.add(surface, stem(surface));
    servers.set(facts.name, server);
    size += slots.length;
  }

  function remove(name: string): void {
    const server = servers.get(name);
    if (server === undefined) return;
    servers.delete(name);
    size -= server.slots.length;
    for (const [text, term] of server.terms) {
      term.servers?.delete(server);
      let kept = 0;
      for (const [at, slot] of term.slots.entries()) {
        if (tools[slot]?.server === server) continue;
        term.slots[kept] = slot;
        term.impacts[kept] = term.impacts[at] ?? 0;
        term.shares[kept] = term.shares[at] ?? 0;
        kept++;
      }
      term.slots.length = kept;
      term.impacts.length = kept;
      term.shares.length = kept;
      if (kept === 0 && !term.servers?.size) terms.delete(text);
    }
    for (const slot of server.slots) {
      const tool = tools[slot]?.tool;
      for (const key of tool === undefined ? [] : namesOf(name, tool.name)) {
        const others = names.get(key)?.filter((other) => other !== slot) ?? [];
        if (others.length > 0) names.set(key, others);
        else names.delete(key);
      }
      tools[slot] = undefined;
      free.push(slot);
    }
    for (const surface of server.surfaces) vocabulary.remove(surface);
  }

  return { terms, servers, tools, vocabulary, size: () => size, named: (key) => names.get(key) ?? [], set, remove };
}

/** The words of a text by their stems; the words themselves go to `surfaces`. */
function termsOf(text: string, surfaces: Set<string>): string[] {
  const terms: string[] = [];
  for (const word of wordsOf(text, MAX_FIELD_CHARS)) {
    if (STOP_WORDS.has(word)) continue;
    if (surfaces.size < MAX_SERVER_TERMS) surfaces.add(word);
    terms.push(stem(word));
  }
  return terms;
}

/** BM25F: what a word counts in each field is added up before it is saturated. */
function addWords(into: Map<string, number>, terms: readonly string[], field: FieldWeight, phrases: boolean): void {
  if (terms.length === 0) return;
  const length = 1 - field.lengthShare + (field.lengthShare * terms.length) / field.usualWords;
  const count = field.weight / length;
  const add = (term: string): void => {
    const known = into.get(term);
    if (known !== undefined || into.size < MAX_TERMS) into.set(term, (known ?? 0) + count);
  };
  for (const [at, term] of terms.entries()) {
    add(term);
    const next = terms[at + 1];
    if (phrases && next !== undefined) add(phraseOf(term, next));
  }
}

/** Which part of a name each of its words is. Words of the server's own texts count less: `git` in `git_log`. */
function nameShares(name: string, own: ReadonlyMap<string, number>, ownWeight: number): Map<string, number> {
  const shares = new Map<string, number>();
  for (const word of wordsOf(name, MAX_FIELD_CHARS)) {
    if (!STOP_WORDS.has(word)) shares.set(stem(word), own.has(stem(word)) ? ownWeight : 1);
  }
  // A name written as one word (`readFile`) counts by its parts.
  if (shares.size > 2) shares.delete(stem(name.toLowerCase()));
  let sum = 0;
  for (const share of shares.values()) sum += share;
  for (const [term, share] of shares) shares.set(term, share / (sum || 1));
  return shares;
}

function nameIntent(name: string): Intent | undefined {
  for (const word of wordsOf(name, MAX_FIELD_CHARS)) {
    const intent = intentOf(stem(word));
    if (intent !== undefined) return intent;
  }
  return undefined;
}

function isOpen(tool: ToolDefinition): boolean {
  const required = tool.inputSchema.required;
  if (!Array.isArray(required)) return false;
  return required.some((name) => typeof name === "string" && OPEN_PARAMETERS.has(name.toLowerCase()));
}

/** How a tool may be named: alone, with its server, and as it is offered to a model. */
function namesOf(server: string, tool: string): Set<string> {
  const own = nameKey(tool);
  const long = nameKey(server) + own;
  return new Set([own, long, `mcp${long}`]);
}
