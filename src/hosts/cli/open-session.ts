import { homedir } from "node:os";
import { loadConfig } from "../../config/load.ts";
import { formatProblem } from "../../config/problems.ts";
import { createSession } from "../../session/create-session.ts";
import type { McpSession } from "../../session/session.ts";

/** A session over the user's configuration and what the project was allowed; what is wrong in the files is said on stderr, the rest is used. */
export function openSession(): McpSession {
  const config = loadConfig({ env: process.env, home: homedir(), cwd: process.cwd() });
  for (const problem of config.problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  return createSession(config, { env: process.env, cwd: process.cwd() });
}
