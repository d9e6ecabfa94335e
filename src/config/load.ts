import type { Entry } from "./entries.ts";
import { mergeLayers, readLayer, withProject } from "./layers.ts";
import { configPaths, type UserEnvironment } from "./paths.ts";
import { quote } from "./problems.ts";
import { describeUntrusted, type ProjectLayer, readProjectLayers } from "./project.ts";
import type { ConfigProblem, LoadedConfig, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";
import { readTrust, type TrustFile } from "./trust.ts";
import { unusedByName, unusedEntry } from "./unused.ts";

/** Where servers are looked for. */
export interface ConfigPlace extends UserEnvironment {
  /** The folder of the project; without one no project files are read. */
  readonly cwd?: string;
}

/**
 * Reads every source of servers and never throws: what is wrong is in `problems`, and the rest works. The servers are
 * sorted by name, in the same order in every locale. Of two sources with one name, the settings win.
 *
 * A project's files are somebody else's, and a server is a program that runs: an entry of theirs counts only if a person
 * has allowed that very content. All others are in `untrusted` and have no part in `servers`.
 */
export function loadConfig(place: ConfigPlace): LoadedConfig {
  const paths = configPaths(place);
  const problems: ConfigProblem[] = [];
  const own = {
    settings: [readLayer(paths.settings, problems), readLayer(paths.settingsToml, problems)],
    mcpjson: paths.mcpJson.map((file) => readLayer(file, problems)),
  };
  const project = readProject(place, [paths.settings, paths.settingsToml, ...paths.mcpJson], problems);
  const allowed = project.filter(({ state }) => state === "allowed");
  for (const layer of allowed) problems.push(...layer.problems);
  const entriesOf = (origin: "settings" | "mcpjson") =>
    withProject(
      mergeLayers(own[origin]),
      allowed.flatMap((layer) => (layer.origin === origin ? [layer.entries] : [])),
    );

  const servers = new Map<string, ServerConfig>();
  const unread: Entry[] = [];
  for (const server of readServers(entriesOf("settings"), "settings", problems, unread)) {
    servers.set(server.name, server);
  }
  for (const server of readServers(entriesOf("mcpjson"), "mcpjson", problems, unread)) {
    const winner = servers.get(server.name);
    if (winner === undefined) servers.set(server.name, server);
    else problems.push(shadowed(server, winner));
  }
  const untrusted = describeUntrusted(project, own);
  const edited = paths.mcpJson.at(-1) ?? "";
  const unused = unusedByName(
    unread.map((entry) => unusedEntry(entry, problems, edited)),
    new Set(servers.keys()),
  );
  return {
    servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    problems,
    ...(untrusted.length > 0 && { untrusted }),
    ...(unused.length > 0 && { unused }),
  };
}

/** The record of consents is read when there is something it could be about, and complained of only then. */
function readProject(place: ConfigPlace, own: readonly string[], problems: ConfigProblem[]): ProjectLayer[] {
  if (place.cwd === undefined) return [];
  let trust: TrustFile | undefined;
  const layers = readProjectLayers(
    place.cwd,
    own,
    () => {
      trust ??= readTrust(place);
      return trust;
    },
    problems,
  );
  if (trust?.problem !== undefined) problems.push(trust.problem);
  return layers;
}

/** `unread` gets the entries that give no server. */
function readServers(
  entries: ReadonlyMap<string, Entry>,
  origin: Origin,
  problems: ConfigProblem[],
  unread: Entry[],
): ServerConfig[] {
  return [...entries.values()].flatMap((entry) => {
    const server = readServer(entry, origin, problems);
    if (server !== undefined) return [server];
    unread.push(entry);
    return [];
  });
}

function shadowed(server: ServerConfig, winner: ServerConfig): ConfigProblem {
  const { file, line } = winner.source;
  const message = `Server ${quote(server.name)} is also in ${file}:${line}, which is used instead of this one. Rename or remove one of them.`;
  return { ...server.source, severity: "warning", server: server.name, message };
}
