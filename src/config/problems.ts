import type { ConfigProblem, FilePosition } from "./record.ts";

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

/** That of two servers of one name, each in a file of its own, this one is not used. */
export function shadowed(server: { name: string; source: FilePosition }, winner: FilePosition): ConfigProblem {
  const { file, line } = winner;
  const message = `Server ${quote(server.name)} is also in ${file}:${line}, which is used instead of this one. Rename or remove one of them.`;
  return { ...server.source, severity: "warning", server: server.name, message };
}

/** File and server names are other people's text: what a terminal would obey or hide becomes `?`. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "?");
}
