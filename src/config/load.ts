import { readAcpVariable } from "./acp-variable.ts";
import { type Entry, isDisabled } from "./entries.ts";
import { type ConfigFlags, type FlagLayer, flagFiles, readFlagLayers } from "./flags.ts";
import { isOverride, mergeLayers, onto, readLayer, withProject } from "./layers.ts";
import { configPaths, type UserEnvironment } from "./paths.ts";
import { quote } from "./problems.ts";
import { describeUntrusted, type ProjectLayer, readProjectLayers } from "./project.ts";
import type { ConfigProblem, LoadedConfig, Origin, ServerConfig, UntrustedFile } from "./record.ts";
import { aboveRegistered, type RegisteredServer, readRegistered } from "./registered.ts";
import { readServer } from "./server.ts";
import { withDirectToolsOf } from "./tool-filter.ts";
import { readTrust, type TrustFile } from "./trust.ts";

/** Where servers are looked for. */
export interface ConfigPlace extends UserEnvironment {
  /** The folder of the project; without one no project files are read. */
  readonly cwd?: string;
  /** What the person named on the command line. */
  readonly flags?: ConfigFlags;
  /** What other extensions of the agent register. */
  readonly registered?: readonly RegisteredServer[];
}

/**
 * Reads every source of servers and never throws: what is wrong is in `problems`, and the rest works. The servers are
 * sorted by name, in the same order in every locale. Of several sources with one name the strongest wins: what was named
 * on the command line, what an editor handed over in the environment, the settings, the mcp.json files, and last
 * what extensions register.
 *
 * A project's files are somebody else's, and a server is a program that runs: an entry of theirs counts only if a person
 * has allowed that very content. All others are in `untrusted` and have no part in `servers`.
 */
export function loadConfig(place: ConfigPlace): LoadedConfig {
  const problems: ConfigProblem[] = [];
  const flags = readFlagLayers(place, problems);
  const isAlone = place.flags?.isStrict === true;
  const { entries, untrusted } = isAlone ? noFiles() : readFiles(place, flagFiles(place), problems);
  const named = applyFlags(flags, entries);
  const handed = readAcpVariable(isAlone ? {} : place.env);
  problems.push(...handed.problems);

  const servers = new Map<string, ServerConfig>();
  const sources = [
    ...readServers(named.entries.settings, "settings", problems),
    ...readServers(named.entries.mcpjson, "mcpjson", problems),
    ...handed.servers.filter(({ name }) => !named.switchedOff.has(name)),
    ...readServers(entries.settings, "settings", problems),
    ...readServers(entries.mcpjson, "mcpjson", problems),
  ];
  for (const server of sources) {
    const winner = servers.get(server.name);
    if (winner === undefined) servers.set(server.name, server);
    else problems.push(shadowed(server, winner));
  }
  return {
    servers: withDirectToolsOf(
      place.env,
      [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ),
    problems,
    ...(untrusted.length > 0 && { untrusted }),
  };
}

/** Entries of one origin, by name. */
type Entries = Map<string, Entry>;

interface EntriesByOrigin {
  readonly settings: Entries;
  readonly mcpjson: Entries;
}

interface FileEntries {
  readonly entries: EntriesByOrigin;
  readonly untrusted: readonly UntrustedFile[];
}

function noFiles(): FileEntries {
  return { entries: { settings: new Map(), mcpjson: new Map() }, untrusted: [] };
}

/** What stands in the files of the person and of the project, and in what extensions register. */
function readFiles(place: ConfigPlace, named: readonly string[], problems: ConfigProblem[]): FileEntries {
  const paths = configPaths(place);
  const own = {
    settings: [readLayer(paths.settings, problems), readLayer(paths.settingsToml, problems)],
    mcpjson: paths.mcpJson.map((file) => readLayer(file, problems)),
  };
  const registered = readRegistered(place.registered ?? [], problems);
  // A file that the person names is taken at their word, whether or not it lies in a project.
  const project = readProject(place, [paths.settings, paths.settingsToml, ...paths.mcpJson, ...named], problems);
  const allowed = project.filter(({ state }) => state === "allowed");
  for (const layer of allowed) problems.push(...layer.problems);
  const entriesOf = (origin: "settings" | "mcpjson") =>
    withProject(
      mergeLayers(own[origin]),
      allowed.flatMap((layer) => (layer.origin === origin ? [layer.entries] : [])),
    );
  const mcpjson = aboveRegistered(registered, mergeLayers(own.mcpjson), entriesOf("mcpjson"), problems);
  return { entries: { settings: entriesOf("settings"), mcpjson }, untrusted: describeUntrusted(project, own) };
}

interface NamedEntries {
  readonly entries: EntriesByOrigin;
  readonly switchedOff: ReadonlySet<string>;
}

/**
 * Takes what was named on the command line above everything else: an entry hides those of its name, one without a
 * transport changes them where they stand, and one that is switched off switches off all of them. Changes `lower`.
 */
function applyFlags(flags: readonly FlagLayer[], lower: EntriesByOrigin): NamedEntries {
  const entries: EntriesByOrigin = { settings: new Map(), mcpjson: new Map() };
  const switchedOff = new Set<string>();
  const all = [entries.settings, entries.mcpjson, lower.settings, lower.mcpjson];
  for (const { origin, entries: layer } of flags) {
    for (const [name, entry] of layer) {
      if (isDisabled(entry.fields)) switchedOff.add(name);
      else switchedOff.delete(name);
      const places = all.filter((each) => each.has(name));
      if (isOverride(entry) && (places.length > 0 || isDisabled(entry.fields))) {
        for (const each of places) each.set(name, onto(each.get(name), entry));
        continue;
      }
      for (const each of places) each.delete(name);
      entries[origin].set(name, entry);
    }
  }
  return { entries, switchedOff };
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
