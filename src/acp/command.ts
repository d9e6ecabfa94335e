import { formatProblem } from "../config/problems.ts";
import { describeError } from "../error.ts";
import { reportServer, reportServers } from "../session/report.ts";
import type { McpSession } from "../session/session.ts";

/** For `available_commands_update`: editors send only commands that were announced. */
export const MCP_COMMAND = {
  name: "mcp",
  description: "Show the MCP servers of this session, or connect one again",
  input: { hint: "reconnect <server>" },
} as const;

const USAGE = "Usage: /mcp, /mcp reconnect <server>";

/** Whether the text of a prompt is the command `/mcp`. */
export function isMcpCommand(text: string): boolean {
  return /^\/mcp(\s|$)/.test(text.trimStart());
}

/** What `/mcp` and `/mcp reconnect <server>` answer, as text [S2-28…32]. Never rejects. */
export async function runMcpCommand(session: McpSession, text: string): Promise<string> {
  const args = text.trim().slice("/mcp".length).trim();
  try {
    if (args === "") return [await reportServers(session), ...session.problems.map(formatProblem)].join("\n");
    const name = /^reconnect\s+(.+)$/s.exec(args)?.[1]?.trim();
    if (name === undefined) return USAGE;
    await session.reconnect(name);
    return await reportServer(session, name);
  } catch (thrown) {
    return describeError(thrown);
  }
}
