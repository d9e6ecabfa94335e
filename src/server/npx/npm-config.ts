import { realpath, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { readBytes } from "../../config/json-file.ts";
import type { NpxCommand } from "./command.ts";

const isWindows = process.platform === "win32";

/** Of npm's configuration what decides where its packages lie. */
export interface NpmConfig {
  /** The folder in which npx keeps what it has installed, each in one of its own. */
  readonly npxFolder: string;
  /** Where programs lie that are installed for all projects. */
  readonly globalBin: string | undefined;
}

/** Read in its files alone: npm takes a third of a second to say it itself. Undefined when it cannot be told like that. */
export async function readNpmConfig(
  env: NodeJS.ProcessEnv,
  home: string,
  { folder }: NpxCommand,
): Promise<NpmConfig | undefined> {
  const given = npmVariables(env);
  const user = readNpmrc(given.get("userconfig") ?? join(home, ".npmrc"), env);
  const find = (name: string) => given.get(name) ?? user.get(name);
  const cache = atHome(find("cache") ?? defaultCache(env, home), home);
  if (!isAbsolute(cache)) return undefined;
  const prefix =
    find("prefix") ?? (isWindows && env.APPDATA ? join(env.APPDATA, "npm") : await nodePrefix(env, folder));
  return {
    npxFolder: join(cache, "_npx"),
    globalBin: prefix && (isWindows ? atHome(prefix, home) : join(atHome(prefix, home), "bin")),
  };
}

/** What makes npm look elsewhere for a package, or for another version of it. */
const REDIRECTS = /^(?:(?:@[^:]+:)?registry|before|tag|cache|prefix|userconfig|globalconfig|min-release-age)$/;

/**
 * Whether npx would not run what is in its own folder: because the project has the program itself, or it is installed for
 * all projects, or the project's configuration has npm look elsewhere. Then npx is to say what is run.
 */
export async function isElsewhere(
  command: NpxCommand,
  { globalBin }: NpmConfig,
  env: NodeJS.ProcessEnv,
  cwd: string,
  home: string,
): Promise<boolean> {
  const folders = ancestors(resolve(cwd));
  const project = (await firstWhere(folders, holdsProject)) ?? resolve(cwd);
  if (project !== home) {
    const rules = readNpmrc(join(project, ".npmrc"), env);
    if ([...rules.keys()].some((key) => REDIRECTS.test(key))) return true;
  }
  // A version or tag that is named is looked for by npx wherever it may be, and is the same one everywhere.
  if (command.spec !== command.name) return false;
  if (await exists(join(project, "node_modules", command.name, "package.json"))) return true;
  if (command.bin !== undefined || command.name.startsWith("@")) return false;
  const places = folders.map((folder) => join(folder, "node_modules", ".bin", command.name));
  if (globalBin !== undefined) places.push(join(globalBin, isWindows ? `${command.name}.cmd` : command.name));
  return (await firstWhere(places, exists)) !== undefined || isProjectsOwn(project, command.name);
}

/** Whether the entry itself, in its `env`, has npm look elsewhere. */
export function redirects(env: Readonly<Record<string, string>>): boolean {
  return [...npmVariables(env).keys()].some((key) => REDIRECTS.test(key) && key !== "cache" && key !== "prefix");
}

/** `npm_config_some_thing` is `some-thing`, in any case. */
function npmVariables(env: NodeJS.ProcessEnv): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    const key = /^npm_config_(.+)$/i.exec(name)?.[1];
    if (key !== undefined && value) found.set(key.toLowerCase().replace(/(?!^)_/g, "-"), value);
  }
  return found;
}

function readNpmrc(file: string, env: NodeJS.ProcessEnv): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of textOf(file).split(/\r?\n/)) {
    const [, key, value] = /^\s*([^;#=\s]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    const plain = value.replace(/^(["'])(.*)\1$/, "$2").replace(/\$\{([^}]+)\}/g, (all, name) => env[name] ?? all);
    found.set(key, plain);
  }
  return found;
}

/** A project may have anything of that name; what is no file of a usual size holds nothing. */
function textOf(file: string): string {
  return readBytes(file, [])?.toString("utf8") ?? "";
}

function defaultCache(env: NodeJS.ProcessEnv, home: string): string {
  return isWindows ? join(env.LOCALAPPDATA ?? home, "npm-cache") : join(home, ".npm");
}

function atHome(path: string, home: string): string {
  return /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path;
}

/** npm installs for all projects beside the Node that runs it. */
async function nodePrefix(env: NodeJS.ProcessEnv, folder: string | undefined): Promise<string | undefined> {
  const folders = folder === undefined ? (env.PATH ?? "").split(delimiter).filter(isAbsolute) : [folder];
  const node = await firstWhere(
    folders.map((each) => join(each, "node")),
    exists,
  );
  return node && dirname(dirname(await realpath(node)));
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

async function holdsProject(folder: string): Promise<boolean> {
  return (await exists(join(folder, "package.json"))) || exists(join(folder, "node_modules"));
}

/** Whether the project is the package that has this program. */
function isProjectsOwn(project: string, program: string): boolean {
  try {
    const { name, bin } = JSON.parse(textOf(join(project, "package.json"))) as Record<string, unknown>;
    return typeof bin === "object" && bin !== null
      ? Object.hasOwn(bin, program)
      : typeof bin === "string" && typeof name === "string" && name.replace(/^@[^/]+\//, "") === program;
  } catch {
    return false;
  }
}

async function firstWhere<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of items) if (await test(item)) return item;
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
