/**
 * `npm run bench:tokens`: what MCP costs of a model's context, in tokens: what every request holds, for a few ways to offer
 * servers and more and more of them; what finding a tool costs; and results of five real servers. Everything is what the
 * real host sends, or what the tools answer. Exits with 1 where a bound is exceeded.
 */
import { loadConfig } from "../src/config/load.ts";
import { createSession } from "../src/session/create-session.ts";
import { temporaryHome } from "../test/ground/home.ts";
import { HOSTS } from "../test/ground/run-pi.ts";
import { row } from "./token-count.ts";
import { answerCost, declareRealServers, resultCosts } from "./token-results.ts";
import { directCosts, SURFACES, type Surface, surfaceCost } from "./token-surfaces.ts";

const COUNTS = [0, 3, 20, 200];

/** Tokens of a request. */
const BOUNDS: Readonly<Record<Surface, number>> = {
  mcp: 300,
  "mcp + mcp_auth": 450,
  "mcp_load + mcp_call": 450,
  "mcp_load + mcp_call + mcp_auth": 450,
};
/** More for each server that is named. */
const BOUND_PER_SERVER = 20;

/** pi-mcp-adapter 2.36.0, measured with the same tokenizer; with 20 and 200 its own way of growing. */
const ADAPTER = { none: 1_056, three: 1_548, perServer: 159 };

const failures: string[] = [];

for (const host of HOSTS) {
  console.log(`\nTokens in every request of ${host.name}, by number of servers`);
  console.log(row("", ...COUNTS));
  for (const surface of Object.keys(SURFACES) as Surface[]) {
    const costs: number[] = [];
    for (const count of COUNTS) {
      const cost = await surfaceCost(host, surface, count);
      costs.push(cost);
      const most = count === 0 ? 0 : BOUNDS[surface] + BOUND_PER_SERVER * count;
      if (cost > most) failures.push(`${surface} on ${host.name}, ${count} servers: ${cost} tokens, at most ${most}`);
    }
    console.log(row(surface, ...costs));
  }
}

await using home = await temporaryHome();
declareRealServers(home);
const env = home.env();
await using session = createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd });

const direct = await directCosts(session);
const tools = direct.reduce((sum, each) => sum + each.tools, 0);
const tokens = direct.reduce((sum, each) => sum + each.tokens, 0);
const perServer = tokens / direct.length;
console.log("\nfor comparison");
console.log(row("each tool a tool of its own", ...COUNTS.map((count) => Math.round(perServer * count))));
const adapter = COUNTS.map((count) => (count === 0 ? ADAPTER.none : ADAPTER.three + ADAPTER.perServer * (count - 3)));
console.log(row("pi-mcp-adapter 2.36.0", ...adapter));
console.log(`  (${direct.map(({ server, tools, tokens }) => `${server}: ${tools} tools, ${tokens}`).join("; ")};`);
console.log(`  on average ${Math.round(tokens / tools)} a tool)`);

console.log("\nTokens of an answer of mcp");
const answers: readonly (readonly [string, object])[] = [
  ["list_servers, 5 servers", { action: "list_servers" }],
  ["list_tools, 9 tools", { action: "list_tools", server: "memory" }],
  ["search, 5 candidates", { action: "search", query: "read a text file" }],
  ["describe a small tool", { action: "describe", server: "everything", tool: "get-sum" }],
  ["describe a large tool", { action: "describe", server: "thinking", tool: "sequentialthinking" }],
];
for (const [name, args] of answers) console.log(row(name, await answerCost(session, args)));

console.log("\nTokens of a result");
console.log(row("", "raw JSON", "adapter's way", "ours"));
const results = await resultCosts(session, home);
for (const { name, raw, both, ours } of results) console.log(row(name, raw, both, ours));
const sumOf = (form: "raw" | "both" | "ours") => results.reduce((sum, each) => sum + each[form], 0);
console.log(row("together", sumOf("raw"), sumOf("both"), sumOf("ours")));

console.log(failures.length === 0 ? "\nEvery bound is kept." : `\nExceeded:\n  ${failures.join("\n  ")}`);
process.exitCode = failures.length === 0 ? 0 : 1;
