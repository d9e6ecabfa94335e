import { existsSync, readFileSync } from "node:fs";
import type { WireMessage } from "./script.ts";

/** What a stdio server notes of its life. */
export type JournalEvent =
  | { type: "start"; cwd: string; args: string[]; env: Record<string, string | undefined> }
  | { type: "message"; message: WireMessage }
  /** A line that is no JSON. */
  | { type: "junk"; text: string }
  | { type: "grandchild"; child: number }
  | { type: "eof" }
  | { type: "signal"; signal: string }
  | { type: "exit"; code: number };

/** `at` in milliseconds since the epoch. */
export type JournalEntry = JournalEvent & { at: number; pid: number };

/** All lines that are whole: the last one may be cut when its writer was killed. */
export function parseJournal(file: string): JournalEntry[] {
  if (!existsSync(file)) return [];
  const entries: JournalEntry[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    try {
      entries.push(JSON.parse(line) as JournalEntry);
    } catch {
      // A cut line, or the empty text after the last one.
    }
  }
  return entries;
}
