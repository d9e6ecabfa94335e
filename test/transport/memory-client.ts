/**
 * `node memory-client.ts SERVER TOOL COUNT…`: calls the tool of a configured server so many times after a small call, and
 * prints for each count, as one line of JSON, the CPU time of its calls and by how much the memory of this process rose.
 */
import { loadConfig } from "../../src/config/load.ts";
import { createSession } from "../../src/session/create-session.ts";

const [server = "", warmUp = "", ...tools] = process.argv.slice(2);
const { env } = process;
const session = createSession(loadConfig({ env, home: env.HOME ?? "" }), { env, cwd: process.cwd() });
await session.callTool(server, warmUp, {});
for (const tool of tools) {
  const before = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  await session.callTool(server, tool, {});
  const { user, system } = process.cpuUsage(cpu);
  // The peak of the whole life, so of the first large call.
  const peak = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ tool, rise: peak - before, cpuMs: (user + system) / 1000 }));
}
await session.close();
