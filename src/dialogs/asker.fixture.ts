import type { Asker } from "./asker.ts";

/** A person who gives these answers one after the other, and what they were shown. */
export function answering(...answers: readonly (string | undefined)[]) {
  const shown: { text: string; options?: readonly string[]; hint?: string }[] = [];
  const next = () => {
    if (shown.length > answers.length) throw new Error(`Nobody answers: ${shown.at(-1)?.text}`);
    return Promise.resolve(answers[shown.length - 1]);
  };
  const asker: Asker = {
    select: (text, options) => {
      shown.push({ text, options });
      return next();
    },
    input: (text, hint) => {
      shown.push({ text, hint });
      return next();
    },
    tell: () => {},
  };
  return { asker, shown };
}

export const NEVER = new AbortController().signal;
