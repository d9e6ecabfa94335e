import { readdirSync, readFileSync } from "node:fs";

/** A living process as Linux shows it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** When it started, in ticks since the system did: its number may be given again, but not at the same tick. */
  readonly start: string;
}

/** Of Linux: a living process. `undefined` for one that has ended, a zombie, or where there is no way to know. */
export function lookAtProcess(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is a name in parentheses that may itself hold any character.
    const [state, , group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const start = rest[16];
    if (state === "Z" || state === "X" || start === undefined) return undefined;
    return { pid, group: Number(group), start };
  } catch {
    return undefined;
  }
}

/** Of Linux: all living processes, each looked at when its turn comes; `undefined` where there is no way to know. */
export function livingProcesses(): Iterable<ProcessEntry> | undefined {
  try {
    return lookAtAll(readdirSync("/proc"));
  } catch {
    return undefined;
  }
}

function* lookAtAll(names: readonly string[]): Generator<ProcessEntry> {
  for (const name of names) {
    const entry = /^\d+$/.test(name) ? lookAtProcess(Number(name)) : undefined;
    if (entry) yield entry;
  }
}
