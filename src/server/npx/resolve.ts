import { access } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { StdioTarget } from "../../config/record.ts";
import type { Around } from "../around.ts";
import { type NpxCommand, parseNpx } from "./command.ts";
import { findInstalled, folderName, type Installed, readInstalled } from "./installed.ts";
import { keep, readKept } from "./kept.ts";
import { isElsewhere, type NpmConfig, readNpmConfig, redirects } from "./npm-config.ts";
import { askVersion } from "./registry.ts";

/** How long what a tag means is taken to stay the same [S3-06]. */
const GOOD_FOR_MS = 24 * 60 * 60 * 1000;
/** After this it is asked anew while the server runs, so that a server in daily use never waits for npm. */
const ASK_AFTER_MS = 60 * 60 * 1000;

export interface NpxPlace {
  /** The environment of the process, the entry's own `env` included. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
  /** `mcp-npx-cache.json`, where what was found is kept. */
  readonly keptFile: string;
}

/** A command of npx, looked through. */
export interface NpxStart extends Required<Around> {
  /** What is to be started: the program itself, or the command as it was written. */
  readonly target: StdioTarget;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Looks through a command of npx or `npm exec` to the program it would run, so that no npm stays above the server
 * [S3-02, S3-03]. Where that is not installed, or may no longer be the version that is asked for, the command runs as it was
 * written [S3-07], and what npx has made is kept for the next start. Undefined for all other commands.
 */
export async function resolveNpx(target: StdioTarget, place: NpxPlace): Promise<NpxStart | undefined> {
  const command = parseNpx(target);
  if (command === undefined || redirects(target.env)) return undefined;
  const config = await readNpmConfig(place.env, place.home, command);
  if (!config || (await isElsewhere(command, config, place.env, place.cwd, place.home))) return undefined;
  if (command.folder !== undefined && !(await hasNode(command.folder))) return undefined;
  const startedAt = Date.now();
  const known = await usable(command, config, place.keptFile);
  const abort = new AbortController();
  let work: Promise<void> = Promise.resolve();
  return {
    ...(known ? direct(target, command, known, place.env) : { target, env: place.env }),
    heard: () => {
      work = known ? confirm(command, known, place, abort.signal) : learn(command, config, place.keptFile, startedAt);
    },
    ended: () => {
      abort.abort();
      return work;
    },
  };
}

/** What was found, and when it was last known to be what the command asks for. */
interface Known extends Installed {
  readonly knownAt: number;
}

/** What may be run without asking npm. */
async function usable(command: NpxCommand, config: NpmConfig, keptFile: string): Promise<Known | undefined> {
  const kept = readKept(keptFile, command.key);
  const folder = kept && folderOf(kept.resolvedBin, config);
  const before = folder === undefined ? undefined : await readInstalled(folder, command);
  const isSame = before && before.file === kept?.resolvedBin && before.version === kept.packageVersion;
  if (isSame && isFresh(kept.resolvedAt)) return { ...before, knownAt: Math.max(kept.resolvedAt, before.touchedAt) };
  const found = await findInstalled(config.npxFolder, command);
  if (!found) return undefined;
  // A version is what it is for ever; what a tag means changes.
  if ("version" in command.wanted) return { ...found, knownAt: Date.now() };
  const isOutdated = kept?.resolvedAt === 0 && kept.packageVersion === found.version;
  return isOutdated || !isFresh(found.touchedAt) ? undefined : { ...found, knownAt: found.touchedAt };
}

/** A time that has not come yet is none. */
function isFresh(at: number): boolean {
  const age = Date.now() - at;
  return age < GOOD_FOR_MS && age > -ASK_AFTER_MS;
}

/** npx's folder that a file lies in; undefined for a file elsewhere. */
function folderOf(file: string, { npxFolder }: NpmConfig): string | undefined {
  const [name = "", ...rest] = relative(npxFolder, file).split(sep);
  return rest.length > 0 && name !== ".." && name !== "" ? join(npxFolder, name) : undefined;
}

/** The one npx would run with. */
async function hasNode(folder: string): Promise<boolean> {
  return access(join(folder, process.platform === "win32" ? "node.exe" : "node")).then(
    () => true,
    () => false,
  );
}

/** npx also puts the programs beside this one within reach. */
function direct(
  target: StdioTarget,
  command: NpxCommand,
  { file, node, folder }: Installed,
  env: NodeJS.ProcessEnv,
): Pick<NpxStart, "target" | "env"> {
  const runner = node && (command.folder === undefined ? "node" : join(command.folder, "node"));
  const args = node ? [...node, file, ...command.args] : [...command.args];
  const path = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  const programs = join(folder, "node_modules", ".bin");
  const paths = env[path] ? `${programs}${process.platform === "win32" ? ";" : ":"}${env[path]}` : programs;
  return { target: { ...target, command: runner ?? file, args }, env: { ...env, [path]: paths } };
}

/** npx has asked the registry since the start and run what is newest: that is known for the next time. */
async function learn(command: NpxCommand, config: NpmConfig, keptFile: string, startedAt: number): Promise<void> {
  const found = await readInstalled(join(config.npxFolder, folderName(command.spec)), command);
  if (found) keepAs(startedAt, command, found, keptFile);
}

/**
 * Keeps what was run. When it has not been heard for a while what the tag means, the registry is asked. A newer version is
 * not installed here, under a server that runs: the next start leaves that to npx.
 */
async function confirm(
  command: NpxCommand,
  known: Known,
  { env, keptFile }: NpxPlace,
  signal: AbortSignal,
): Promise<void> {
  // Not before the answer that told of the start has been passed on.
  await new Promise((resolve) => setImmediate(resolve));
  const { knownAt } = known;
  const before = readKept(keptFile, command.key);
  const isKept = before?.resolvedBin === known.file && before.packageVersion === known.version;
  if (!isKept || !isFresh(before.resolvedAt)) keepAs(knownAt, command, known, keptFile);
  if ("version" in command.wanted || Date.now() - knownAt < ASK_AFTER_MS) return;
  // Not in the project, whose .npmrc npm would obey: it may name a proxy, and send what is in the environment.
  const version = await askVersion(command, { env, cwd: known.folder }, signal);
  if (version !== undefined) keepAs(version === known.version ? Date.now() : 0, command, known, keptFile);
}

function keepAs(resolvedAt: number, { key }: NpxCommand, { file, version, node }: Installed, keptFile: string): void {
  keep(keptFile, key, {
    resolvedBin: file,
    resolvedAt: Math.floor(resolvedAt),
    packageVersion: version,
    isJs: node !== undefined,
  });
}
