import type { PromptArgument } from "../protocol/types.ts";

/** A word of a command line. */
interface Word {
  readonly text: string;
  /** White space before it. */
  readonly gap: string;
  /** Where it begins in the line, without the white space. */
  readonly start: number;
}

export type PromptArguments = Readonly<Record<string, string>>;

/** Space, then a name with `=` or none, then a text in quotes or anything up to the next space. */
const WORD = /(\s*)(?:([\w.-]+=)?(?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?=\s|$)|(\S+))/gs;

/**
 * The words of what a person typed. Quotes hold a word together where they stand around the whole of it, or of what follows
 * `name=`; anywhere else, as in `don't`, they are letters.
 */
export function splitWords(line: string): Word[] {
  return [...line.matchAll(WORD)].map(
    ({ 0: all, 1: gap = "", 2: name = "", 3: double, 4: single, 5: plain, index }) => ({
      text: plain ?? name + (double?.replace(/\\(["\\])/g, "$1") ?? single ?? ""),
      gap,
      start: index + all.length - all.trimStart().length,
    }),
  );
}

/** Words that begin on their own, as those of a shell. */
export function wordsOf(texts: readonly string[]): Word[] {
  return texts.map((text, start) => ({ text, gap: " ", start }));
}

/** What is given so far, and where the next word would go. */
export interface Assigned {
  readonly given: PromptArguments;
  /** The argument the next word without a name belongs to; the last one takes all that is left. */
  readonly next: PromptArgument | undefined;
  /** Words that no argument takes. */
  readonly rest: readonly string[];
}

/**
 * Which words are which arguments: `name=value` by its name, others in the order of the arguments that are not named. Text is
 * not code: what is left over after the last argument belongs to it, with the space between, so a sentence needs no quotes.
 */
export function assignWords(args: readonly PromptArgument[], words: readonly Word[]): Assigned {
  const given = new Map<string, string>();
  const others: Word[] = [];
  for (const word of words) {
    const at = word.text.indexOf("=");
    const name = word.text.slice(0, Math.max(at, 0));
    if (at > 0 && args.some((arg) => arg.name === name)) given.set(name, word.text.slice(at + 1));
    else others.push(word);
  }
  const open = args.filter(({ name }) => !given.has(name));
  for (const [at, { text, gap }] of others.entries()) {
    const { name } = open[Math.min(at, open.length - 1)] ?? {};
    if (name === undefined) break;
    given.set(name, at < open.length ? text : `${given.get(name)}${gap}${text}`);
  }
  return {
    given: Object.fromEntries(given),
    next: open[Math.min(others.length, open.length - 1)],
    rest: open.length === 0 ? others.map(({ text }) => text) : [],
  };
}

/** The arguments that must be given and are not. */
export function missingArguments(args: readonly PromptArgument[], given: PromptArguments): PromptArgument[] {
  return args.filter(({ name, required }) => required && (given[name] ?? "") === "");
}

/** How the arguments are written: `<city> [state]`. */
export function argumentUsage(args: readonly PromptArgument[]): string {
  return args.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}
