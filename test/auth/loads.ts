/** Lists the tools of the server `s`, and prints which modules that has loaded. */
import * as module from "node:module";
import { homedir } from "node:os";

type Load = (url: string, context: unknown, next: (url: string, context: unknown) => unknown) => unknown;

const loaded: string[] = [];
// Newer than the types.
const { registerHooks } = module as unknown as { registerHooks(hooks: { load: Load }): void };
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
const { loadConfig } = await import("../../src/config/load.ts");
const { createSession } = await import("../../src/session/create-session.ts");
const session = createSession(loadConfig({ env: process.env, home: homedir() }), {
  env: process.env,
  cwd: process.cwd(),
});
await session.listTools("s").catch(() => {});
await session.close();
console.log(JSON.stringify(loaded));
