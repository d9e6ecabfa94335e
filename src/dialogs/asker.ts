import { untilAborted } from "../protocol/pause.ts";

/**
 * How a host puts a question to a person, in a terminal or in an agent's dialogs. Texts are clean and may have several
 * lines. The signal takes the question away; what it resolves to then is of no account.
 */
export interface Asker {
  /** One of the options, of which the first is the one that a stray Enter takes; undefined when it was dismissed. */
  select(text: string, options: readonly string[], signal: AbortSignal): Promise<string | undefined>;
  /** A line of text as it was typed, maybe empty; undefined when it was dismissed. `hint` stands where it is typed. */
  input(text: string, hint: string, signal: AbortSignal): Promise<string | undefined>;
  /** Shows a sentence, and asks nothing. */
  tell(text: string): void;
}

/**
 * One dialog after the other: each has several questions, and those of two must not mix. One that is taken away holds up no
 * other, whatever its host does with it.
 */
export function takeTurns(): <T>(signal: AbortSignal, dialog: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (signal, dialog) => {
    const mine = turn.then(() => {
      signal.throwIfAborted();
      return untilAborted(dialog(), signal);
    });
    turn = mine.catch(() => {});
    return mine;
  };
}

/** Hosts show all options at once, and a screen is not endless. */
const SHOWN_OPTIONS = 12;
const MORE = "More…";

/** Shows many options some at a time, and begins again after the last. */
export async function selectPaged(
  { select }: Asker,
  text: string,
  options: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (options.length <= SHOWN_OPTIONS) return select(text, options, signal);
  for (let start = 0; ; start = start + SHOWN_OPTIONS < options.length ? start + SHOWN_OPTIONS : 0) {
    const answer = await select(text, [...options.slice(start, start + SHOWN_OPTIONS), MORE], signal);
    if (answer !== MORE || signal.aborted) return answer;
  }
}

const NEXT = "Next page";
const BACK = "Back to the question";

/** Shows page after page, as long as the person goes on. */
export async function showPages(asker: Asker, pages: readonly string[], signal: AbortSignal): Promise<void> {
  for (const [index, page] of pages.entries()) {
    const isLast = index === pages.length - 1;
    if ((await asker.select(page, isLast ? [BACK] : [NEXT, BACK], signal)) !== NEXT) return;
  }
}
