/**
 * A server as a process that tells everything it was given, wherever it can: `node echo-process.ts <mode> <counter> …`. The
 * mode says where; `counter` is a file that grows with each start.
 */
import { appendFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { answers, type Mode } from "./answers.ts";
import { encodings } from "./planted.ts";

const [mode = "results", counter = "", ...args] = process.argv.slice(2);
appendFileSync(counter, ".");
const starts = statSync(counter).size;

/** What was given to it, without what every process is given. */
const all = encodings({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("PLANT"))),
  ...Object.fromEntries(args.map((arg, at) => [`arg${at}`, arg])),
});

process.stderr.write(`${all}\n`);
if (mode === "exits" || (mode === "dies later" && starts > 1)) process.exit(3);
if (mode === "noise") process.stdout.write(`${all}\n{"broken": ${JSON.stringify(all)}\n`);

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const { answer, before } = answers(mode as Mode, all);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as { id?: number; method?: string; params?: Record<string, unknown> };
  if (id === undefined || method === undefined) return;
  for (const each of before(method, params)) send(each);
  if (method === "tools/call" && mode === "crashes") {
    process.stderr.write(all);
    process.exit(7);
  }
  if (method === "tools/call" && mode === "malformed") {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${all}\n`, () => process.exit(0));
    return;
  }
  const given = answer(method, params);
  if (given !== undefined) send({ id, ...given });
});
