import type { ChildProcess } from "node:child_process";
import { spawnSync } from "node:child_process";
import spawn from "cross-spawn";
import { onExit } from "signal-exit";

/** After stdin is closed a well-behaved server ends by itself; pi's own client waits as long. */
const EOF_GRACE_MS = 500;
/** Then SIGTERM. EOF, SIGTERM and SIGKILL together stay under 3 seconds. */
const TERM_GRACE_MS = 1_500;
const KILL_GRACE_MS = 500;
const POLL_MS = 20;

const isWindows = process.platform === "win32";

export interface SpawnOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string | undefined;
}

/** Every tree started here and not yet seen to be gone: what an exit hook has to end. */
const living = new Set<number>();
let hooksInstalled = false;

/**
 * Starts a process as the leader of its own group, so that whatever it starts itself can be ended with it and a
 * Ctrl-C in the terminal does not reach it. No shell is involved: arguments arrive as they are.
 */
export function spawnTree(options: SpawnOptions): ChildProcess {
  installHooks();
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.env as NodeJS.ProcessEnv,
    stdio: ["pipe", "pipe", "pipe"],
    detached: !isWindows,
    windowsHide: true,
  });
  if (child.pid !== undefined) living.add(child.pid);
  return child;
}

/**
 * Ends a process and everything in its group: stdin closed, then SIGTERM, then SIGKILL, each with its time.
 * A leader that has already gone does not spare its children [E022].
 */
export async function endTree(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin?.on("error", () => {});
  child.stdin?.end();
  if (!(await gone(child, EOF_GRACE_MS))) {
    signalTree(pid, "SIGTERM");
    if (!(await gone(child, TERM_GRACE_MS))) {
      signalTree(pid, "SIGKILL");
      await gone(child, KILL_GRACE_MS);
    }
  }
  living.delete(pid);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
}

function exited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits until the leader has exited and its group is empty, at most `limitMs`. */
async function gone(child: ChildProcess, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  const pid = child.pid as number;
  while (!exited(child) || groupLives(pid)) {
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => {
      const timer = setTimeout(done, POLL_MS);
      child.once("exit", done);
      function done() {
        clearTimeout(timer);
        child.off("exit", done);
        resolve(undefined);
      }
    });
  }
  return true;
}

function groupLives(pid: number): boolean {
  if (isWindows) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function signalTree(pid: number, signal: NodeJS.Signals): void {
  if (isWindows) {
    spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { windowsHide: true, stdio: "ignore" });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is already gone.
  }
}

function killLiving(): void {
  for (const pid of living) signalTree(pid, "SIGKILL");
  living.clear();
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
