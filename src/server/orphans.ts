import { randomUUID } from "node:crypto";
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { livingProcesses, lookAtProcess, type ProcessEntry } from "../proc.ts";
import type { ProcessRecord } from "../transport/process-tree.ts";

/**
 * The variable in every server's environment that tells whose it is. A number of a process is given again; this is not.
 */
export const MARK_VARIABLE = "PI_MCP_AGENT";

/** Between being asked to end and being killed. */
const GRACE_MS = 1_000;

type Known = Pick<ProcessEntry, "pid" | "start">;

/**
 * Who started which servers, in a file per agent: `<pid> <start> <mark>` of the agent, then `<pid> <start>` of each server. A
 * later start finds in it what an agent left that was killed together with its watchdog. Only Linux shows the environment of a
 * process, without which nothing may be ended; on other systems nothing is written.
 */
class OrphanRecord implements ProcessRecord {
  readonly #folder: string;
  readonly mark = randomUUID();
  readonly #servers = new Set<number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Never throws: a record that cannot be kept costs only this protection. */
  started(pid: number): void {
    this.#servers.add(pid);
    const [self, server] = [lookAtProcess(process.pid), lookAtProcess(pid)];
    if (!self || !server) return;
    const head = this.#servers.size > 1 ? "" : `${self.pid} ${self.start} ${this.mark}\n`;
    try {
      mkdirSync(this.#folder, { mode: 0o700, recursive: true });
      if (!isOwn(this.#folder)) return;
      appendFileSync(this.#file, `${head}${server.pid} ${server.start}\n`, { mode: 0o600 });
    } catch {
      // As above.
    }
  }

  ended(pid: number): void {
    this.#servers.delete(pid);
    if (this.#servers.size === 0) remove(this.#file);
  }

  get #file(): string {
    return join(this.#folder, this.mark);
  }
}

const records = new Map<string, OrphanRecord>();

/** This process's record in the folder that the environment names. */
export function orphanRecord(env: NodeJS.ProcessEnv): OrphanRecord {
  const folder = folderFor(env);
  const record = records.get(folder) ?? new OrphanRecord(folder);
  records.set(folder, record);
  return record;
}

/**
 * Ends the servers that killed agents have left, and nothing else: a process counts only if its group is one that such an
 * agent is known to have started, and it bears that agent's mark. Returns at once; never throws.
 */
export function endOrphans(env: NodeJS.ProcessEnv): void {
  const folder = folderFor(env);
  if (process.platform !== "linux" || !isOwn(folder)) return;
  for (const name of list(folder)) {
    const record = readRecord(join(folder, name));
    if (!record || isSame(record.agent)) continue;
    if (signal(record, "SIGTERM") === 0) remove(join(folder, name));
    else killLater(record, join(folder, name));
  }
}

interface Record {
  readonly agent: Known;
  readonly mark: string;
  readonly servers: readonly Known[];
}

function readRecord(file: string): Record | undefined {
  try {
    const [head = "", ...lines] = readFileSync(file, "utf8").trim().split("\n");
    const [pid, start = "", mark = ""] = head.split(" ");
    if (mark.length < 36) return undefined;
    const servers = lines.map((line) => line.split(" ")).map(([pid, start = ""]) => ({ pid: Number(pid), start }));
    return { agent: { pid: Number(pid), start }, mark, servers: servers.filter((server) => server.pid > 1) };
  } catch {
    return undefined;
  }
}

/** How many groups were told. */
function signal({ mark, servers }: Record, name: "SIGTERM" | "SIGKILL"): number {
  const known = new Map(servers.map(({ pid, start }) => [pid, start]));
  const groups = new Set<number>();
  for (const { pid, start, group } of livingProcesses() ?? []) {
    // A leader that started at another time is somebody else with its number.
    const isLeft = known.has(group) && (pid !== group || known.get(group) === start);
    if (isLeft && markOf(pid) === mark) groups.add(group);
  }
  for (const group of groups) {
    try {
      process.kill(-group, name);
    } catch {
      // It has ended meanwhile.
    }
  }
  return groups.size;
}

/** Holds the process for this moment, which only follows a crash. One that is made to end leaves the rest to the next start. */
function killLater(record: Record, file: string): void {
  setTimeout(() => {
    signal(record, "SIGKILL");
    remove(file);
  }, GRACE_MS);
}

/** `pi-mcp` in the folder for what a session of the user keeps while it runs, or in the temporary one. */
function folderFor(env: NodeJS.ProcessEnv): string {
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime !== undefined && isAbsolute(runtime)) return join(runtime, "pi-mcp");
  return join(env.TMPDIR || tmpdir(), `pi-mcp-${userInfo().uid}`);
}

/** Whether the folder is there and this user's alone: others may write into a temporary folder, too. */
function isOwn(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === userInfo().uid && (stat.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The next start tries again.
  }
}

function isSame({ pid, start }: Known): boolean {
  return lookAtProcess(pid)?.start === start;
}

function markOf(pid: number): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    return variables.find((each) => each.startsWith(`${MARK_VARIABLE}=`))?.slice(MARK_VARIABLE.length + 1);
  } catch {
    return undefined;
  }
}
