import { readAcpServers } from "./acp.ts";
import { readAcpVariable } from "./acp-variable.ts";
import { type Entry, isDisabled } from "./entries.ts";
import { FileMemory } from "./file-memory.ts";
import { type ConfigFlags, type FlagLayer, flagFiles, readFlagLayers } from "./flags.ts";
import { readBytes } from "./json-file.ts";
import { readKept } from "./kept-permissions.ts";
import { isOverride, mergeLayers, type OwnFile, onto, readOwnFile, withProject } from "./layers.ts";
import { configPaths, permissionPath, trustPath, type UserEnvironment } from "./paths.ts";
import { type PermissionSources, readPermission } from "./permission.ts";
import { quote } from "./problems.ts";
import { describeUntrusted, type ProjectLayer, readProjectLayers } from "./project.ts";
import type {
  ConfigProblem,
  KeptPermission,
  LoadedConfig,
  Origin,
  ServerConfig,
  Surface,
  UntrustedFile,
} from "./record.ts";
import { aboveRegistered, type RegisteredServer, readRegistered } from "./registered.ts";
import { readServer } from "./server.ts";
import { withDirectToolsOf } from "./tool-filter.ts";
import { readTrust, type TrustFile } from "./trust.ts";
import { unusedByName, unusedEntry, wrongEntries } from "./unused.ts";

