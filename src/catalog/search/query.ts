import { stem } from "./stem.ts";
import type { SearchWeights } from "./weights.ts";
import { type Intent, intentOf, JOINING_WORDS, STOP_WORDS, WEAK_WORDS } from "./word-lists.ts";
import { wordsOf } from "./words.ts";

/** Characters of a query that are looked at. */
const MAX_QUERY_CHARS = 2_000;
/** Different words of a query that are looked at. */
const MAX_QUERY_WORDS = 48;
export const MAX_CLAUSES = 6;
/** Words at the start that count more. */
const EARLY_WORDS = 3;
/** A clause with fewer words that count is part of the next. */
const CLAUSE_WORDS = 2;
/** Words that count less are no more than a hint. */
export const COUNTING = 0.5;
/** A query of fewer pieces may be the name of a tool and nothing else. */
const SENTENCE_PIECES = 3;
const MAX_EXTENSION_CHARS = 5;
const MAX_NAME_CHARS = 200;

/** What a value says by being there. */
const PATH_WORDS = ["file", "path"];
const ADDRESS_WORDS = ["url"];

export interface QueryWord {
  readonly surface: string;
  readonly term: string;
  readonly weight: number;
  /** In which clauses it stands. */
  readonly clauses: readonly number[];
}

export interface Query {
  readonly words: readonly QueryWord[];
  /** Two terms side by side, with the weight of both. */
  readonly phrases: ReadonlyMap<string, number>;
  /** How many things are asked for, as far as commas and `and` tell. */
  readonly clauses: number;
  readonly intent: Intent | undefined;
  /** Pieces that may be a tool's name, as `nameKey` gives them; the whole query first. */
  readonly names: readonly string[];
}

/** A name without what people leave out or write differently: `read_file`, `readFile` and `Read file` are one. */
export function nameKey(name: string): string {
  let key = "";
  for (const letter of name.slice(0, MAX_NAME_CHARS).normalize("NFKC").toLowerCase()) {
    const code = letter.codePointAt(0) ?? 0;
    if (code > 0x7f || (code >= 97 && code <= 122) || (code >= 48 && code <= 57)) key += letter;
  }
  return key;
}

/** The term for two terms side by side. No word has a space in it. */
export function phraseOf(first: string, second: string): string {
  return `${first} ${second}`;
}

const OPENING = "\"'`“‘«「";
const CLOSING = "\"'`”’»」";
/** May stand before an opening or after a closing quote. */
const AROUND = "([{<>}]),;:.!?";
const CLAUSE_ENDS = ",.;:!?，。；：！？、";

type PieceKind = "words" | "value" | "identifier";

interface Piece {
  readonly text: string;
  readonly kind: PieceKind;
}

/** The pieces between spaces. Values are what a tool is to be called with, and say little about which. */
function piecesOf(query: string): Piece[] {
  const pieces: Piece[] = [];
  let closing = "";
  let start = 0;
  for (let at = 0; at <= query.length; at++) {
    if (at < query.length && !" \n\t\r".includes(query[at] ?? "")) continue;
    const text = query.slice(start, at);
    const first = firstInside(text);
    let inQuotes = closing !== "";
    if (!inQuotes) {
      const quote = OPENING.indexOf(text[first] ?? " ");
      // A quote that never closes is none.
      if (quote >= 0 && query.indexOf(CLOSING[quote] ?? "", start + first + 1) >= 0) {
        closing = CLOSING[quote] ?? "";
        inQuotes = true;
        if (text.indexOf(closing, first + 1) >= 0) closing = "";
      }
    } else if (text.includes(closing)) closing = "";
    if (text !== "")
      pieces.push({ text, kind: inQuotes || isValue(text) ? "value" : isIdentifier(text) ? "identifier" : "words" });
    start = at + 1;
  }
  return pieces;
}

function firstInside(text: string): number {
  let first = 0;
  while (first < text.length && AROUND.includes(text[first] ?? "")) first++;
  return first;
}

function endInside(text: string): number {
  let end = text.length;
  while (end > 0 && (AROUND.includes(text[end - 1] ?? "") || CLOSING.includes(text[end - 1] ?? ""))) end--;
  return end;
}

