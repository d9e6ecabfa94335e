import { readMcpJsonFiles } from "./mcp-json.ts";
import { configPaths, type UserEnvironment } from "./paths.ts";
import { shadowed } from "./problems.ts";
import type { ConfigProblem, LoadedConfig, ServerConfig } from "./record.ts";
import { readSettingsFiles } from "./settings.ts";

/**
 * Reads every source of servers and never throws: what is wrong is in `problems`, and the rest works. The servers are
 * sorted by name, in the same order in every locale. Of two sources with one name, the settings files win.
 *
 * Files inside a project are not read: they are not the person's own, and a server is a program that runs.
 */
export function loadConfig(user: UserEnvironment): LoadedConfig {
  const paths = configPaths(user);
  const problems: ConfigProblem[] = [];
  const servers = new Map<string, ServerConfig>();
  for (const server of readSettingsFiles(paths.settings, paths.settingsToml, problems))
    servers.set(server.name, server);
  for (const server of readMcpJsonFiles(paths.mcpJson, problems)) {
    const winner = servers.get(server.name);
    if (winner === undefined) servers.set(server.name, server);
    else problems.push(shadowed(server, winner.source));
  }
  return { servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}
