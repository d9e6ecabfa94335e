import type { ChildProcess } from "node:child_process";
import { messageOf, STDOUT_HEADING } from "../error.ts";
import { endTree, type Grace, hasExited, type SpawnOptions, spawnTree } from "./process-tree.ts";
import { createMessageReader, type ReaderEvents } from "./reader.ts";
import { TailBuffer } from "./tail-buffer.ts";
import { TransportError } from "./transport.ts";

/** What is kept of stderr [S1-62]. */
const STDERR_TAIL_BYTES = 64 * 1024;
/** The last bytes of a process may arrive after the news of its exit; this is how long the reason waits for them. */
const DRAIN_MS = 100;

export interface ProcessEvents extends Omit<ReaderEvents, "noise"> {
  /** Noise stood before a message; told once. */
  notice(text: string): void;
  /** What it writes to stderr, as it comes. */
  stderr?: ((chunk: Buffer) => void) | undefined;
}

/**
 * One process of a server, from its start to its end: messages from stdout, stderr kept as a tail for diagnostics. It
 * does not keep this process alive: a request's own clock does, while somebody waits for it.
 */
export class ServerProcess {
  /** Resolves when the process runs; rejects with a TransportError. */
  readonly started: Promise<void>;
  /** Resolves with the reason when it can never answer again and all it wrote has been told; nothing is told afterwards. */
  readonly over: Promise<string>;
  readonly #child: ChildProcess;
  readonly #stderr = new TailBuffer(STDERR_TAIL_BYTES);
  readonly #noise = { texts: 0, sample: "", noticed: false };
  readonly #events: ProcessEvents;
  #batch: { text: string; readonly written: Promise<void> } | undefined;
  #isOver = false;
  #ending: Promise<void> | undefined;

  /** Throws a TransportError when there can be no such process. */
  constructor(options: SpawnOptions, maxMessageBytes: number | undefined, events: ProcessEvents) {
    this.#events = events;
    let child: ChildProcess;
    try {
      child = spawnTree(options);
    } catch (error) {
      throw spawnFailure(error);
    }
    this.#child = child;
    this.#read(child, maxMessageBytes);
    this.started = new Promise((resolve, reject) => {
      child.once("error", (error) => {
        this.#isOver = true;
        reject(spawnFailure(error));
      });
      child.once("spawn", () => {
        unref(child);
        resolve();
      });
    });
    this.over = new Promise((resolve) => {
      const over = (reason: string) => {
        if (this.#isOver) return;
        this.#isOver = true;
        resolve(reason);
      };
      // A grandchild may hold stdout and stderr open, so their end is not waited for without limit.
      child.once("exit", (code, signal) => soon(child, "close", () => over(exitReason(code, signal))));
      // A server that closes its stdout and lives on can never answer again.
      child.stdout?.once("close", () => {
        soon(child, "exit", () => {
          if (!hasExited(child)) over("it closed its output");
        });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Resolves when the bytes are with the system. Rejects with a TransportError that says how the process ended, if it
   * did. What is written in one go of the event loop leaves in one: many calls at once are one write to the system.
   */
  write(text: string): Promise<void> {
    if (!this.#child.stdin?.writable) {
      return Promise.reject(new TransportError("ended", "its input is closed", "not-sent"));
    }
    if (!this.#batch) {
      this.#batch = { text: "", written: new Promise((resolve) => process.nextTick(() => resolve(this.#flush()))) };
    }
    this.#batch.text += text;
    return this.#batch.written;
  }

  #flush(): Promise<void> {
    const text = this.#batch?.text ?? "";
    this.#batch = undefined;
    return new Promise((resolve, reject) => {
      this.#child.stdin?.write(text, (error) => {
        if (!error) return resolve();
        const fail = (reason: string) => reject(new TransportError("ended", reason, "unknown", { cause: error }));
        const timer = setTimeout(() => fail("it stopped reading its input"), 2 * DRAIN_MS);
        void this.over.then((reason) => {
          clearTimeout(timer);
          fail(reason);
        });
      });
    });
  }

  /** Ends it and what it started; a second call waits for the first. */
  end(grace: Grace): Promise<void> {
    // What was written just now leaves first.
    this.#ending ??= new Promise<void>((resolve) => process.nextTick(resolve)).then(() => endTree(this.#child, grace));
    return this.#ending;
  }

  /** The end of stderr, then what was odd on stdout. */
  diagnostics(): string {
    const noise = this.#noise.texts === 0 ? "" : `${STDOUT_HEADING}\n${this.#noiseText()}`;
    return [this.#stderr.toString().trim(), noise].filter((text) => text !== "").join("\n");
  }

  #noiseText(): string {
    return `${this.#noise.texts} line(s) on stdout were not MCP messages, the first: ${this.#noise.sample}`;
  }

  #read({ stdin, stdout, stderr }: ChildProcess, maxMessageBytes: number | undefined): void {
    const noise = this.#noise;
    const reader = createMessageReader(
      {
        message: (message, framing) => {
          if (this.#isOver) return;
          if (noise.texts > 0 && !noise.noticed) {
            noise.noticed = true;
            this.#events.notice(this.#noiseText());
          }
          this.#events.message(message, framing);
        },
        noise: (sample) => {
          if (noise.texts++ === 0) noise.sample = sample;
        },
        lost: (id, reason) => {
          if (!this.#isOver) this.#events.lost(id, reason);
        },
      },
      maxMessageBytes,
    );
    stdout?.on("data", (chunk: Buffer) => reader.push(chunk));
    stdout?.on("end", () => reader.end());
    stderr?.on("data", (chunk: Buffer) => {
      this.#stderr.push(chunk);
      this.#events.stderr?.(chunk);
    });
    // A broken pipe is told by the exit that follows, or by the write that failed.
    for (const stream of [stdin, stdout, stderr]) stream?.on("error", () => {});
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

/** Runs `then` at the event, or when it has not come within a moment. */
function soon(child: ChildProcess, event: "exit" | "close", then: () => void): void {
  const done = () => {
    clearTimeout(timer);
    child.off(event, done);
    then();
  };
  const timer = setTimeout(done, DRAIN_MS);
  child.once(event, done);
}
