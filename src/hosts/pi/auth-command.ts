import { visible } from "../../config/problems.ts";
import { describeError } from "../../error.ts";
import type { PiCommand } from "./api.ts";
import type { PiHost } from "./host.ts";
import { tell } from "./notice.ts";

const USAGE =
  "Usage: /mcp-auth login <server>, /mcp-auth complete <server> <address or code>, /mcp-auth status <server>, /mcp-auth logout <server>";

const ACTIONS = ["login", "complete", "status", "logout"];

/** `/mcp-auth`: signing in to servers [S3-34, S3-36]. */
export function mcpAuthCommand(host: PiHost): PiCommand {
  return {
    description: "Sign in to an MCP server (/mcp-auth login <server>), or out of it (/mcp-auth logout <server>)",
    getArgumentCompletions: (prefix) => {
      const choices = ACTIONS.flatMap((action) => host.serverNames.map((name) => `${action} ${name}`));
      const fitting = choices.filter((choice) => choice.startsWith(prefix));
      return fitting.length === 0 ? null : fitting.map((value) => ({ value, label: visible(value) }));
    },
    handler: async (args, ctx) => {
      const say = (text: string, type: "info" | "error") => {
        try {
          tell({ hasUI: ctx.hasUI, ctx }, text, type);
        } catch {
          // The session was replaced, and nobody waits for it.
        }
      };
      try {
        say(await run(host, args.trim(), say), "info");
      } catch (error) {
        say(describeError(error), "error");
      }
    },
  };
}

async function run(host: PiHost, args: string, say: (text: string, type: "info" | "error") => void): Promise<string> {
  const [, action = "", rest = ""] = /^(\S+)\s+(.+)$/s.exec(args) ?? [];
  host.refresh();
  const name = nameIn(host.serverNames, rest, action === "complete");
  if (!ACTIONS.includes(action)) return USAGE;
  if (name === undefined) return `No MCP server of that name. ${USAGE}`;
  const [engine, session] = await host.engine();
  const door = session.signIn(name);
  if (action === "logout") {
    return (await door.logout())
      ? `Signed out of MCP server "${name}".`
      : `There was no sign-in to MCP server "${name}".`;
  }
  if (action === "status") return `MCP server "${name}": ${(await door.status()).state.replace("-", " ")}.`;
  if (action === "complete") {
    await door.complete(rest.slice(name.length).trim());
    return `Signed in to MCP server "${name}".`;
  }
  const flow = await door.start();
  flow.done.then(
    () => say(`Signed in to MCP server "${name}".`, "info"),
    (error: unknown) => say(describeError(error), "error"),
  );
  return engine.askPerson(name, flow);
}

/** The longest name that the words begin with, as names may hold spaces; alone where nothing follows. */
function nameIn(names: readonly string[], words: string, hasMore: boolean): string | undefined {
  if (!hasMore) return names.find((name) => name === words);
  return names.filter((name) => words.startsWith(`${name} `)).sort((a, b) => b.length - a.length)[0];
}
