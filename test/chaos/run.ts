/**
 * `npm run test:chaos [-- --seed TEXT] [--calls N] [--meddle]`: calls from eight callers over servers of every origin that crash,
 * hang, close pipes, answer garbage, answer late, lose sessions and refuse connections. Every call must end; none may be run
 * twice unless its tool or its server's `replay` allows it; and nothing may be left: no process, no descriptor, no timer,
 * no memory. Needs `node --expose-gc`.
 */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { temporaryHome } from "../ground/home.ts";
import { waitUntilGone } from "../ground/processes.ts";
import { chaos } from "./chaos.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, meddle: { type: "boolean" }, calls: { type: "string", default: "10000" } },
});
const seed = values.seed ?? randomUUID().slice(0, 8);
const calls = Number(values.calls);
const meddles = values.meddle ?? false;
/** Of the heap after everything is done against its half, and bytes that are no trend. */
const MEMORY_GROWTH = 1.1;
const MEMORY_NOISE = 4 * 1024 * 1024;

console.log(`seed ${seed}, ${calls} calls`);
const home = await temporaryHome();
const violations: string[] = [];

// Loads all that is loaded once.
await chaos(home, { seed: `${seed} warm`, calls: 300, callers: 8 });
const before = resources();
const heap = { half: 0, end: 0 };
const since = performance.now();
const report = await chaos(home, { seed, calls, callers: 8, meddles, onHalf: () => (heap.half = used()) });
const seconds = (performance.now() - since) / 1000;
await sleep(500);
heap.end = used();
violations.push(...report.violations);
const after = resources();
if (after.descriptors > before.descriptors) {
  violations.push(`${after.descriptors} descriptors are open, before it were ${before.descriptors}`);
}
for (const [kind, count] of Object.entries(after.active)) {
  const earlier = before.active[kind] ?? 0;
  if (count > earlier) violations.push(`${count} of ${kind} are active, before it were ${earlier}`);
}
if (heap.end > heap.half * MEMORY_GROWTH + MEMORY_NOISE) {
  violations.push(`the heap grew from ${mib(heap.half)} at the half to ${mib(heap.end)} at the end`);
}
const left = await waitUntilGone(() => home.survivors());
if (left.length > 0) violations.push(`left running: ${left.map(({ command }) => command).join("; ")}`);
await home.remove().catch((error: unknown) => violations.push(String(error)));

console.log(`ends: ${list(report.ends)}`);
console.log(`run more than once: ${list(report.repeated)}`);
console.log(`heap ${mib(heap.half)} at the half, ${mib(heap.end)} at the end; ${after.descriptors} descriptors`);
for (const violation of violations.slice(0, 50)) console.log(`FAILED ${violation}`);
const ended = [...report.ends.values()].reduce((sum, count) => sum + count, 0);
console.log(`${ended} calls in ${seconds.toFixed(0)} s, ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;

function resources(): { descriptors: number; active: Record<string, number> } {
  const active: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) active[kind] = (active[kind] ?? 0) + 1;
  return { descriptors: readdirSync("/proc/self/fd").length, active };
}

function used(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");
}
