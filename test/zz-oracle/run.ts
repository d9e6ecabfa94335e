/**
 * `npm run test:oracle`: one script of operations against real servers, through pi-mcp's client and through the official
 * SDK's. What they give must be the same but for the list in differences.ts, of which nothing may be missing either.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { everythingOverHttp, REAL } from "../e2e/real-servers.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import type { OracleClient, Target } from "./client.ts";
import { DIFFERENCES, type Difference } from "./differences.ts";
import { plain } from "./normal.ts";
import { ourFailure, ours } from "./ours.ts";
import { EVERYTHING, type Operation, OWN } from "./script.ts";
import { sdk, sdkFailure } from "./sdk.ts";

const SERVER = `${import.meta.dirname}/server.ts`;
/** Characters of a value in the report. */
const SHOWN = 160;

interface Served {
  readonly server: Target["server"];
  stop(): Promise<void>;
}

interface Trial {
  readonly name: string;
  readonly era: Target["era"];
  readonly operations: readonly Operation[];
  serve(home: Home): Promise<Served>;
}

const TRIALS: readonly Trial[] = [
  {
    name: "everything stdio",
    era: "legacy",
    operations: EVERYTHING,
    serve: async () => process_(REAL.everything("e", "stdio")),
  },
  {
    name: "everything http",
    era: "legacy",
    operations: EVERYTHING,
    serve: async (home) => {
      const { url, stop } = await everythingOverHttp(home);
      return { server: { url }, stop };
    },
  },
  ...(["legacy", "modern"] as const).flatMap((era): Trial[] => [
    {
      name: `own stdio ${era}`,
      era,
      operations: OWN,
      serve: async () => process_({ command: process.execPath, args: [SERVER, "stdio"] }),
    },
    { name: `own http ${era}`, era, operations: OWN, serve: ownOverHttp },
  ]),
];

/** A server each client starts for itself. */
function process_({ command, args }: { command: string; args: string[] }): Served {
  return { server: { command, args }, stop: async () => {} };
}

async function ownOverHttp(home: Home): Promise<Served> {
  const child = spawn(process.execPath, [SERVER, "http"], { env: home.env(), stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    server: { url: `http://127.0.0.1:${port}/mcp` },
    stop: async () => {
      const exit = once(child, "exit");
      child.stdin.end();
      await exit;
    },
  };
}

interface Found {
  readonly trial: string;
  readonly operation: string;
  readonly path: string;
  readonly ours: unknown;
  readonly sdk: unknown;
}

const found: Found[] = [];
let compared = 0;
for (const trial of TRIALS) found.push(...(await attempt(trial)));
process.exitCode = report();

async function attempt(trial: Trial): Promise<Found[]> {
  const [mine, theirs] = [await run(trial, ours, ourFailure), await run(trial, sdk, sdkFailure)];
  return trial.operations.flatMap(({ name }) => {
    compared++;
    return differencesOf(mine.get(name), theirs.get(name)).map(({ path, ours, sdk }) => {
      return { trial: trial.name, operation: name, path, ours, sdk };
    });
  });
}

/** Each client has a server of its own, so that neither meets what the other left. */
async function run(
  trial: Trial,
  connect: (target: Target) => Promise<OracleClient>,
  failure: (error: unknown) => unknown,
): Promise<Map<string, unknown>> {
  await using home = await temporaryHome();
  const { server, stop } = await trial.serve(home);
  const results = new Map<string, unknown>();
  try {
    const client = await connect({ server, era: trial.era, env: home.env(), cwd: home.cwd });
    try {
      for (const operation of trial.operations) {
        const result = await operation.run(client).catch((error: unknown) => ({ failed: failure(error) }));
        results.set(operation.name, plain(result));
      }
    } finally {
      await client.close();
    }
  } finally {
    await stop();
  }
  return results;
}

/** The smallest places where two values differ. */
function differencesOf(ours: unknown, sdk: unknown, path = ""): { path: string; ours: unknown; sdk: unknown }[] {
  if (Object.is(ours, sdk)) return [];
  const bothObjects = typeof ours === "object" && typeof sdk === "object" && ours !== null && sdk !== null;
  if (!bothObjects || Array.isArray(ours) !== Array.isArray(sdk)) return [{ path, ours, sdk }];
  const [left, right] = [ours as Record<string, unknown>, sdk as Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    differencesOf(left[key], right[key], path === "" ? key : `${path}.${key}`),
  );
}

function report(): number {
  const isListed = ({ trial, operation, path }: Found, listed: Difference) =>
    (listed.targets?.includes(trial) ?? true) &&
    listed.operation === operation &&
    (path === listed.path || path.startsWith(`${listed.path}.`));
  const unlisted = found.filter((each) => !DIFFERENCES.some((listed) => isListed(each, listed)));
  const stale = DIFFERENCES.flatMap((listed) => {
    const trials = TRIALS.filter(({ operations }) => operations.some(({ name }) => name === listed.operation));
    return (listed.targets ?? trials.map(({ name }) => name))
      .filter((trial) => !found.some((each) => each.trial === trial && isListed(each, listed)))
      .map((trial) => `${trial}, ${listed.operation}, ${listed.path}`);
  });
  for (const { trial, operation, path, ours, sdk } of unlisted) {
    console.log(`DIFFERENT ${trial}, ${operation}, at "${path}"\n  pi-mcp: ${show(ours)}\n  sdk:    ${show(sdk)}`);
  }
  for (const gone of stale) console.log(`LISTED BUT EQUAL ${gone}`);
  for (const { operation, path, targets, reason } of DIFFERENCES) {
    console.log(`differs as listed: ${operation}, at "${path}"${targets ? ` (${targets.join(", ")})` : ""}: ${reason}`);
  }
  console.log(
    `${compared} operations at ${TRIALS.length} servers compared: ${found.length - unlisted.length} differences as listed, ` +
      `${unlisted.length} not listed, ${stale.length} listed that are none.`,
  );
  return unlisted.length + stale.length > 0 || compared === 0 ? 1 : 0;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
}
