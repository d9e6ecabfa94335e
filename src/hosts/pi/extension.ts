import { drawsUnknownTools, type PiApi, tellsMcpServers } from "./api.ts";
import { mcpAuthCommand } from "./auth-command.ts";
import { mcpCommand } from "./command.ts";
import { takeFlags } from "./flags.ts";
import { PiHost } from "./host.ts";
import { drawUnknown } from "./render.ts";

/**
 * The pi extension. It starts nothing and loads nothing but this file until a server is needed. A factory that throws
 * ends pi in every mode, so this one cannot. The command is registered here, at load, because that is what makes pi
 * 1.x leave its built-in client out; the tools are registered when the session starts, because two extensions
 * that name one tool at load are a fatal conflict.
 */
export default function piMcp(pi: PiApi): void {
  try {
    const host = new PiHost(pi, takeFlags(pi, process.argv.slice(2)));
    pi.registerCommand("mcp", mcpCommand(host));
    pi.registerCommand("mcp-auth", mcpAuthCommand(host));
    pi.on("session_start", (_event, ctx) => host.begin(ctx));
    pi.on("before_agent_start", () => host.awaitDirectTools());
    pi.on("session_shutdown", ({ reason }) => host.end(reason));
    pi.on("tool_result", (event) => host.markError(event));
    pi.on("tool_call", ({ toolName }) => host.awaitFindable(toolName));
    if (drawsUnknownTools(pi)) pi.registerToolRenderer(drawUnknown);
    if (tellsMcpServers(pi)) pi.on("mcp_servers_change", () => host.takeRegistered());
  } catch (error) {
    console.error(`pi-mcp could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}
