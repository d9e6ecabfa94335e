import { ToolNames } from "../src/catalog/names.ts";
import type { McpSession } from "../src/session/session.ts";
import { directTools } from "../src/tools/direct.ts";
import { temporaryHome } from "../test/ground/home.ts";
import { EXTENSION, type Host, runPi } from "../test/ground/run-pi.ts";
import { scriptedModel } from "../test/ground/scripted-model.ts";
import { tokensOf } from "./token-count.ts";

/** What a model is offered, and which of the configured servers brings it along. */
export const SURFACES = {
  mcp: { surface: "gateway", mayAuthorize: false },
  "mcp + mcp_auth": { surface: "gateway", mayAuthorize: true },
  "mcp_load + mcp_call": { surface: "split", mayAuthorize: false },
  "mcp_load + mcp_call + mcp_auth": { surface: "split", mayAuthorize: true },
} as const;

export type Surface = keyof typeof SURFACES;

/**
 * What a request of the real host holds more when this many servers are configured: its tools as JSON and its system prompt,
 * beside those of a request without the extension.
 */
export async function surfaceCost(host: Host, surface: Surface, servers: number): Promise<number> {
  const { mayAuthorize, ...policy } = SURFACES[surface];
  const entryOf = (index: number) =>
    mayAuthorize && index === 0 ? { url: "https://mcp.example.com/", ...policy } : { command: "mcp-server", ...policy };
  const names = Array.from({ length: servers }, (_, index) => [`server-${index + 1}`, entryOf(index)]);
  const cost = await requestCost(host, { mcp: { mcpServers: Object.fromEntries(names) }, extension: EXTENSION });
  return cost - (await plainCost(host));
}

const plainCosts = new Map<Host, Promise<number>>();

function plainCost(host: Host): Promise<number> {
  const cost = plainCosts.get(host) ?? requestCost(host, {});
  plainCosts.set(host, cost);
  return cost;
}

async function requestCost(host: Host, { mcp, extension }: { mcp?: object; extension?: string }): Promise<number> {
  await using model = await scriptedModel([{ say: "Good day." }]);
  await using home = await temporaryHome({ model, ...(mcp && { mcp }) });
  await runPi(host, home, { mode: "print", prompt: "Good day", ...(extension !== undefined && { extension }) });
  const request = await model.until(1, 1);
  // The folder's name is a random one.
  const system = request.system.replaceAll(home.root, "/tmp/project");
  return tokensOf(system) + request.tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
}

/** The tools of all servers of a session as tools of their own: what each of them adds to a request. */
export async function directCosts(session: McpSession): Promise<{ server: string; tools: number; tokens: number }[]> {
  const names = new ToolNames();
  return Promise.all(
    session.servers.map(async ({ name: server }) => {
      const tools = directTools(session, server, await session.listTools(server), names);
      const tokens = tools.reduce(
        (sum, { name, description, parameters }) => sum + tokensOf({ name, description, parameters }),
        0,
      );
      return { server, tools: tools.length, tokens };
    }),
  );
}
