/** A server that does to each call what the seed says: `node stdio-server.ts <seed> <ledger> <limit of a call, ms>`. */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { runsCall, type StdioFate, startFate, stdioFate } from "./fate.ts";
import { Ledger } from "./ledger.ts";
import { answer, failure, type Message, textResult, usualAnswer } from "./mcp.ts";

/** Nothing outlives a broken run for longer. */
const HARD_LIMIT_MS = 15 * 60_000;
const EXIT = "notifications/exit";

const [seed = "", file = "", limit = "0"] = process.argv.slice(2);
const limitMs = Number(limit);
const ledger = new Ledger(file);
ledger.start();
setTimeout(() => process.exit(99), HARD_LIMIT_MS).unref();
process.stdout.on("error", () => {});

const fate = startFate(seed, ledger.starts);
if (fate === "exits") process.exit(3);
if (fate === "starts noisily") process.stdout.write("Welcome!\n{not json\n");
if (fate === "starts slowly") await sleep(100);

/** Resolves when the system has it. */
function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

function send(message: object): Promise<void> {
  return write(`${JSON.stringify(message)}\n`);
}

/** Never again a word, but the process lives. */
function closeOutput(): void {
  process.stdout.destroy();
}

async function serve(id: unknown, call: string): Promise<void> {
  const right = answer(id, textResult(call));
  const then: Readonly<Record<StdioFate, () => Promise<void> | void>> = {
    answers: () => send(right),
    "answers slowly": () => sleep(10).then(() => send(right)),
    "answers after garbage": () => write("oops\n\u0000\u0001\n[1,2\n").then(() => send(right)),
    "answers twice": () => send(right).then(() => send(right)),
    "answers after one of nobody's": () => send(answer("nobody", textResult("not this"))).then(() => send(right)),
    "answers with an error": () => send(failure(id, -32000, "it did not work")),
    "answers that it failed": () => send(answer(id, textResult(call, true))),
    "answers at length": () => send(answer(id, textResult(`${call} ${"x".repeat(200_000)}`))),
    "answers late": () => sleep(limitMs + 50).then(() => send(right)),
    "runs and is silent": () => {},
    "runs and exits": () => process.exit(5),
    "runs and is killed": () => void process.kill(process.pid, "SIGKILL"),
    "runs and answers by half": () => write(JSON.stringify(right).slice(0, 20)).then(() => process.exit(6)),
    "runs and closes its output": closeOutput,
    "is silent": () => {},
    exits: () => process.exit(4),
    "closes its output": closeOutput,
  };
  const fate = stdioFate(seed, call, ledger.seen(call));
  if (runsCall(fate)) ledger.ran(call);
  await then[fate]();
}

/** What is written in frames comes with lines of headers between, which are no JSON. */
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.startsWith("{")) continue;
  const message = JSON.parse(line) as Message;
  if (message.method === EXIT) process.exit(0);
  if (message.method === "tools/call") void serve(message.id, message.params?.arguments?.call ?? "");
  else {
    const usual = usualAnswer(message);
    if (usual) await send(usual);
  }
}
process.exit(0);
