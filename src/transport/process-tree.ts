import { type ChildProcess, spawn as spawnPlain, spawnSync } from "node:child_process";
import type { Readable } from "node:stream";
import spawn from "cross-spawn";
import { onExit } from "signal-exit";
import { livingProcesses } from "../proc.ts";
import { Watchdog } from "./watchdog.ts";

/** How long a process may take for each way of being told to end, milliseconds. After both it is killed. */
export interface Grace {
  /** After its stdin was closed. */
  readonly exitMs: number;
  /** After SIGTERM. */
  readonly termMs: number;
}

/** A killed process is gone within moments; one that hangs in the kernel is not waited for. */
const KILL_MS = 400;
/** For what is left of a group whose leader has ended: it may be about to end, too. */
const ORPHANS_MS = 200;
const POLL_MS = 20;
/** For what still lies in the pipe of stderr. Something outside the group may hold it open, which is not waited for. */
const LAST_WORDS_MS = 100;

const isWindows = process.platform === "win32";

export interface SpawnOptions {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string | undefined;
  /** On Windows the arguments are a command line already, and are not quoted. */
  verbatim?: boolean;
  /** Told of each process, and when nothing is left of it and its group. */
  record?: ProcessRecord | undefined;
}

export interface ProcessRecord {
  started(pid: number): void;
  ended(pid: number): void;
}

/** Every tree started here and not yet seen to be gone: what an exit hook has to end. */
const living = new Map<number, ProcessRecord | undefined>();
/** For the end that runs no hook. */
const watchdog = new Watchdog();
let hooksInstalled = false;

/**
 * Starts a process as the leader of its own group, so that whatever it starts itself can be ended with it and a
 * Ctrl-C in the terminal does not reach it. No shell is involved: arguments arrive as they are. On Windows a command
 * that is a batch file (`npx`) needs one, and everything is quoted for it [E031].
 */
export function spawnTree(options: SpawnOptions): ChildProcess {
  installHooks();
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: !isWindows,
    windowsVerbatimArguments: options.verbatim ?? false,
    windowsHide: true,
  });
  if (child.pid !== undefined) {
    living.set(child.pid, options.record);
    options.record?.started(child.pid);
    watchdog.guard(living.keys());
  }
  return child;
}

/**
 * Ends a process and everything in its group: stdin closed, then SIGTERM, then SIGKILL, each with its time.
 * A leader that has already gone does not spare its children [E022]. Windows knows no SIGTERM: there both times are for
 * the closed stdin.
 */
export async function endTree(child: ChildProcess, grace: Grace): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin?.end();
  let isGone = (await exitOf(child, grace.exitMs)) && (await gone(child, pid, ORPHANS_MS));
  if (!isGone) {
    if (!isWindows) signalGroup(pid, "SIGTERM");
    isGone = await gone(child, pid, grace.termMs);
  }
  if (!isGone) {
    if (isWindows) spawnPlain("taskkill", taskkillArgs(pid), TASKKILL_OPTIONS).on("error", () => {});
    else signalGroup(pid, "SIGKILL");
    await gone(child, pid, KILL_MS);
  }
  living.get(pid)?.ended(pid);
  living.delete(pid);
  watchdog.guard(living.keys());
  await readToEnd(child.stderr, LAST_WORDS_MS);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
}

/** Whether the leader has exited; what it started may live on. */
export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits until the leader has exited and its group is empty, at most `limitMs`. */
async function gone(child: ChildProcess, pid: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!hasExited(child) || groupLives(pid)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    // An exit is announced, the end of a group is not.
    if (hasExited(child)) await sleep(Math.min(POLL_MS, left));
    else await exitOf(child, left);
  }
  return true;
}

/** Waits until the leader has exited, at most `limitMs`. */
async function exitOf(child: ChildProcess, limitMs: number): Promise<boolean> {
  if (hasExited(child)) return true;
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      child.off("exit", done);
      resolve(hasExited(child));
    };
    const timer = setTimeout(done, limitMs);
    child.once("exit", done);
  });
}

/** Waits until all of a stream that somebody reads has been read, at most `limitMs`. */
async function readToEnd(stream: Readable | null, limitMs: number): Promise<void> {
  if (!stream?.readableFlowing || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    stream.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function groupLives(pid: number): boolean {
  if (isWindows) return false;
  try {
    process.kill(-pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return process.platform !== "linux" || hasLivingMember(pid);
}

/**
 * Whether a group has a member that is no zombie. In a container the first process often collects no orphans, and their
 * zombies would keep the group for ever.
 */
function hasLivingMember(group: number): boolean {
  const processes = livingProcesses();
  // Nothing more is known than that the group exists.
  if (processes === undefined) return true;
  for (const each of processes) if (each.group === group) return true;
  return false;
}

function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is already gone.
  }
}

/** The process, what it started, and no question asked. */
function taskkillArgs(pid: number): string[] {
  return ["/pid", String(pid), "/T", "/F"];
}

const TASKKILL_OPTIONS = { windowsHide: true, stdio: "ignore" } as const;

/** For an exit hook, so it waits for nothing but what Windows does through another program. */
function killLiving(): void {
  for (const pid of living.keys()) {
    if (isWindows) spawnSync("taskkill", taskkillArgs(pid), TASKKILL_OPTIONS);
    else signalGroup(pid, "SIGKILL");
  }
  living.clear();
  watchdog.guard([]);
}

/**
 * A host that ends without closing its sessions must leave nothing behind, whether it exits or dies of a signal. A
 * signal may also mean something else to a host that listens to it, and hooks of this kind wait for each other:
 * `signal-exit` knows the others of its kind (both pi hosts carry one), so the process still dies as it would without us.
 */
function installHooks(): void {
  if (hooksInstalled) return;
  hooksInstalled = true;
  onExit(killLiving);
}
