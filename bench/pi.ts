/**
 * `npm run bench:pi`: what an MCP client adds to the start of a real pi with five configured servers that nobody has used yet,
 * and how long the first call takes. Beside plain pi: pi-mcp, pi's own client and pi-mcp-adapter, in turns within each round.
 * Cold: nothing was ever started in this home. Warm: every server was used there before. `-- --rounds 3`, `-- --host 0.73`,
 * `-- --clients "plain pi,pi-mcp"`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { REAL } from "../test/e2e/real-servers.ts";
import { type Home, temporaryHome } from "../test/ground/home.ts";
import { type RpcPi, rpcPi } from "../test/ground/rpc-pi.ts";
import { EXTENSION, HOSTS, type Host } from "../test/ground/run-pi.ts";
import { scriptedModel, type ToolCall } from "../test/ground/scripted-model.ts";

/** Everything that begins by itself after a start has done so by then, on a machine that is not too busy. */
const SETTLED_MS = 3_000;

/** What pi-mcp may add before the first call. */
const BOUND = { cpuMs: 30, memoryMb: 8 };

interface Client {
  readonly name: string;
  /** Arguments of pi. */
  readonly args: readonly string[];
  readonly extension?: string;
  readonly settings?: object;
  readonly servers: "configured" | "none";
  /** How its user's model reaches a tool; the last of these calls is the one that counts. */
  readonly calls: readonly ToolCall[];
}

const SUM = { a: 40, b: 2 };
const ADAPTER = fileURLToPath(new URL("node_modules/pi-mcp-adapter/index.ts", import.meta.url));

const EMPTY = fileURLToPath(new URL("empty-extension.js", import.meta.url));

function clientsOf(host: Host): Client[] {
  const isNew = host === HOSTS[0];
  const off = isNew ? ["--no-mcp"] : [];
  return [
    { name: "plain pi", args: off, servers: "none", calls: [] },
    // What loading any extension costs, which does nothing.
    { name: "empty", args: off, extension: EMPTY, servers: "none", calls: [] },
    {
      name: "pi-mcp",
      args: [],
      extension: EXTENSION,
      settings: { extensions: ["-builtin:mcp"] },
      servers: "configured",
      calls: [{ tool: "mcp_call", args: { selector: "everything.get-sum", args: SUM } }],
    },
    ...(isNew
      ? [
          {
            name: "pi's own",
            args: [],
            servers: "configured" as const,
            calls: [
              {
                tool: "codemode",
                args: { code: `return (await tools.mcp__everything__get_sum(${JSON.stringify(SUM)})).content[0].text` },
              },
            ],
          },
        ]
      : []),
    {
      name: "adapter",
      args: [],
      extension: ADAPTER,
      settings: { extensions: ["-builtin:mcp"] },
      servers: "configured",
      calls: [
        { tool: "mcp", args: { connect: "everything" } },
        { tool: "mcp", args: { tool: "everything_get_sum", args: SUM } },
      ],
    },
  ];
}

function serversIn(home: Home): Record<string, object> {
  const all = [
    REAL.everything("everything", "stdio"),
    REAL.filesystem("files", home.cwd),
    REAL.memory("memory"),
    REAL.sequentialThinking("thinking"),
    REAL.everything("everything-2", "stdio"),
  ];
  return Object.fromEntries(all.map(({ name, ...entry }) => [name, entry]));
}

/** Of one start. Times in milliseconds, memory in megabytes. */
interface Figures {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
  /** Processes beside pi itself, all of them and those of servers alone. */
  readonly processes: number;
  /** From the prompt to the first result; NaN where there was none. */
  readonly firstCallMs: number;
}

async function measure(host: Host, home: Home, client: Client): Promise<Figures> {
  await using model = await scriptedModel([...client.calls.map((call) => ({ call })), { say: "done" }]);
  home.write({ model, settings: client.settings ?? {} });
  const begun = performance.now();
  await using pi = await rpcPi(host, home, {
    args: client.args,
    ...(client.extension !== undefined && { extension: client.extension }),
  });
  const wallMs = performance.now() - begun;
  await sleep(SETTLED_MS);
  const figures = {
    wallMs,
    ...usageOf(pi.pid),
    processes: home.survivors().filter(({ pid }) => pid !== pi.pid).length,
  };
  return { ...figures, firstCallMs: await firstCall(pi, client.calls.length) };
}

