import type { ConfigProblem } from "./record.ts";

/** One line as compilers write it, which editors turn into a link: `file:line:column: error: message`. */
export function formatProblem(problem: ConfigProblem): string {
  const { file, line, column, severity, message } = problem;
  return `${visible(file)}:${line}:${column}: ${severity}: ${visible(message)}`;
}

/** A name from a file in quotes, fit for one line of a message. */
export function quote(name: string): string {
  const shown = visible(name);
  return `"${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}"`;
}

/** What was written where one of a few words belongs, if it looks like one; anything else may be a secret that slipped. */
export function quoteWord(written: string): string {
  return /^[A-Za-z][A-Za-z_ -]{0,30}$/.test(written) ? quote(written) : "that is written there";
}

/** File and server names are other people's text: what a terminal would obey or hide becomes `?`, but for the form of an emoji. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu, "?");
}
