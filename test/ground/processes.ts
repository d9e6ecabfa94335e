import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** Its arguments, joined by spaces; a process may have overwritten them. */
  readonly command: string;
}

/** Named in the environment of everything a test starts, with a value of its own for each temporary home. */
export const MARKER = "PI_MCP_TEST_RUN";

/**
 * The living processes that belong to a temporary home: those that carry its marker in their environment, and those that
 * name its folder on their command line (a server may have been given a clean environment). On systems without /proc
 * environments cannot be read, and only the command line counts.
 */
export function survivors(marker: string, root: string): ProcessInfo[] {
  const belongs =
    process.platform === "linux"
      ? (info: ProcessInfo) => info.command.includes(root) || hasMarker(info.pid, marker)
      : (info: ProcessInfo) => info.command.includes(root);
  return processes().filter((info) => info.pid !== process.pid && belongs(info));
}

/** False also for a zombie: it has ended, its parent has not asked for the result yet. */
export function isAlive(pid: number): boolean {
  if (process.platform === "linux") return readProcess(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The process group of a living process; 0 when there is none. */
export function groupOf(pid: number | undefined): number {
  return Number(spawnSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim());
}

/** Looks until nothing is left, but not for longer than `timeoutMs`; gives what is still there. */
export async function waitUntilGone(look: () => ProcessInfo[], timeoutMs = 5_000): Promise<ProcessInfo[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const left = look();
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(20);
  }
}

function processes(): ProcessInfo[] {
  if (process.platform !== "linux") return listedByPs();
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
}

/** A process may end between any two looks at it: then it is none. */
function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is a name in parentheses that may itself hold any character.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
    return { pid, parent: Number(parent), command };
  } catch {
    return undefined;
  }
}

function hasMarker(pid: number, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${MARKER}=${marker}`);
  } catch {
    return false;
  }
}

function listedByPs(): ProcessInfo[] {
  const lines = spawnSync("ps", ["-axww", "-o", "pid=,ppid=,stat=,command="], { encoding: "utf8" }).stdout.split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (command === undefined || state?.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), command }];
  });
}