/** Where servers are looked for. */
export interface ConfigPlace extends UserEnvironment {
  /** The folder of the project; without one no project files are read. */
  readonly cwd?: string;
  /** What the person named on the command line. */
  readonly flags?: ConfigFlags;
  /** The servers an editor has handed to this session, as it wrote them; they take the place of those in the environment. */
  readonly handed?: unknown;
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
 *
 * With the `memory` of an earlier reading, a file that is broken now counts as what it held then. What a person has
 * allowed is never remembered so: a consent that was taken back, or that cannot be read, is none.
 */
export function loadConfig(place: ConfigPlace, memory: FileMemory = new FileMemory()): LoadedConfig {
  memory.begin();
  const problems: ConfigProblem[] = [];
  const flags = readFlagLayers(place, problems, memory);
  const isAlone = place.flags?.isStrict === true;
  const files = isAlone ? noFiles(place, memory) : readFiles(place, flagFiles(place), problems, memory);
  const { entries, untrusted, surfaces } = files;
  const named = applyFlags(flags, entries);
  const surface = strongest([...surfaces, ...flags.map((flag) => flag.surface)]);
  const handed = isAlone ? NOTHING_HANDED : readHanded(place, surface);
  problems.push(...handed.problems);

  const servers = new Map<string, ServerConfig>();
  const unread: Entry[] = [];
  const read = ({ settings, mcpjson }: EntriesByOrigin) => [
    ...readServers(settings, "settings", problems, unread, surface),
    ...readServers(mcpjson, "mcpjson", problems, unread, surface),
  ];
  const sources = [
    ...read(named.entries),
    ...handed.servers.filter(({ name }) => !named.switchedOff.has(name)),
    ...read(entries),
  ];
  for (const server of sources) {
    const winner = servers.get(server.name);
    if (winner === undefined) servers.set(server.name, server);
    else problems.push(shadowed(server, winner));
  }
  const permission = readPermission(
    {
      ...files.permission,
      env: place.env,
      // A file called settings.json is the agent's, and what it says under that key may be about something else.
      flags: flags.flatMap(({ origin, document }) => (origin === "mcpjson" ? document : [])),
      kept: () => readKeptNoted(place, problems, memory),
    },
    problems,
  );
  const edited = configPaths(place).mcpJson.at(-1) ?? "";
  const unused = unusedByName(
    [...unread.map((entry) => unusedEntry(entry, problems, edited)), ...wrongEntries(handed.problems)],
    new Set(servers.keys()),
  );
  return {
    servers: withDirectToolsOf(
      place.env,
      [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ),
    problems,
    ...(permission && { permission }),
    ...(untrusted.length > 0 && { untrusted }),
    ...(unused.length > 0 && { unused }),
  };
}

const NOTHING_HANDED: LoadedConfig = { servers: [], problems: [] };

function readHanded({ handed, env }: ConfigPlace, surface: Surface | undefined): LoadedConfig {
  if (handed === undefined) return readAcpVariable(env, surface);
  return readAcpServers(handed, { env, ...(surface && { surface }) });
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
  /** What each file says of the surface of all servers, from low to high. */
  readonly surfaces: readonly OwnFile["surface"][];
  /** Where there may be something about permission. */
  readonly permission: Pick<PermissionSources, "own" | "broken" | "project">;
}

/** No servers of any file; what the person says about permission counts all the same. */
function noFiles(place: ConfigPlace, memory: FileMemory): FileEntries {
  const files = configPaths(place).mcpJson.map((file) => readOwnFile(file, [], memory));
  return {
    entries: { settings: new Map(), mcpjson: new Map() },
    untrusted: [],
    surfaces: [],
    permission: { ...permissionIn(files), project: [] },
  };
}

/** The last word on the surface of all servers, if there is one. */
function strongest(surfaces: readonly OwnFile["surface"][]): Surface | undefined {
  const last = surfaces.findLast((surface) => surface !== undefined);
  return last === "auto" ? undefined : last;
}

function permissionIn(files: readonly OwnFile[]): Pick<PermissionSources, "own" | "broken"> {
  return {
    own: files.flatMap(({ document }) => document ?? []),
    // Nothing is asked where nobody has asked for it: a broken file changes that only if it may have.
    broken: files.flatMap(({ file, isBroken }) =>
      isBroken && readBytes(file, [])?.includes('"permission"') ? [file] : [],
    ),
  };
}

/** Noted first: what is decided in between shows as a change. */
function readKeptNoted(place: ConfigPlace, problems: ConfigProblem[], memory: FileMemory): readonly KeptPermission[] {
  memory.note(permissionPath(place));
  return readKept(place, problems);
}

/** What stands in the files of the person and of the project, and in what extensions register. */
function readFiles(
  place: ConfigPlace,
  named: readonly string[],
  problems: ConfigProblem[],
  memory: FileMemory,
): FileEntries {
  const paths = configPaths(place);
  const settings = [paths.settings, paths.settingsToml].map((file) => readOwnFile(file, problems, memory));
  const mcpJson = paths.mcpJson.map((file) => readOwnFile(file, problems, memory));
  const own = { settings: settings.map(({ layer }) => layer), mcpjson: mcpJson.map(({ layer }) => layer) };
  const registered = readRegistered(place.registered ?? [], problems);
  // A file that the person names is taken at their word, whether or not it lies in a project.
  const known = [paths.settings, paths.settingsToml, ...paths.mcpJson, ...named];
  const project = readProject(place, known, problems, memory);
  const allowed = project.filter(({ state }) => state === "allowed");
  for (const layer of allowed) problems.push(...layer.problems);
  const entriesOf = (origin: "settings" | "mcpjson") =>
    withProject(
      mergeLayers(own[origin]),
      allowed.flatMap((layer) => (layer.origin === origin ? [layer.entries] : [])),
    );
  const mcpjson = aboveRegistered(registered, mergeLayers(own.mcpjson), entriesOf("mcpjson"), problems);
  return {
    entries: { settings: entriesOf("settings"), mcpjson },
    untrusted: describeUntrusted(project, own, registered),
    surfaces: [...mcpJson, ...settings].map(({ surface }) => surface),
    permission: {
      ...permissionIn(mcpJson),
      project: project.flatMap(({ state, origin, document }) =>
        state === "denied" || origin !== "mcpjson" ? [] : document,
      ),
    },
  };
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

/** `unread` gets the entries that give no server. */
function readServers(
  entries: ReadonlyMap<string, Entry>,
  origin: Origin,
  problems: ConfigProblem[],
  unread: Entry[],
  surface: Surface | undefined,
): ServerConfig[] {
  return [...entries.values()].flatMap((entry) => {
    const server = readServer(entry, origin, problems, surface);
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
