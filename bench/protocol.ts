/**
 * `npm run bench:protocol`: what a tool call costs through pi-mcp, through the official SDK client and through a raw pipe
 * or socket, side by side. See README.md here. `-- --revision 2026-07-28` measures the other era.
 */
import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { type BenchClient, CLIENTS, type ClientName, TRANSPORTS, type TransportName } from "./clients.ts";

interface Case {
  readonly size: number;
  readonly inFlight: number;
  /** Calls in one round of one client. */
  readonly calls: number;
}

const KIB = 1024;
const CASES: readonly Case[] = [
  { size: 100, inFlight: 1, calls: 1_000 },
  { size: 100, inFlight: 64, calls: 3_200 },
  { size: KIB * KIB, inFlight: 1, calls: 20 },
  { size: KIB * KIB, inFlight: 64, calls: 64 },
];
const ROUNDS = 9;
/** Rounds before these are thrown away: in them the code is still being compiled. */
const WARM_UP = 4;

const NAMES = Object.keys(CLIENTS) as ClientName[];

const { values } = parseArgs({ options: { revision: { type: "string", default: "2025-11-25" } } });

console.log(
  `Milliseconds per tool call, median of ${ROUNDS} rounds; revision ${values.revision}, Node ${process.version}\n`,
);
console.log(row("", "", "", ...NAMES, "pi-mcp/raw", "pi-mcp/sdk"));
for (const transport of TRANSPORTS) await benchTransport(transport);

async function benchTransport(transport: TransportName): Promise<void> {
  const opened = await Promise.all(NAMES.map((name) => CLIENTS[name](transport, values.revision)));
  try {
    for (const each of CASES) {
      const medians = await measure(each, opened);
      const [raw = 0, ours = 0, sdk = 0] = medians;
      const size = each.size >= KIB * KIB ? `${each.size / KIB / KIB} MiB` : `${each.size} B`;
      const cells = medians.map((ms) => ms.toFixed(3));
      console.log(row(transport, size, `${each.inFlight} in flight`, ...cells, ratio(ours, raw), ratio(ours, sdk)));
    }
  } finally {
    await Promise.all(opened.map((client) => client.close()));
  }
}

/**
 * Each client's median. The clients take turns, and another one begins each round, so that what else the machine does
 * meets all of them.
 */
async function measure(each: Case, opened: readonly BenchClient[]): Promise<number[]> {
  const samples = opened.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (let turn = 0; turn < opened.length; turn++) {
      const at = (round + WARM_UP + turn) % opened.length;
      const ms = await timeRound(each, opened[at] as BenchClient);
      if (round >= 0) samples[at]?.push(ms);
    }
  }
  return samples.map(median);
}

/** Milliseconds per call: of the median call where they follow one another, of the whole round where they overlap. */
async function timeRound(each: Case, client: BenchClient): Promise<number> {
  let next = 0;
  const durations: number[] = [];
  const caller = async () => {
    while (next < each.calls) {
      const call = ++next;
      const begun = performance.now();
      const text = await client.call(call, each.size);
      durations.push(performance.now() - begun);
      assert.ok(text.length === each.size && text.startsWith(`${call} `), `a wrong answer to call ${call}`);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: each.inFlight }, caller));
  return each.inFlight === 1 ? median(durations) : (performance.now() - begun) / each.calls;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

function ratio(value: number, other: number): string {
  return (value / other).toFixed(2);
}

function row(transport: string, size: string, inFlight: string, ...cells: readonly string[]): string {
  return transport.padEnd(6) + size.padEnd(7) + inFlight.padEnd(14) + cells.map((cell) => cell.padStart(11)).join("");
}
