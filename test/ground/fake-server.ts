import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Home } from "./home.ts";
import type { JournalEntry } from "./journal.ts";
import { parseJournal } from "./journal.ts";
import type { Observed } from "./observed.ts";
import { observe } from "./observed.ts";
import type { ServerScript } from "./script.ts";

export { fakeHttp } from "./http-server.ts";
export type { ServerScript, WireMessage } from "./script.ts";
export { tool } from "./script.ts";

const PROCESS = fileURLToPath(new URL("./stdio-process.ts", import.meta.url));

/** A fake server that whoever is under test starts as a process, as often as it likes. */
export interface FakeStdio extends Observed {
  /** For a configuration file: an absolute path and its arguments. */
  readonly command: string;
  readonly args: readonly string[];
  /** An entry of an `mcpServers` array. */
  entry(name: string, more?: object): { name: string; command: string; args: string[] };
  /** The process of each start, in order. A start that was killed within its first moments is not among them. */
  starts(): number[];
  /** What each start was given; `args` without those of the fake server itself. */
  launches(): { pid: number; cwd: string; args: string[]; env: Record<string, string | undefined> }[];
  grandchildren(): number[];
  /** The whole life of the server: also ends of stdin, signals, exits, lines that were no JSON. */
  journal(): JournalEntry[];
}

let servers = 0;

export function fakeStdio(home: Home, script: ServerScript = {}): Promise<FakeStdio> {
  const base = home.path(`server-${++servers}`);
  const log = `${base}.jsonl`;
  writeFileSync(`${base}.json`, JSON.stringify(script));
  writeFileSync(log, "");
  const command = process.execPath;
  const args = [PROCESS, `${base}.json`, log];
  const journal = (): JournalEntry[] => parseJournal(log);
  const launches = (): (JournalEntry & { type: "start" })[] => journal().filter((entry) => entry.type === "start");
  return Promise.resolve({
    command,
    args,
    entry: (name, more) => ({ name, command, args: [...args], ...more }),
    ...observe(() =>
      journal().flatMap((entry) =>
        entry.type === "message" ? [{ at: entry.at, pid: entry.pid, message: entry.message }] : [],
      ),
    ),
    starts: () => launches().map((entry) => entry.pid),
    launches: () => launches().map(({ pid, cwd, args, env }) => ({ pid, cwd, args, env })),
    grandchildren: () => journal().flatMap((entry) => (entry.type === "grandchild" ? [entry.child] : [])),
    journal,
  });
}
