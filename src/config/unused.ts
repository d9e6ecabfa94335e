import { isAbsolute } from "node:path";
import { disabledAt, type Entry } from "./entries.ts";
import { quote, visible } from "./problems.ts";
import type { ConfigProblem, FilePosition, UnusedEntry } from "./record.ts";

/** Why an entry gives no server. `problems` are those of all entries; `editedFile` is what `pi-mcp enable` edits unasked. */
export function unusedEntry(entry: Entry, problems: readonly ConfigProblem[], editedFile: string): UnusedEntry {
  const { name } = entry;
  const off = disabledAt(entry);
  if (off !== undefined) {
    // Not every source is a file, and not every file is edited from there.
    if (!isAbsolute(off.file) || off.file.endsWith(".toml")) return { reason: "disabled", name, source: off };
    const file = off.file === editedFile ? "" : ` --file ${shellWord(off.file)}`;
    return { reason: "disabled", name, source: off, remedy: `pi-mcp enable ${shellWord(name)}${file}` };
  }
  const first = problems.find(({ severity, server }) => severity === "error" && server === name);
  return wrong(name, first ?? { ...entry.source, message: "It cannot be used." });
}

/** The entries that errors name, of a source whose entries are servers as soon as they are read. */
export function wrongEntries(problems: readonly ConfigProblem[]): UnusedEntry[] {
  return problems.flatMap((problem) =>
    problem.severity === "error" && problem.server !== undefined ? [wrong(problem.server, problem)] : [],
  );
}

function wrong(
  name: string,
  { file, line, column, message }: FilePosition & { readonly message: string },
): UnusedEntry {
  const own = `Server ${quote(name)}: `;
  const bare = message.startsWith(own) ? message.slice(own.length) : message;
  return { reason: "wrong", name, source: { file, line, column }, message: bare };
}

/** One for each name that no server has; a mistake says more than a switch, since what has one is meant to be used. */
export function unusedByName(entries: readonly UnusedEntry[], used: ReadonlySet<string>): UnusedEntry[] {
  const byName = new Map<string, UnusedEntry>();
  for (const entry of entries) {
    const earlier = byName.get(entry.name);
    const isBetter = earlier === undefined || (earlier.reason === "disabled" && entry.reason === "wrong");
    if (isBetter && !used.has(entry.name)) byName.set(entry.name, entry);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What is to be said of it after its name, and what to do: `is disabled at FILE:LINE; …`. */
export function describeUnused(entry: UnusedEntry): string {
  const { file, line, column } = entry.source;
  if (entry.reason === "disabled") {
    const how = entry.remedy === undefined ? "take that out to use it" : `\`${entry.remedy}\` switches it on`;
    return `is disabled at ${visible(file)}:${line}; ${how}`;
  }
  const what = visible(entry.message).replace(/\.$/, "");
  return `is left out because of a mistake at ${visible(file)}:${line}:${column}: ${what}`;
}

/** A word of a command line that is shown, as a shell takes it. */
function shellWord(word: string): string {
  const shown = visible(word);
  return /^[\w@%+:,./=~-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
