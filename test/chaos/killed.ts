/**
 * `npm run test:chaos-killed [-- --seed TEXT]`: the calls of `test:chaos` in a process that is ended by a signal in the middle of
 * them. None of its servers may be there five seconds later. `killed.ts --victim SEED` is that process.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { temporaryHome } from "../ground/home.ts";
import { survivors, waitUntilGone } from "../ground/processes.ts";
import { chaos } from "./chaos.ts";

const CALLS = 800;
const SIGNALS = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const;
const LIMIT_MS = 5_000;

const { values } = parseArgs({ options: { seed: { type: "string" }, victim: { type: "string" } } });

if (values.victim !== undefined) {
  const home = await temporaryHome();
  console.log(JSON.stringify({ root: home.root, marker: home.marker }));
  await chaos(home, { seed: values.victim, calls: CALLS, callers: 8, onHalf: () => console.log("half") });
} else {
  const seed = values.seed ?? randomUUID().slice(0, 8);
  console.log(`seed ${seed}`);
  let failures = 0;
  for (const signal of SIGNALS) if (!(await endsCleanly(seed, signal))) failures++;
  console.log(`${SIGNALS.length} signals, ${failures} left something`);
  process.exitCode = failures === 0 ? 0 : 1;
}

async function endsCleanly(seed: string, signal: NodeJS.Signals): Promise<boolean> {
  const victim = spawn(process.execPath, [fileURLToPath(import.meta.url), "--victim", `${seed} ${signal}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(victim, "exit");
  const said = createInterface({ input: victim.stdout })[Symbol.asyncIterator]();
  const { root, marker } = JSON.parse(String((await said.next()).value)) as { root: string; marker: string };
  const half = (await said.next()).value === "half";
  const running = survivors(marker, root).length;
  victim.kill(signal);
  await ended;
  const left = await waitUntilGone(() => survivors(marker, root), LIMIT_MS);
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  rmSync(root, { recursive: true, force: true });
  const isClean = half && running > 0 && left.length === 0;
  const what = left.map(({ command }) => command).join("; ");
  console.log(`${isClean ? "ok    " : "FAILED"} ${signal}: ${running} servers before, ${left.length} after ${what}`);
  return isClean;
}
