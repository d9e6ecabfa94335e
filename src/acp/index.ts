/**
 * The MCP servers an editor hands to an agent over ACP, for agents in TypeScript. Depends on no ACP library: plain JSON goes
 * in and comes out.
 *
 * @example
 * const servers = connectAcpServers(params.mcpServers, { cwd: params.cwd, clientCapabilities, port });
 * await servers.ready();
 * const answer = await servers.call(toolCall.name, toolCall.arguments, { toolCallId: toolCall.id });
 */
export { type AcpPort, acpMcpCapabilities } from "./client.ts";
export { MCP_COMMAND } from "./command.ts";
export type { AcpToolKind } from "./permission.ts";
export {
  type AcpCallOptions,
  type AcpServers,
  type AcpServersOptions,
  type AcpTool,
  connectAcpServers,
} from "./servers.ts";
