import type { ChildProcess } from "node:child_process";
import { endTree, type Grace, spawnTree } from "../transport/process-tree.ts";
import { TailBuffer } from "../transport/tail-buffer.ts";
import { splitWords } from "./command-line.ts";
import { MARK_VARIABLE, orphanRecord } from "./orphans.ts";

/** As pi gives them. */
const LIMIT_MS = 10_000;
/** More is no password and no token. */
const MAX_OUTPUT_BYTES = 64 * 1024;
/** Enough for all of the output to be in it, so that it is recognised there and taken out. */
const STDERR_TAIL_BYTES = 2 * MAX_OUTPUT_BYTES;
/** Its last bytes may arrive after the news of its exit; something it left behind may hold its output open for ever. */
const DRAIN_MS = 250;
/** It has nothing to save. */
const GRACE: Grace = { exitMs: 0, termMs: 250 };

const isWindows = process.platform === "win32";

export interface CommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly limitMs?: number;
  /** What it is given to read; nothing when absent. */
  readonly input?: string | undefined;
}

/** Why a command gave no value. The message holds neither what was run nor what was written. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly reason: "failed" | "timeout" | "cancelled";
  /** The end of what it wrote to stderr, raw: it may hold anything, what it wrote to stdout (a secret) among it. */
  readonly stderr: string;
  readonly stdout: string;

  constructor(reason: CommandFailure["reason"], message: string, output?: Output) {
    super(message);
    this.reason = reason;
    this.stderr = output?.stderr.toString() ?? "";
    this.stdout = output === undefined ? "" : Buffer.concat(output.stdout).toString();
  }
}

interface Output {
  readonly stdout: Buffer[];
  readonly stderr: TailBuffer;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly verbatim?: boolean;
}

/**
 * What a command writes, without the line ends behind it. It is a process group of its own and is
 * gone when this returns, however it returns. Rejects with a CommandFailure when the command fails, writes nothing, too
 * much or no text, takes longer than it may (default 10 s), or the signal aborts.
 *
 * A command of words and quotes alone is started as it is; any other one, and one whose program is not found (it may be
 * one of a shell's own), by the system's shell.
 */
export async function runCommand(command: string, options: CommandOptions): Promise<string> {
  const [program, ...args] = splitWords(command, isWindows ? "windows" : "posix") ?? [];
  const plain = program === undefined ? undefined : await run({ command: program, args }, options);
  return plain ?? runProgram(shellFor(command, options.env), options);
}

/** Likewise, of a program that is started as it is. */
export async function runProgram(program: Program, options: CommandOptions): Promise<string> {
  const output = await run(program, options);
  if (output === undefined) throw new CommandFailure("failed", "could not be started");
  return output;
}

function shellFor(command: string, env: NodeJS.ProcessEnv): Program {
  if (!isWindows) return { command: "/bin/sh", args: ["-c", command] };
  return { command: env.ComSpec ?? "cmd.exe", args: ["/d", "/s", "/c", `"${command}"`], verbatim: true };
}

/** `undefined` when there is no such program. */
async function run(program: Program, options: CommandOptions): Promise<string | undefined> {
  const { env, cwd, signal } = options;
  if (signal.aborted) throw new CommandFailure("cancelled", "was cancelled");
  let child: ChildProcess;
  try {
    const record = orphanRecord(env);
    child = spawnTree({ ...program, env: { ...env, [MARK_VARIABLE]: record.mark }, cwd, record });
  } catch (error) {
    throw startFailure(error);
  }
  const output: Output = { stdout: [], stderr: new TailBuffer(STDERR_TAIL_BYTES) };
  try {
    const ended = await endOf(child, output, options);
    if (ended === undefined) return undefined;
    const { code, by } = ended;
    if (by !== null) throw new CommandFailure("failed", `was ended by ${by}`, output);
    if (code !== 0) throw new CommandFailure("failed", `ended with code ${code}`, output);
    return textOf(output);
  } finally {
    await endTree(child, GRACE);
  }
}

/** How it ended by itself, `undefined` when there is no such program. Rejects when it must be ended, or cannot be started. */
function endOf(
  child: ChildProcess,
  output: Output,
  { signal, limitMs = LIMIT_MS, input }: CommandOptions,
): Promise<{ code: number | null; by: NodeJS.Signals | null } | undefined> {
  let onAbort = () => {};
  let timer: NodeJS.Timeout | undefined;
  return new Promise<{ code: number | null; by: NodeJS.Signals | null } | undefined>((resolve, reject) => {
    onAbort = () => reject(new CommandFailure("cancelled", "was cancelled"));
    signal.addEventListener("abort", onAbort, { once: true });
    const late = `has not ended within ${limitMs / 1000} s`;
    timer = setTimeout(() => reject(new CommandFailure("timeout", late, output)), limitMs);
    child.once("error", (error) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") resolve(undefined);
      else reject(startFailure(error));
    });
    child.once("exit", (code, by) => {
      const done = () => resolve({ code, by });
      child.once("close", done);
      clearTimeout(timer);
      timer = setTimeout(done, DRAIN_MS);
    });
    let size = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_OUTPUT_BYTES) output.stdout.push(chunk);
      else reject(new CommandFailure("failed", `wrote more than ${MAX_OUTPUT_BYTES / 1024} KiB`));
    });
    child.stderr?.on("data", (chunk: Buffer) => output.stderr.push(chunk));
    // A broken pipe is told by the exit that follows.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
    child.stdin?.end(input);
  }).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  });
}

function textOf(output: Output): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(output.stdout)).replace(/[\r\n]+$/, "");
  } catch {
    throw new CommandFailure("failed", "wrote what is no text in UTF-8", output);
  }
  if (text.trim() === "") throw new CommandFailure("failed", "wrote nothing", output);
  return text;
}

function startFailure(error: unknown): CommandFailure {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "EACCES" ? "is not executable" : `could not be started (${code ?? "for no known reason"})`;
  return new CommandFailure("failed", why);
}
