import { formatProblem } from "../../config/problems.ts";
import type { UntrustedFile } from "../../config/record.ts";
import { userEnvironment } from "../../config/user.ts";
import { describeError } from "../../error.ts";
import type { PiCommand, PiContext } from "./api.ts";
import type { PiHost } from "./host.ts";
import { tell } from "./notice.ts";

const USAGE = "Usage: /mcp, /mcp reconnect <name>, /mcp trust";

/**
 * Characters of a consent that a dialog can be trusted to show whole. What is longer could have its dangerous part where
 * nobody looks, so it is left to a terminal that scrolls.
 */
const MAX_DIALOG_CHARS = 4_000;

/** `/mcp` shows the servers; `/mcp reconnect <name>` connects one anew, as often as asked [S2-28…32]. */
export function mcpCommand(host: PiHost): PiCommand {
  return {
    description: "Show MCP servers, reconnect one (/mcp reconnect <name>), or allow this project's (/mcp trust)",
    getArgumentCompletions: (prefix) => {
      const choices = ["trust", "reconnect", ...host.serverNames.map((name) => `reconnect ${name}`)];
      const fitting = choices.filter((choice) => choice.startsWith(prefix));
      return fitting.length === 0 ? null : fitting.map((value) => ({ value, label: value }));
    },
    handler: async (args, ctx) => {
      try {
        tell({ hasUI: ctx.hasUI, ctx }, await run(host, args.trim(), ctx), "info");
      } catch (error) {
        tell({ hasUI: ctx.hasUI, ctx }, describeError(error), "error");
      }
    },
  };
}

async function run(host: PiHost, args: string, ctx: PiContext): Promise<string> {
  if (args === "trust") return trust(host, ctx);
  host.refresh();
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

/** The harmless answer stands first: that is what a stray Enter takes. */
const LATER = "Not now";
const ALLOW = "Allow";

/**
 * Asks, file by file, whether what this project's files would run is allowed. A "Not now" is not kept:
 * dialogs are dismissed for many reasons. What was allowed joins the session at once.
 */
async function trust(host: PiHost, ctx: PiContext): Promise<string> {
  const untrusted = host.untrusted();
  if (untrusted.length === 0) return "Nothing of this project waits to be allowed.";
  const { allowProject, describeUntrustedFile } = await import("./engine.ts");
  if (!ctx.hasUI) {
    const texts = untrusted.map(describeUntrustedFile);
    return [...texts, "Nobody can be asked here: run `pi-mcp trust` in this folder."].join("\n\n");
  }
  const allowed: UntrustedFile[] = [];
  const notes: string[] = [];
  for (const file of untrusted) {
    const text = describeUntrustedFile(file);
    if (text.length > MAX_DIALOG_CHARS) {
      notes.push("A file is too long to be shown in a dialog: run `pi-mcp trust` in this folder.");
      continue;
    }
    const answer = await ctx.ui.select(`Allow the MCP servers of this project?\n\n${text}`, [LATER, ALLOW]);
    if (answer !== ALLOW) continue;
    allowProject(userEnvironment(), file);
    allowed.push(file);
  }
  if (allowed.length === 0) return [...notes, "Nothing was allowed."].join("\n");
  host.reload();
  const names = allowed.flatMap(({ servers }) => servers).length;
  return [...notes, `Allowed: ${names === 1 ? "1 server" : `${names} servers`}. They can be used now.`].join("\n");
}
