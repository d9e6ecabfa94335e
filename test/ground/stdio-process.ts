/**
 * The fake server as a process: `node stdio-process.ts <script.json> <log.jsonl>`. It imports little, so that its first
 * log line follows soon after its start, and logs synchronously, so that nothing is lost however it ends.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createBrain, writeRaw } from "./brain.ts";
import type { JournalEvent } from "./journal.ts";
import { parseJournal } from "./journal.ts";
import type { ServerScript, WireMessage } from "./script.ts";
import { nth } from "./script.ts";

/** Nothing outlives a broken test for longer, not even a server told to ignore everything. */
const HARD_LIMIT_MS = 10 * 60_000;

const [scriptFile = "", logFile = "", ...args] = process.argv.slice(2);
const script = JSON.parse(readFileSync(scriptFile, "utf8")) as ServerScript;

const log = (event: JournalEvent): void => {
  appendFileSync(logFile, `${JSON.stringify({ at: Date.now(), pid: process.pid, ...event })}\n`);
};

const earlier = parseJournal(logFile);
log({ type: "start", cwd: process.cwd(), args, env: { ...process.env } });
setTimeout(() => process.exit(99), HARD_LIMIT_MS).unref();
process.on("exit", (code) => log({ type: "exit", code }));
process.stdout.on("error", () => {});

const startup = nth(script.startup ?? {}, earlier.filter((entry) => entry.type === "start").length) ?? {};
const brain = createBrain(script);
for (const entry of earlier) if (entry.type === "message") brain.stepFor(entry.message);

process.on("SIGTERM", () => {
  log({ type: "signal", signal: "SIGTERM" });
  if (startup.ignoreSigterm) return;
  process.removeAllListeners("SIGTERM");
  process.kill(process.pid, "SIGTERM");
});

/** Resolves when the bytes are with the kernel: what was written before an exit arrives. */
function writeTo(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => stream.write(bytes, () => resolve()));
}
const stdout = (bytes: Buffer): Promise<void> => writeTo(process.stdout, bytes);
const stderr = (bytes: Buffer): Promise<void> => writeTo(process.stderr, bytes);

function send(message: WireMessage): Promise<void> {
  const json = JSON.stringify(message);
  if (script.framing !== "content-length") return stdout(Buffer.from(`${json}\n`));
  return stdout(Buffer.from(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`));
}

async function receive(json: string): Promise<void> {
  let message: WireMessage;
  try {
    message = JSON.parse(json) as WireMessage;
  } catch {
    log({ type: "junk", text: json });
    if (startup.exitOnJunk) process.exit(1);
    return;
  }
  log({ type: "message", message });
  brain.hear(message);
  const step = brain.stepFor(message);
  if (step.stderr !== undefined) await writeRaw(step.stderr, message.id, stderr);
  await brain.play(message, step, { send, bytes: stdout });
  if (step.exit !== undefined) process.exit(step.exit);
  if (step.signal !== undefined) {
    process.removeAllListeners(step.signal);
    process.kill(process.pid, step.signal);
  }
}

/** Unlike `pause` it keeps the process, because nothing reads stdin yet. */
function holdFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

let buffered = Buffer.alloc(0);

/** One frame after the other; messages are handled side by side, as a server with slow tools does. */
function feed(chunk: Buffer): void {
  buffered = Buffer.concat([buffered, chunk]);
  for (;;) {
    const frame = script.framing === "content-length" ? headedFrame(buffered) : lineFrame(buffered);
    if (frame === undefined) return;
    buffered = buffered.subarray(frame.end);
    void receive(frame.text);
  }
}

function lineFrame(bytes: Buffer): { text: string; end: number } | undefined {
  const at = bytes.indexOf("\n");
  return at < 0 ? undefined : { text: bytes.toString("utf8", 0, at), end: at + 1 };
}

function headedFrame(bytes: Buffer): { text: string; end: number } | undefined {
  const head = bytes.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = Number(/content-length:\s*(\d+)/i.exec(bytes.toString("latin1", 0, head))?.[1]);
  const end = head + 4 + length;
  return Number.isNaN(length) || bytes.length < end ? undefined : { text: bytes.toString("utf8", head + 4, end), end };
}

if (startup.spawnGrandchild) {
  // The log file's name among its arguments says whose it is.
  const sleep = `setTimeout(() => {}, ${HARD_LIMIT_MS})`;
  const child = spawn(process.execPath, ["-e", sleep, logFile], { stdio: "ignore" });
  child.unref();
  log({ type: "grandchild", child: child.pid ?? -1 });
}
if (startup.ignoreEof) setInterval(() => {}, HARD_LIMIT_MS);
if (startup.stderr !== undefined) await writeRaw(startup.stderr, null, stderr);
if (startup.stdout !== undefined) await writeRaw(startup.stdout, null, stdout);
if (startup.delayMs !== undefined) await holdFor(startup.delayMs);
if (startup.exit !== undefined) process.exit(startup.exit);
process.stdin.on("data", feed);
process.stdin.on("end", () => {
  log({ type: "eof" });
  if (!startup.ignoreEof) process.exit(0);
});
