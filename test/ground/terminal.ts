import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Home } from "./home.ts";
import { until } from "./wait.ts";

/** Of util-linux: runs a command on a terminal. Systems without it have no other way that needs no native package. */
const SCRIPT = "script";
const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export const hasTerminals = spawnSync(SCRIPT, ["--version"]).status === 0;

/** The built command on a terminal of its own, as a person has it. */
export interface Terminal {
  readonly child: ChildProcess;
  /** All that was shown so far, what was typed included, in lines that end as a terminal has them. */
  shown(): string;
  /** Types; a line ends with `\r`, and `\x03` is Ctrl-C. */
  type(text: string): void;
  /** Resolves when it is shown. */
  shows(what: RegExp): Promise<RegExpExecArray>;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

export function cliOnTerminal(home: Home, args: readonly string[], env: Record<string, string> = {}): Terminal {
  const command = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn(SCRIPT, ["-qefc", command, "/dev/null"], { cwd: home.cwd, env: home.env(env) });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  return {
    child,
    shown: () => text,
    type: (more) => void child.stdin.write(more),
    shows: (what) => until(`${what} in: ${text}`, () => what.exec(text) ?? undefined),
    ended: new Promise((resolve, reject) => child.once("error", reject).once("close", resolve)),
  };
}
