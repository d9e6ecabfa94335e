import { configPaths, type UserEnvironment } from "./paths.ts";
import { quote } from "./problems.ts";
import type { ConfigProblem, LoadedConfig, ServerConfig } from "./record.ts";
import { readServerFiles } from "./server-files.ts";

/**
 * Reads every source of servers and never throws: what is wrong is in `problems`, and the rest works. The servers are
 * sorted by name, in the same order in every locale. Of two sources with one name, the settings files win.
 *
 * Files inside a project are not read: they are not the person's own, and a server is a program that runs.
 */
export function loadConfig(user: UserEnvironment): LoadedConfig {
  const { settings, settingsToml, mcpJson } = configPaths(user);
  const problems: ConfigProblem[] = [];
  const servers = new Map<string, ServerConfig>();
  for (const server of readServerFiles([settings, settingsToml], "settings", problems))
    servers.set(server.name, server);
  for (const server of readServerFiles(mcpJson, "mcpjson", problems)) {
    const winner = servers.get(server.name);
    if (winner === undefined) servers.set(server.name, server);
    else problems.push(shadowed(server, winner));
  }
  return { servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

function shadowed(server: ServerConfig, winner: ServerConfig): ConfigProblem {
  const { file, line } = winner.source;
  const message = `Server ${quote(server.name)} is also in ${file}:${line}, which is used instead of this one. Rename or remove one of them.`;
  return { ...server.source, severity: "warning", server: server.name, message };
}
