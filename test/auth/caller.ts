/**
 * One of several agents with the same credentials: `caller.ts <number of calls> <server>`. Makes all calls at once
 * when it is told to, and prints how each ended.
 */
import { homedir } from "node:os";
import { loadConfig } from "../../src/config/load.ts";
import { messageOf } from "../../src/error.ts";
import { createSession } from "../../src/session/create-session.ts";

const session = createSession(loadConfig({ env: process.env, home: homedir() }), {
  env: process.env,
  cwd: process.cwd(),
});
const [calls = "1", server = ""] = process.argv.slice(2);
console.log("ready");
process.stdin.once("data", async () => {
  const ended = await Promise.allSettled(
    Array.from({ length: Number(calls) }, (_, index) =>
      session.callTool(server, "echo", { text: `${process.pid}-${index}` }),
    ),
  );
  await session.close();
  console.log(JSON.stringify(ended.map((each) => (each.status === "fulfilled" ? "ok" : messageOf(each.reason)))));
  process.stdin.destroy();
});
