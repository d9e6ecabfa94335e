/**
 * `npm run test:sessions`: fifty sessions, opened and closed one after the other, each with a server that has started
 * another process. After each of them no process is left, and no descriptor.
 */
import { readdirSync } from "node:fs";
import { loadConfig } from "../../src/config/load.ts";
import { createSession } from "../../src/session/create-session.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";

const SESSIONS = 50;
/** Load what is loaded once. */
const WARM = 3;

const home = await temporaryHome();
const server = await fakeStdio(home, { startup: { spawnGrandchild: true } });
home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args } } } });
const env = home.env();
const problems: string[] = [];
let descriptors = 0;

for (let count = 1; count <= SESSIONS; count++) {
  const session = createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd });
  await session.callTool("fake", "echo", {});
  if (home.survivors().length < 2) problems.push(`session ${count} had no two processes`);
  await session.close();
  const left = home.survivors();
  if (left.length > 0) problems.push(`session ${count} left ${left.map(({ command }) => command).join("; ")}`);
  const open = readdirSync("/proc/self/fd").length;
  if (count === WARM) descriptors = open;
  if (count > WARM && open > descriptors) problems.push(`session ${count} left ${open - descriptors} descriptors`);
}
await home.remove().catch((error: unknown) => problems.push(String(error)));
for (const problem of problems) console.log(`FAILED ${problem}`);
console.log(`${SESSIONS} sessions, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
