import { createHash } from "node:crypto";
import { access, constants, open, readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { readBytes } from "../../config/json-file.ts";
import type { ConfigProblem } from "../../config/record.ts";
import { isObject } from "../../is-object.ts";
import type { NpxCommand } from "./command.ts";

/** A program that npx has installed. */
export interface Installed {
  /** npx's folder for it. */
  readonly folder: string;
  readonly file: string;
  readonly version: string;
  /** Arguments of Node before the file; undefined when the file is a program by itself. */
  readonly node: readonly string[] | undefined;
  /** When npx has last had to do with the folder, milliseconds: it asks the registry then what is newest. */
  readonly touchedAt: number;
}

const isWindows = process.platform === "win32";

/** A lock npm has not renewed for this long is that of a process that was killed. */
const LOCK_MS = 10_000;

/** No first line of a script is longer. */
const SHEBANG_BYTES = 256;

/**
 * What npx would run without installing anything, as far as that can be told: for a version, it in any folder; for a
 * tag, the newest in a folder that npx made for that very tag, since no other one tells which version is meant by it.
 */
export async function findInstalled(npxFolder: string, command: NpxCommand): Promise<Installed | undefined> {
  const own = specsOf(command).map(folderName);
  const others = (await readdir(npxFolder).catch(() => [])).filter((name) => !own.includes(name));
  let newest: Installed | undefined;
  for (const name of [...own, ...others]) {
    const found = await readInstalled(join(npxFolder, name), command);
    if (found && "version" in command.wanted) return found;
    if (found && found.touchedAt > (newest?.touchedAt ?? 0)) newest = found;
  }
  return newest;
}

/** npm names a folder after what it was asked to install in it. */
export function folderName(spec: string): string {
  return createHash("sha512").update(spec).digest("hex").slice(0, 16);
}

/** The program in one of npx's folders, if that is of use for the command and npx is not at work in it. */
export async function readInstalled(folder: string, command: NpxCommand): Promise<Installed | undefined> {
  try {
    const home = join(folder, "node_modules", command.name);
    const manifest = readJson(join(home, "package.json"));
    if (manifest === undefined || !isWanted(manifest, command) || !isMadeFor(folder, command)) return undefined;
    if ((await timeOf(join(folder, "concurrency.lock"))) > Date.now() - LOCK_MS) return undefined;
    const found = programOf(manifest, command.bin);
    // Programs of packages beside this one can be named, too.
    const link =
      command.bin !== undefined && !isWindows ? join(folder, "node_modules", ".bin", command.bin) : undefined;
    const path = found === undefined ? link : join(home, found);
    if (path === undefined) return undefined;
    const file = await realpath(path);
    if (!file.startsWith((await realpath(folder)) + sep)) return undefined;
    const how = await howToRun(file);
    const times = [folder, join(folder, "package.json"), join(folder, "node_modules", ".package-lock.json")];
    const touchedAt = Math.max(...(await Promise.all(times.map(timeOf))));
    return how && { folder, file, version: String(manifest.version), touchedAt, ...how };
  } catch {
    // Something has gone away meanwhile, or may not be read: npx will say so.
    return undefined;
  }
}

/** The version, and the package itself: a name in `node_modules` can also be another package's alias. */
function isWanted(manifest: Record<string, unknown>, { name, wanted }: NpxCommand): boolean {
  if (manifest.name !== name || typeof manifest.version !== "string") return false;
  return !("version" in wanted) || manifest.version === wanted.version;
}

/** Spellings of one tag. */
function specsOf({ name, spec, wanted }: NpxCommand): string[] {
  return "tag" in wanted && wanted.tag === "latest" ? [name, `${name}@latest`] : [spec];
}

/**
 * Whether the folder was made for this command, or at least for the package where its version says enough: what lies there
 * because another package needs it has been chosen for that one. A folder that says nothing of its own was made by hand.
 */
function isMadeFor(folder: string, command: NpxCommand): boolean {
  const specs = specsOf(command);
  if (specs.some((spec) => folder.endsWith(sep + folderName(spec)))) return true;
  const about = readJson(join(folder, "package.json"));
  const isExact = "version" in command.wanted;
  if (about === undefined) return isExact || specs.length > 1;
  if (isExact) return isObject(about.dependencies) && Object.hasOwn(about.dependencies, command.name);
  const packages: unknown = isObject(about._npx) ? about._npx.packages : undefined;
  return Array.isArray(packages) && packages.length === 1 && specs.includes(packages[0]);
}

/** Which of its programs a package means: the only one, or the one of its own name [npm exec, "npx vs npm exec"]. */
function programOf({ name, bin }: Record<string, unknown>, wanted: string | undefined): string | undefined {
  const own = String(name).replace(/^@[^/]+\//, "");
  const programs = new Map(typeof bin === "string" ? [[own, bin]] : isObject(bin) ? Object.entries(bin) : []);
  const files = [...new Set(programs.values())];
  const file = wanted === undefined && files.length === 1 ? files[0] : programs.get(wanted ?? own);
  return typeof file === "string" ? file : undefined;
}

/** Undefined: not to be run without help of npm. */
async function howToRun(file: string): Promise<Pick<Installed, "node"> | undefined> {
  const line = await firstLine(file);
  const [interpreter = "", ...words] = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  const program = interpreter.split("/").at(-1);
  const [first, ...options] = program === "env" ? words.filter((word) => word !== "-S") : [program ?? "", ...words];
  if (first === "node" && !/["'\\$]/.test(line)) return { node: options };
  if (interpreter === "" && /\.[cm]?js$/i.test(file)) return { node: [] };
  if (isWindows) return file.toLowerCase().endsWith(".exe") ? { node: undefined } : undefined;
  await access(file, constants.X_OK);
  return { node: undefined };
}

async function firstLine(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SHEBANG_BYTES), 0, SHEBANG_BYTES, 0);
    return buffer.toString("latin1", 0, bytesRead).split(/\r?\n/, 1)[0] ?? "";
  } finally {
    await handle.close();
  }
}

/** Undefined when there is none; throws for one that is no object. */
function readJson(file: string): Readonly<Record<string, unknown>> | undefined {
  const problems: ConfigProblem[] = [];
  const bytes = readBytes(file, problems);
  if (problems[0]) throw new Error(problems[0].message);
  if (bytes === undefined) return undefined;
  const value: unknown = JSON.parse(bytes.toString("utf8"));
  if (isObject(value)) return value;
  throw new Error("no object");
}

async function timeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
