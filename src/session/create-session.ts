import { tmpdir } from "node:os";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { findUntrusted } from "../config/consent.ts";
import type { LoadedConfig, UntrustedFile } from "../config/record.ts";
import { createSpillStore } from "../content/spill.ts";
import { McpServerError } from "../error.ts";
import { withoutHandedOver } from "../server/environment.ts";
import type { Surroundings } from "../server/open-transport.ts";
import { endOrphans } from "../server/orphans.ts";
import type { ServerPort } from "../server/port.ts";
import { Server } from "../server/server.ts";
import type { McpSession, ServerStatus } from "./session.ts";

/**
 * A session that owns its servers: each is a private process or connection, ended with the session. `port` is what the
 * host offers to servers; the folder the session works in is offered when it says nothing else.
 */
export function createSession(config: LoadedConfig, given: Surroundings, port: ServerPort = {}): McpSession {
  const surroundings = { ...given, env: withoutHandedOver(given.env) };
  endOrphans(surroundings.env);
  const roots = [{ uri: pathToFileURL(surroundings.cwd).href }];
  const offered: ServerPort = { roots, ...port };
  const servers = new Map(config.servers.map((server) => [server.name, new Server(server, surroundings, offered)]));

  const find = (name: string): Server => {
    const server = servers.get(name);
    if (server) return server;
    const project = findUntrusted(config.untrusted, name);
    if (project) throw new McpServerError(name, "denied", notAllowed(name, project.file));
    const known = [...servers.keys()].join(", ");
    const hint = known === "" ? "no MCP servers are configured" : `configured: ${known}`;
    throw new McpServerError(name, "unknown-server", `no MCP server configured with name \`${name}\`; ${hint}`);
  };

  const close = async () => {
    await Promise.all([...servers.values()].map((server) => server.close()));
  };

  return {
    servers: config.servers,
    problems: config.problems,
    untrusted: config.untrusted ?? [],
    config: (name) => find(name).config,
    spill: createSpillStore({ parent: surroundings.env.TMPDIR ?? tmpdir() }),
    knownTool: (name, tool) => find(name).knownTool(tool),
    status: (name) => statusOf(find(name)),
    listTools: async (name, options = {}) => find(name).listTools(options),
    callTool: async (name, tool, args, options = {}) => find(name).callTool(tool, args, options),
    reconnect: async (name, options = {}) => {
      const server = find(name);
      await server.reconnect(options);
      return statusOf(server);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function notAllowed(name: string, { file, state }: UntrustedFile): string {
  const which = `MCP server \`${name}\` is configured by a file of this project, ${basename(file)}`;
  const why = state === "denied" ? "a person has denied" : "nobody has allowed yet";
  return `${which}, which ${why}; run \`pi-mcp trust\` (in pi: /mcp trust) to see what it would run and to decide`;
}

function statusOf(server: Server): ServerStatus {
  const { toolCount, protocolVersion, pid, trouble, notices } = server;
  return {
    name: server.config.name,
    state: server.state,
    notices,
    ...(toolCount !== undefined && { toolCount }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(pid !== undefined && { pid }),
    ...(trouble !== undefined && { error: trouble }),
  };
}
