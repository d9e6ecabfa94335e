import { displayServer } from "../config/display.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import type { McpSession } from "../session/session.ts";

const NO_SERVERS =
  'No MCP servers configured. Add entries under settings `mcpServers` (e.g. { name, transport: "stdio", command, args?, env?, disabled? }) and reload, then `mcp list_tools <server>`.';

/** The servers there are, with the live ones marked [S1-18, S1-24…26]. */
export function listServers(session: McpSession): string {
  const { servers } = session;
  const waiting = waitingNote(session);
  if (servers.length === 0) return [NO_SERVERS, ...waiting].join("\n");
  const lines = servers.map((config) => {
    const { state } = session.status(config.name);
    const live = state === "ready" || state === "starting" ? " (live)" : "";
    return `- ${sanitizeLine(config.name, 100)}${live} (${sanitizeLine(displayServer(config), 400)})`;
  });
  return [`MCP servers (${lines.length} configured):`, ...lines, ...waiting].join("\n");
}

/** Their number and no more: names in a file nobody has allowed are a stranger's words to the model. */
function waitingNote({ untrusted }: McpSession): string[] {
  const count = untrusted.flatMap(({ servers }) => servers).length;
  if (count === 0) return [];
  return [
    `[${count} more configured by this project, not usable until the person has allowed them with \`/mcp trust\`]`,
  ];
}
