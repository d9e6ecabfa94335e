import { waitingNotice } from "../config/consent.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { permissionLine } from "../permission/describe.ts";
import type { McpSession, ServerStatus } from "./session.ts";

/** A listing asked for only to show a count may not hold up the screen. */
const COUNT_LIMIT_MS = 2_000;

/**
 * The servers of a session for a person [S2-28…30]: name, state, number of tools, and why one is not running. Starts
 * nothing; a connected server whose tools were never listed is asked for them.
 */
export async function reportServers(session: McpSession): Promise<string> {
  const lines = await Promise.all(session.servers.map(({ name }) => reportServer(session, name)));
  const waiting = waitingNotice(session.untrusted, "`/mcp trust`");
  const all = [...lines, ...[waiting, permissionLine(session.permission)].filter((line) => line !== undefined)];
  return all.length === 0 ? "No MCP servers." : all.join("\n");
}

export async function reportServer(session: McpSession, name: string): Promise<string> {
  const status = session.status(name);
  if (status.state === "ready" && status.toolCount === undefined) {
    await session.listTools(name, { signal: AbortSignal.timeout(COUNT_LIMIT_MS) }).catch(() => {});
  }
  const { notices } = session.status(name);
  return [describe(session.status(name)), ...notices.map((notice) => `    (${notice})`)].join("\n");
}

function describe(status: ServerStatus): string {
  const name = sanitizeLine(status.name, 100);
  const reason = status.error === undefined ? "" : `\n    ${status.error}`;
  switch (status.state) {
    case "idle":
      return `${name}: not started, starts on first use`;
    case "starting":
      return `${name}: starting`;
    case "ready":
      if (status.error !== undefined) return `${name}: connected, tools failed${reason}`;
      return `${name}: connected${status.toolCount === undefined ? "" : `, ${plural(status.toolCount, "tool")}`}`;
    case "needs-auth":
      return `${name}: needs authorization${reason}`;
    case "failed":
      return `${name}: failed${reason}`;
    case "stopped":
      return `${name}: stopped, reconnects on next call${reason}`;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
