import { formatProblem } from "../../config/problems.ts";
import { describeError } from "../../error.ts";
import type { PiCommand } from "./api.ts";
import { type PiHost, tell } from "./host.ts";

const USAGE = "Usage: /mcp, /mcp reconnect <name>";

/** `/mcp` shows the servers; `/mcp reconnect <name>` connects one anew, as often as asked [S2-28…32]. */
export function mcpCommand(host: PiHost): PiCommand {
  return {
    description: "Show MCP servers, or reconnect one: /mcp reconnect <name>",
    getArgumentCompletions: (prefix) => {
      const choices = ["reconnect", ...host.serverNames.map((name) => `reconnect ${name}`)];
      const fitting = choices.filter((choice) => choice.startsWith(prefix));
      return fitting.length === 0 ? null : fitting.map((value) => ({ value, label: value }));
    },
    handler: async (args, ctx) => {
      try {
        tell({ hasUI: ctx.hasUI, ctx }, await run(host, args.trim()), "info");
      } catch (error) {
        tell({ hasUI: ctx.hasUI, ctx }, describeError(error), "error");
      }
    },
  };
}

async function run(host: PiHost, args: string): Promise<string> {
  const [engine, session] = await host.engine();
  if (args === "") {
    const problems = session.problems.map(formatProblem);
    return [await engine.reportServers(session), ...problems].join("\n");
  }
  const reconnect = /^reconnect\s+(.+)$/.exec(args);
  const name = reconnect?.[1]?.trim();
  if (name === undefined) return USAGE;
  if (!host.serverNames.includes(name)) return `No MCP server named "${name}".`;
  await session.reconnect(name);
  return engine.reportServer(session, name);
}
