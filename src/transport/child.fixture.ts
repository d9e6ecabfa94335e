import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { JsonRpcMessage } from "./message.ts";

/** A process that is none, for tests of clocks and of Windows: it ends when it is told to and has no group. */
export interface FakeChild {
  readonly child: ChildProcess;
  /** What was written to it, as lines. */
  written(): JsonRpcMessage[];
  says(message: JsonRpcMessage): void;
  exit(code: number): void;
}

export function fakeChild(pid: number): FakeChild {
  const emitter = new EventEmitter() as EventEmitter & { exitCode: number | null };
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let input = "";
  stdin.on("data", (chunk: Buffer) => {
    input += chunk.toString();
  });
  const child = Object.assign(emitter, { pid, stdin, stdout, stderr, exitCode: null, signalCode: null, unref() {} });
  process.nextTick(() => emitter.emit("spawn"));
  return {
    child: child as unknown as ChildProcess,
    written: () => {
      const lines = input.split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line) as JsonRpcMessage);
    },
    says: (message) => stdout.write(`${JSON.stringify(message)}\n`),
    exit(code) {
      emitter.exitCode = code;
      for (const stream of [stdout, stderr]) stream.end();
      emitter.emit("exit", code, null);
      emitter.emit("close", code, null);
    },
  };
}
