/**
 * `npm run bench:close`: how long a session takes to end with ten servers that ignore the end of their input and SIGTERM,
 * each with a child of its own that does nothing. The bound is 3 seconds for all of them together.
 */
import assert from "node:assert/strict";
import { loadConfig } from "../src/config/load.ts";
import { createSession } from "../src/session/create-session.ts";
import { fakeStdio } from "../test/ground/fake-server.ts";
import { temporaryHome } from "../test/ground/home.ts";
import { isAlive } from "../test/ground/processes.ts";
import type { ServerScript } from "../test/ground/script.ts";

const SERVERS = 10;
const BOUND_S = 3;
const startup = { ignoreEof: true, ignoreSigterm: true, spawnGrandchild: true };

/** By where they are configured, which says how they are told to end. */
const CASES: readonly [name: string, file: "settings" | "mcp", script: ServerScript][] = [
  ["mcp.json", "mcp", { startup }],
  ["settings.json", "settings", { startup }],
  ["settings.json, deaf", "settings", { startup, on: { shutdown: { silent: true } } }],
];

console.log(`${SERVERS} servers and their children, gone after`);
for (const [name, file, script] of CASES) {
  await using home = await temporaryHome();
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => fakeStdio(home, script)));
  home.write({ [file]: { mcpServers: servers.map((server, index) => server.entry(`s${index}`)) } });
  const env = home.env();
  const session = createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd });
  await Promise.all(servers.map((_, index) => session.callTool(`s${index}`, "echo", {})));
  const pids = servers.flatMap((server) => [...server.starts(), ...server.grandchildren()]);
  assert.equal(pids.filter(isAlive).length, 2 * SERVERS);
  const begun = performance.now();
  await session.close();
  const seconds = (performance.now() - begun) / 1000;
  assert.deepEqual(pids.filter(isAlive), []);
  console.log(`  ${name.padEnd(20)} ${seconds.toFixed(2)} s`);
  if (seconds >= BOUND_S) process.exitCode = 1;
}