async function firstCall(pi: RpcPi, calls: number): Promise<number> {
  if (calls === 0) return Number.NaN;
  const from = pi.events.length;
  const asked = performance.now();
  await pi.send({ type: "prompt", message: "Add" });
  let at = from;
  for (let number = 0; ; number++) {
    const end = await pi.waitFor((event) => event.type === "tool_execution_end", at, 60_000);
    at = pi.events.indexOf(end) + 1;
    if (number < calls - 1) continue;
    const took = performance.now() - asked;
    const text = JSON.stringify(end.result);
    if (!text.includes("42")) throw new Error(`The call gave something else: ${text.slice(0, 500)}`);
    await pi.waitFor((event) => event.type === "agent_end", at, 60_000);
    return took;
  }
}

/** Of a living process: the time its threads have had, and the most memory it has held. */
function usageOf(pid: number): { cpuMs: number; memoryMb: number } {
  const [, user = 0, system = 0] =
    /\) (?:\S+ ){11}(\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.map(Number) ?? [];
  const peak = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  // Threads that live on say it in nanoseconds; those that have ended are in the sum of the process alone, in ticks of 10 ms.
  const threads = readdirSync(`/proc/${pid}/task`).map((task) => {
    const [ran = "0"] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "latin1").split(" ");
    return Number(ran) / 1e6;
  });
  const exact = threads.reduce((sum, ms) => sum + ms, 0);
  return { cpuMs: Math.max(exact, (user + system) * 10), memoryMb: peak / 1024 };
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    host: { type: "string", default: "1.6" },
    clients: { type: "string", default: "" },
  },
});
const host = HOSTS.find(({ version }) => version.startsWith(values.host));
if (host === undefined) throw new Error(`There is no pi ${values.host} here.`);
if (!existsSync(EXTENSION)) throw new Error("dist/pi.js is missing; `npm run build` makes it.");
const chosen = values.clients.split(",").filter((name) => name !== "");
const clients = clientsOf(host).filter(({ name, extension }) => {
  if (chosen.length > 0 && !chosen.includes(name)) return false;
  const isThere = extension === undefined || existsSync(extension);
  if (!isThere) console.log(`${name} is left out: \`npm run bench:install\` fetches it.`);
  return isThere;
});

const results = new Map<string, Figures[]>();
for (let round = 0; round < Number(values.rounds); round++) {
  const order = clients.map((_, index) => clients[(index + round) % clients.length] as Client);
  for (const client of order) {
    await using home = await temporaryHome();
    if (client.servers === "configured") home.write({ mcp: { mcpServers: serversIn(home) } });
    for (const start of ["cold", "warm"]) {
      const key = `${start} ${client.name}`;
      results.set(key, [...(results.get(key) ?? []), await measure(host, home, client)]);
    }
    process.stderr.write(".");
  }
}
process.stderr.write("\n");

console.log(
  `${host.name}, five servers configured, ${values.rounds} rounds. A figure: its median, and in brackets what is added to`,
);
console.log("plain pi: between the medians, and between the least of all rounds, which a busy machine changes least.");
let isWithin = true;
for (const start of ["cold", "warm"]) {
  const heads = ["CPU, ms", "peak memory, MB", "ready, ms", "processes", "first result, ms"];
  console.log(`\n${start.padEnd(10)}${heads.map((head) => head.padStart(22)).join("")}`);
  for (const { name } of clients) {
    const own = results.get(`${start} ${name}`) ?? [];
    const plain = results.get(`${start} plain pi`) ?? [];
    const of = (all: readonly Figures[], field: keyof Figures) => all.map((each) => each[field]);
    const least = (field: keyof Figures) => Math.min(...of(own, field)) - Math.min(...of(plain, field));
    const cell = (field: keyof Figures) => {
      const total = median(of(own, field));
      if (own === plain) return total.toFixed(0);
      return `${total.toFixed(0)} (${signed(total - median(of(plain, field)))}, ${signed(least(field))})`;
    };
    const first = median(own.map(({ firstCallMs }) => firstCallMs));
    const processes = Math.max(...own.map((each) => each.processes));
    const cells = [
      cell("cpuMs"),
      cell("memoryMb"),
      cell("wallMs"),
      String(processes),
      Number.isNaN(first) ? "" : first.toFixed(0),
    ];
    console.log(`${name.padEnd(10)}${cells.map((text) => text.padStart(22)).join("")}`);
    if (name !== "pi-mcp") continue;
    const added = (field: keyof Figures) => median(of(own, field)) - median(of(plain, field));
    isWithin &&= added("cpuMs") <= BOUND.cpuMs && added("memoryMb") <= BOUND.memoryMb && processes === 0;
  }
}
console.log(
  `\npi-mcp ${isWithin ? "keeps" : "DOES NOT KEEP"} its bound before the first call: ${BOUND.cpuMs} ms of CPU, ${BOUND.memoryMb} MB, no process.`,
);
if (!isWithin) process.exitCode = 1;

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function signed(value: number): string {
  return value >= 0 ? `+${value.toFixed(0)}` : value.toFixed(0);
}
