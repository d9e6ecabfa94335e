import { gatewayOf, type HostAbilities } from "../../config/gateways.ts";
import { maySignIn } from "../../config/may-sign-in.ts";
import type { ServerConfig } from "../../config/record.ts";
import type { McpSession } from "../../session/session.ts";
import { MCP_AUTH_TOOL } from "../../tools/mcp-auth-description.ts";
import { MCP_TOOL } from "../../tools/mcp-description.ts";
import { MCP_CALL_TOOL, mcpLoadTool } from "../../tools/split-description.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "../../tools/tool.ts";
import type { Engine } from "./live-session.ts";
import type { PiTools } from "./pi-tools.ts";

type Run = (session: McpSession, call: ToolCall) => Promise<ToolAnswer>;

/** A tool that reaches every server. */
interface SurfaceTool {
  readonly name: string;
  /** Of the servers there are, or `undefined` where none of them brings it along. */
  describe(servers: readonly ServerConfig[], host: HostAbilities): ToolDescription | undefined;
  run(engine: Engine): Run;
}

const brings = (surface: "gateway" | "split", servers: readonly ServerConfig[], host: HostAbilities) =>
  servers.some((server) => gatewayOf(server, host) === surface);

const SURFACE_TOOLS: readonly SurfaceTool[] = [
  {
    name: MCP_TOOL.name,
    describe: (servers, host) => (brings("gateway", servers, host) ? MCP_TOOL : undefined),
    run: ({ runMcpTool }) => runMcpTool,
  },
  {
    name: "mcp_load",
    describe: (servers, host) =>
      brings("split", servers, host) ? mcpLoadTool(servers.map(({ name }) => name)) : undefined,
    run: ({ runMcpLoad }) => runMcpLoad,
  },
  {
    name: MCP_CALL_TOOL.name,
    describe: (servers, host) => (brings("split", servers, host) ? MCP_CALL_TOOL : undefined),
    run: ({ runMcpCall }) => runMcpCall,
  },
  {
    name: MCP_AUTH_TOOL.name,
    describe: (servers) => (servers.some(maySignIn) ? MCP_AUTH_TOOL : undefined),
    run: ({ runMcpAuthTool }) => runMcpAuthTool,
  },
];

/** Declares those that the servers of now bring along, and withdraws the others: an unused client costs no tool. */
export function declareSurfaceTools(
  tools: PiTools,
  servers: readonly ServerConfig[],
  host: HostAbilities,
  engine: () => Promise<[Engine, McpSession]>,
): void {
  for (const { name, describe, run } of SURFACE_TOOLS) {
    const description = describe(servers, host);
    if (description === undefined) tools.withdraw([name]);
    else {
      tools.offer(description, async (call) => {
        const [loaded, session] = await engine();
        return run(loaded)(session, call);
      });
    }
  }
}
