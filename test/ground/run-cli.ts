import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Home } from "./home.ts";
import { HOSTS } from "./run-pi.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A current Node and the oldest supported one. */
export const NODES: readonly { readonly name: string; readonly node: string }[] = HOSTS.map(({ node }, index) => ({
  name: index === 0 ? "a current Node" : "the oldest Node",
  node,
}));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  readonly stdout?: number;
  /** Run as this user; only the superuser can. */
  readonly uid?: number;
}

/** Starts the built command in a home. */
export function startCli(
  node: string,
  home: Home,
  args: readonly string[],
  { stdout, ...owner }: CliOptions = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(node, [CLI, ...args], {
    cwd: home.cwd,
    env: home.env(),
    stdio: ["ignore", stdout ?? "pipe", "pipe"],
    ...owner,
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
      });
    }
    child.once("error", reject).once("close", (code) => resolve({ code, ...output }));
  });
  return { child, ended };
}

export function runCli(node: string, home: Home, ...args: string[]): Promise<Ended> {
  return startCli(node, home, args).ended;
}
