import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Home } from "../ground/home.ts";

const CALLER = fileURLToPath(new URL("caller.ts", import.meta.url));

/** Another agent over the same home. */
export interface Caller {
  readonly child: ChildProcess;
  /** It has loaded all there is to load, and waits. */
  readonly ready: Promise<void>;
  /** Makes all its calls at once. */
  go(): void;
  readonly ended: Promise<void>;
  /** How each call ended: `ok`, or what was said. */
  readonly result: Promise<string[]>;
}

export function startCaller(home: Home, calls: number, server = "s"): Caller {
  const child = spawn(process.execPath, [CALLER, String(calls), server], {
    env: home.env(),
    cwd: home.cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const ready = new Promise<void>((resolve) => {
    reader.on("line", (line) => {
      lines.push(line);
      if (line === "ready") resolve();
    });
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const result = ended.then(() => JSON.parse(lines.at(-1) ?? "[]") as string[]);
  result.catch(() => {});
  return { child, ready, go: () => void child.stdin.write("go\n"), ended, result };
}