/** An address, a path, a selector. */
function isValue(text: string): boolean {
  if (text.includes("://") || text.startsWith("~/") || text.startsWith("./") || text.startsWith("../")) return true;
  const first = text[0];
  if ((first === "#" || first === "." || first === "/") && text.length > 2) return true;
  return text.includes("/") && text.lastIndexOf(".", endInside(text) - 1) > 0;
}

/** A name out of a program, or of a file: `new_config`, `notes.md`. */
function isIdentifier(text: string): boolean {
  const end = endInside(text);
  const bar = text.indexOf("_", 1);
  const dot = text.indexOf(".", 1);
  return (bar > 0 && bar < end - 1) || (dot > 0 && dot < end - 1);
}

/** `md` of `/notes/today.md`. */
function extensionOf(text: string): string | undefined {
  const end = endInside(text);
  const dot = text.lastIndexOf(".", end - 1);
  const extension = text.slice(dot + 1, end).toLowerCase();
  if (dot <= 0 || extension === "" || extension.length > MAX_EXTENSION_CHARS) return undefined;
  return wordsOf(extension, MAX_EXTENSION_CHARS)[0] === extension ? extension : undefined;
}

/** Takes a request apart: its words with weights, what stands side by side, its clauses, and what may be a name. */
export function parseQuery(text: string, weights: SearchWeights): Query {
  const query = text.slice(0, MAX_QUERY_CHARS);
  const pieces = piecesOf(query);
  const words = new Map<string, QueryWord & { readonly clauses: number[] }>();
  /** Used when there is nothing else. */
  const stopped = new Map<string, QueryWord>();
  const phrases = new Map<string, number>();
  const names = new Set([nameKey(query)]);
  let intent: Intent | undefined;
  let before: string | undefined;
  let clause = 0;
  let inClause = 0;

  const add = (surface: string, weight: number): void => {
    const term = stem(surface);
    const known = words.get(term);
    if (known === undefined && words.size >= MAX_QUERY_WORDS) return;
    const clauses = known?.clauses ?? [];
    if (!clauses.includes(clause)) clauses.push(clause);
    if (known === undefined || known.weight < weight) words.set(term, { surface, term, weight, clauses });
    if (weight >= COUNTING) inClause++;
  };
  const endClause = (): void => {
    before = undefined;
    if (inClause < CLAUSE_WORDS || clause >= MAX_CLAUSES - 1) return;
    clause++;
    inClause = 0;
  };

  for (const piece of pieces) {
    const kind = piece.kind === "identifier" && pieces.length < SENTENCE_PIECES ? "words" : piece.kind;
    const found = wordsOf(piece.text, MAX_QUERY_CHARS);
    if (found.length > 1) names.add(nameKey(piece.text));
    if (kind === "words") {
      for (const surface of found) {
        if (JOINING_WORDS.has(surface)) endClause();
        const term = stem(surface);
        if (STOP_WORDS.has(surface)) {
          stopped.set(term, { surface, term, weight: 1, clauses: [0] });
          continue;
        }
        intent ??= intentOf(term);
        const weight =
          (WEAK_WORDS.has(surface) ? weights.weak : 1) * (words.size < EARLY_WORDS ? 1 + weights.early : 1);
        add(surface, weight);
        if (before !== undefined && before !== term) phrases.set(phraseOf(before, term), 1);
        before = term;
      }
    } else {
      const extension = piece.text.includes("://") ? undefined : extensionOf(piece.text);
      if (extension !== undefined) add(extension, weights.extension);
      const implied = piece.text.includes("://") ? ADDRESS_WORDS : extension === undefined ? [] : PATH_WORDS;
      for (const word of implied) add(word, weights.implied);
      for (const surface of found) {
        if (!STOP_WORDS.has(surface)) add(surface, kind === "value" ? weights.value : weights.identifier);
      }
      before = undefined;
    }
    if (CLAUSE_ENDS.includes(piece.text.at(-1) ?? "")) endClause();
  }
  names.delete("");
  return {
    words: words.size > 0 ? [...words.values()] : [...stopped.values()],
    phrases,
    clauses: inClause > 0 ? clause + 1 : Math.max(clause, 1),
    intent,
    names: [...names],
  };
}
