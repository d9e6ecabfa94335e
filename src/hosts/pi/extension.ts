import { drawsUnknownTools, type PiApi, tellsMcpServers } from "./api.ts";
import { mcpAuthCommand } from "./auth-command.ts";
import { mcpCommand } from "./command.ts";
import { takeProxyAddress } from "./editor.ts";
import { takeFlags } from "./flags.ts";
import { PiHost } from "./host.ts";
import { drawUnknown } from "./render.ts";

/** Which copy of this file is at work in the process. */
const AT_WORK = Symbol.for("pi-mcp.extension");
const memory = globalThis as { [AT_WORK]?: string };

/**
 * The pi extension. It starts nothing and loads nothing but this file until a server is needed. A factory that throws
 * ends pi in every mode, so this one cannot. The command is registered here, at load, because that is what makes pi
 * 1.x leave its built-in client out; the tools are registered when the session starts, because two extensions
 * that name one tool at load are a fatal conflict. For the same reason a second copy, as where a package is installed and another
 * is given on the command line, does nothing.
 */
export default function piMcp(pi: PiApi): void {
  try {
    if (isTooOld(pi)) throw new Error("it needs pi 0.73 or a later one");
    const self = import.meta.url.replace(/\?.*$/, "");
    memory[AT_WORK] ??= self;
    if (memory[AT_WORK] !== self) return;
    takeProxyAddress(process.env);
    const host = new PiHost(pi, takeFlags(pi, process.argv.slice(2)));
    pi.registerCommand("mcp", mcpCommand(host));
    pi.registerCommand("mcp-auth", mcpAuthCommand(host));
    pi.on("session_start", (_event, ctx) => {
      host.begin(ctx);
      return host.greeted;
    });
    pi.on("before_agent_start", () => host.awaitDirectTools());
    pi.on("session_shutdown", ({ reason }) => {
      // What is loaded next may be another copy, and no longer this one.
      delete memory[AT_WORK];
      return host.end(reason);
    });
    pi.on("tool_result", (event) => host.markError(event));
    pi.on("tool_call", ({ toolName }) => host.awaitFindable(toolName));
    if (drawsUnknownTools(pi)) pi.registerToolRenderer(drawUnknown);
    if (tellsMcpServers(pi)) pi.on("mcp_servers_change", () => host.takeRegistered());
  } catch (error) {
    console.error(`pi-mcp could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isTooOld(pi: Partial<PiApi>): boolean {
  return [pi.on, pi.registerCommand, pi.registerTool].some((member) => typeof member !== "function");
}
