import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Home } from "./home.ts";
import type { PiEvent } from "./pi-events.ts";
import { MODEL, PROVIDER } from "./scripted-model.ts";

/** A real pi, and the Node it is run with. */
export interface Host {
  readonly name: string;
  readonly version: string;
  readonly node: string;
  readonly cli: string;
}

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const EXE = process.platform === "win32" ? ".exe" : "";

/** The newest pi on a current Node, and the oldest supported pi on the oldest supported Node. */
export const HOSTS: readonly [Host, Host] = [
  {
    name: "pi 1.6.0",
    version: "1.6.0",
    node: `${MODULES}node/bin/node${EXE}`,
    cli: `${MODULES}@earendil-works/pi-coding-agent/dist/bundle/cli.js`,
  },
  {
    name: "pi 0.73.1",
    version: "0.73.1",
    node: `${MODULES}node-oldest/bin/node${EXE}`,
    cli: `${MODULES}pi-0.73/dist/cli.js`,
  },
];

/** The built extension under test. */
export const EXTENSION = fileURLToPath(new URL("../../dist/pi.js", import.meta.url));

export interface PiOptions {
  /** Path of the extension; none when absent. */
  extension?: string;
  /** More arguments of pi. */
  args?: readonly string[];
  /** Added to the environment of the home. */
  env?: Readonly<Record<string, string>>;
  /** A run that has not ended by then is killed and counts as hung. Default 60 s: a cold start under load is slow. */
  timeoutMs?: number;
}

export interface RunOptions extends PiOptions {
  mode: "print" | "json";
  prompt: string;
  /** JSON mode: called as each event arrives, milliseconds after the start. */
  onEvent?: (event: PiEvent, afterMs: number) => void;
}

export interface Run {
  /** Null when it was ended by a signal. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** It did not end by itself within its time. */
  hung: boolean;
  stdout: string;
  stderr: string;
  /** JSON mode: one per line of stdout. */
  events: PiEvent[];
  durationMs: number;
}

const TIMEOUT_MS = 60_000;

/** Starts pi in a process group of its own, so that a hung one can be ended with what it started. */
export function startPi(
  host: Host,
  home: Home,
  options: PiOptions,
  args: readonly string[],
  stdin: "ignore" | "pipe",
): ChildProcess {
  const extension = options.extension === undefined ? [] : ["-e", options.extension];
  const model = ["--provider", PROVIDER, "--model", MODEL];
  const all = [host.cli, ...model, "--no-session", ...extension, ...(options.args ?? []), ...args];
  return spawn(host.node, all, {
    cwd: home.cwd,
    env: home.env(options.env),
    stdio: [stdin, "pipe", "pipe"],
    detached: true,
  });
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  hung: boolean;
}

/**
 * Resolves when pi itself has ended, killing its group after `timeoutMs`. The streams get a moment more: a process
 * that pi left behind may hold them open for ever, and that is for the survivors check to say.
 */
export function ending(child: ChildProcess, timeoutMs = TIMEOUT_MS): Promise<Ending> {
  return new Promise((resolve, reject) => {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      killGroup(child);
    }, timeoutMs);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      const finish = (): void => resolve({ code, signal, hung });
      const patience = setTimeout(finish, 1_000);
      child.once("close", () => {
        clearTimeout(patience);
        finish();
      });
    });
  });
}

export function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
}

/** Runs one prompt to its end, with stdin closed. */
export async function runPi(host: Host, home: Home, options: RunOptions): Promise<Run> {
  const started = performance.now();
  const mode = options.mode === "json" ? ["--mode", "json"] : [];
  const child = startPi(host, home, options, [...mode, "-p", options.prompt], "ignore");
  const events: PiEvent[] = [];
  let stdout = "";
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  if (options.mode === "json" && child.stdout !== null) {
    jsonLines(child, (event) => {
      events.push(event);
      options.onEvent?.(event, performance.now() - started);
    });
  }
  const end = await ending(child, options.timeoutMs);
  return { ...end, stdout, stderr, events, durationMs: performance.now() - started };
}

export function jsonLines(child: ChildProcess, onEvent: (event: PiEvent) => void): void {
  let rest = "";
  child.stdout?.on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) onEvent(JSON.parse(line) as PiEvent);
  });
}
