import type { Entry } from "./entries.ts";
import { FileMemory } from "./file-memory.ts";
import { mergeLayers, readLayer, withProject } from "./layers.ts";
import { configPaths, trustPath, type UserEnvironment } from "./paths.ts";
import { quote } from "./problems.ts";
import { describeUntrusted, type ProjectLayer, readProjectLayers } from "./project.ts";
import type { ConfigProblem, LoadedConfig, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";
import { readTrust, type TrustFile } from "./trust.ts";

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
 *
 * With the `memory` of an earlier reading, a file that is broken now counts as what it held then. What a person has
 * allowed is never remembered so: a consent that was taken back, or that cannot be read, is none.
 */
export function loadConfig(place: ConfigPlace, memory: FileMemory = new FileMemory()): LoadedConfig {
  memory.begin();
  const paths = configPaths(place);
  const problems: ConfigProblem[] = [];
  const own = {
    settings: [paths.settings, paths.settingsToml].map((file) => readLayer(file, problems, memory)),
    mcpjson: paths.mcpJson.map((file) => readLayer(file, problems, memory)),
  };
  const project = readProject(place, [paths.settings, paths.settingsToml, ...paths.mcpJson], problems, memory);
  const allowed = project.filter(({ state }) => state === "allowed");
  for (const layer of allowed) problems.push(...layer.problems);
  const entriesOf = (origin: "settings" | "mcpjson") =>
    withProject(
      mergeLayers(own[origin]),
      allowed.flatMap((layer) => (layer.origin === origin ? [layer.entries] : [])),
    );

  const servers = new Map<string, ServerConfig>();
  for (const server of readServers(entriesOf("settings"), "settings", problems)) servers.set(server.name, server);
  for (const server of readServers(entriesOf("mcpjson"), "mcpjson", problems)) {
    const winner = servers.get(server.name);
    if (winner === undefined) servers.set(server.name, server);
    else problems.push(shadowed(server, winner));
  }
  const untrusted = describeUntrusted(project, own);
  return {
    servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    problems,
    ...(untrusted.length > 0 && { untrusted }),
  };
}

/** The record of consents is read when there is something it could be about, and complained of only then. */
function readProject(
  place: ConfigPlace,
  own: readonly string[],
  problems: ConfigProblem[],
  memory: FileMemory,
): ProjectLayer[] {
  if (place.cwd === undefined) return [];
  let trust: TrustFile | undefined;
  const layers = readProjectLayers(
    place.cwd,
    own,
    () => {
      // Noted first: what is decided in between shows as a change.
      if (trust === undefined) memory.note(trustPath(place));
      trust ??= readTrust(place);
      return trust;
    },
    problems,
    memory,
  );
  if (trust?.problem !== undefined) problems.push(trust.problem);
  return layers;
}

function readServers(entries: ReadonlyMap<string, Entry>, origin: Origin, problems: ConfigProblem[]): ServerConfig[] {
  return [...entries.values()]
    .map((entry) => readServer(entry, origin, problems))
    .filter((server) => server !== undefined);
}

function shadowed(server: ServerConfig, winner: ServerConfig): ConfigProblem {
  const { file, line } = winner.source;
  const message = `Server ${quote(server.name)} is also in ${file}:${line}, which is used instead of this one. Rename or remove one of them.`;
  return { ...server.source, severity: "warning", server: server.name, message };
}
