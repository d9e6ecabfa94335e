import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads the process groups to guard, a line each time they change, the last line being what counts. The end of its input
 * is the end of the agent, however that came about: what is left of the groups then has lost its own input too, gets a
 * second to end because of that, is asked to, and is killed two seconds later. A group that could not be asked is gone,
 * and its number may soon be another's: it is not touched again. Its own signals it ignores, since a terminal that is
 * closed tells everybody in it.
 */
const SCRIPT = `trap "" HUP INT TERM
groups=
while read -r line; do groups=$line; done
[ -n "$groups" ] || exit 0
sleep 1
left=
for group in $groups; do kill -s TERM -- "-$group" && left="$left $group"; done
[ -n "$left" ] || exit 0
sleep 2
for group in $left; do kill -s KILL -- "-$group"; done`;

/** What a process list shows it as. */
const NAME = "pi-mcp-watchdog";

const isWindows = process.platform === "win32";

/**
 * Ends servers whose agent was killed so that it could not do it itself (SIGKILL, out of memory). A shell of a megabyte
 * beside all servers of an agent, there as long as one of them is: not in the agent's terminal, with nothing of its
 * environment, started after the first server has been (about 2 ms of the agent's time, measured). On Windows the system does this: a child that is not
 * detached ends with its parent.
 */
export class Watchdog {
  #shell: ChildProcess | undefined;
  #starting: NodeJS.Immediate | undefined;
  #groups: readonly number[] = [];

  /** The groups to end should this process be killed, in place of those before. With the last of them it ends itself. */
  guard(groups: Iterable<number>): void {
    this.#groups = [...groups];
    if (isWindows) return;
    if (this.#groups.length === 0) this.#dismiss();
    else if (this.#shell) this.#tell(this.#shell);
    else this.#starting ??= setImmediate(() => this.#start());
  }

  #start(): void {
    this.#starting = undefined;
    if (this.#groups.length === 0) return;
    try {
      const shell = spawn("/bin/sh", ["-c", SCRIPT, NAME], {
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
      });
      // Without it everything works as before, only that a killed agent leaves its servers to themselves.
      for (const source of [shell, shell.stdin]) source?.on("error", () => {});
      shell.unref();
      (shell.stdin as { unref?: () => void } | null)?.unref?.();
      this.#shell = shell;
      this.#tell(shell);
    } catch {
      // As above.
    }
  }

  #tell(shell: ChildProcess): void {
    shell.stdin?.write(`${this.#groups.join(" ")}\n`);
  }

  /** The line comes first: this may be the last thing the process does, and then nobody closes the input in time. */
  #dismiss(): void {
    if (this.#shell) {
      this.#tell(this.#shell);
      this.#shell.stdin?.end();
    }
    this.#shell = undefined;
  }
}
