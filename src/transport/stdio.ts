import type { ChildProcess } from "node:child_process";
import { messageOf } from "../error.ts";
import type { JsonRpcMessage } from "./message.ts";
import { endTree, type SpawnOptions, spawnTree } from "./process-tree.ts";
import { MessageReader } from "./reader.ts";
import { TailBuffer } from "./tail-buffer.ts";
import { type Transport, TransportError, type TransportEvents } from "./transport.ts";

/** What is kept of stderr [S1-62]. */
const STDERR_TAIL_BYTES = 64 * 1024;
/** The first noise on stdout explains most failures; more would repeat it. */
const NOISE_SAMPLE_CHARS = 200;
/** The last bytes of stderr may arrive after the exit event; this is how long the reason waits for them. */
const DRAIN_MS = 100;

/**
 * MCP over a child process: one JSON message a line on stdin and stdout (all revisions), stderr kept as a tail for
 * diagnostics. The process does not keep this one alive: a request's own clock does, while somebody waits for it.
 */
export class StdioTransport implements Transport {
  readonly kind = "stream";
  readonly #options: SpawnOptions;
  readonly #stderr = new TailBuffer(STDERR_TAIL_BYTES);
  #noise: { lines: number; sample: string } = { lines: 0, sample: "" };
  #child: ChildProcess | undefined;
  #closing: Promise<void> | undefined;
  #ended: TransportError | undefined;

  constructor(options: SpawnOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  open(events: TransportEvents): Promise<void> {
    const reader = new MessageReader({
      message: (message) => events.message(message),
      noise: (line) => {
        if (this.#noise.lines++ === 0) this.#noise.sample = line.slice(0, NOISE_SAMPLE_CHARS);
      },
      oversize: () => {},
    });
    return new Promise((resolve, reject) => {
      let child: ChildProcess;
      try {
        child = spawnTree(this.#options);
      } catch (error) {
        reject(spawnFailure(error));
        return;
      }
      this.#child = child;
      child.stderr?.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
      child.stdout?.on("data", (chunk: Buffer) => reader.push(chunk));
      child.stdout?.on("end", () => reader.end());
      // A broken pipe is told by the exit that follows, or by the write that failed.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
      child.once("error", (error) => reject(spawnFailure(error)));
      child.once("spawn", () => {
        unref(child);
        resolve();
      });
      child.once("exit", (code, signal) => {
        whenDrained(child, () => this.#end(events, exitReason(code, signal)));
      });
      // A server that closes its stdout and lives on can never answer again.
      child.stdout?.once("close", () => {
        if (child.exitCode === null && child.signalCode === null) {
          whenExitedOr(child, DRAIN_MS, () => this.#end(events, "it closed its output"));
        }
      });
    });
  }

  send(message: JsonRpcMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#ended) return Promise.reject(new TransportError("ended", this.#ended.message, "not-sent"));
    if (!stdin?.writable) return Promise.reject(new TransportError("ended", "its input is closed", "not-sent"));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(new TransportError("ended", "it stopped reading its input", "unknown", { cause: error }));
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#child ? endTree(this.#child) : Promise.resolve();
    return this.#closing;
  }

  /** Both directions are open from the start. */
  listen(): void {}

  diagnostics(): string {
    const stderr = this.#stderr.toString().trim();
    if (this.#noise.lines === 0) return stderr;
    const noise = `${this.#noise.lines} line(s) on stdout were no MCP messages, the first: ${this.#noise.sample}`;
    return stderr === "" ? noise : `${stderr}\n${noise}`;
  }

  #end(events: TransportEvents, reason: string): void {
    if (this.#ended) return;
    this.#ended = new TransportError("ended", reason, "unknown");
    if (this.#closing) return;
    // What the dead leader started may live on in its group.
    void this.close();
    events.closed(this.#ended);
  }
}

function spawnFailure(error: unknown): TransportError {
  const { code } = error as NodeJS.ErrnoException;
  const reason =
    code === "ENOENT"
      ? "its command (or working directory) was not found"
      : code === "EACCES"
        ? "its command is not executable"
        : `its process could not be started (${code ?? messageOf(error)})`;
  return new TransportError("unreachable", reason, "not-sent", { cause: error });
}

function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `its process exited with code ${code}` : `its process was ended by ${signal}`;
}

/** An idle server must not keep `pi -p` from ending; pipes are handles of their own. */
function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?: () => void } | null)?.unref?.();
}

/** Runs `then` when stdout and stderr are read to their end, or after a moment: a grandchild may hold them open. */
function whenDrained(child: ChildProcess, then: () => void): void {
  let open = 0;
  const timer = setTimeout(then, DRAIN_MS);
  const closed = () => {
    if (--open > 0) return;
    clearTimeout(timer);
    then();
  };
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream || stream.closed) continue;
    open++;
    stream.once("close", closed);
  }
  if (open === 0) {
    clearTimeout(timer);
    then();
  }
}

function whenExitedOr(child: ChildProcess, limitMs: number, then: () => void): void {
  const timer = setTimeout(then, limitMs);
  child.once("exit", () => clearTimeout(timer));
}
