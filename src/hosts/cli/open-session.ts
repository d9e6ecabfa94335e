import { openBrowser } from "../../auth/browser.ts";
import { formatProblem } from "../../config/problems.ts";
import { createDialogs } from "../../dialogs/dialogs.ts";
import { createSession } from "../../session/create-session.ts";
import type { McpSession } from "../../session/session.ts";
import type { OptionValues } from "./command.ts";
import { configHere } from "./config-file.ts";
import { terminalAsker } from "./terminal-asker.ts";

/**
 * A session over the user's configuration and what the project was allowed; what is wrong in the files is said on stderr,
 * the rest is used. At a terminal the person is asked what there is to ask.
 */
export function openSession(values: OptionValues): McpSession {
  const config = configHere(values);
  for (const problem of config.problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  const stderr = (server: string, line: string) => console.error(`[${server}] ${line}`);
  // A command is for one server and one moment: those that live with a session are left alone.
  const servers = config.servers.map((server) => ({
    ...server,
    policy: { ...server.policy, lifecycle: "lazy" as const },
  }));
  const asker = terminalAsker();
  const port = asker && createDialogs(asker, (address) => openBrowser(address, process.env));
  const pinsChanged = (_: string, text: string) => console.error(`pi-mcp: ${text}`);
  return createSession(
    { ...config, servers },
    { env: process.env, cwd: process.cwd(), stderr },
    { ...port, pinsChanged },
  );
}
