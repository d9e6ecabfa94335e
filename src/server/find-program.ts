import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { posix, win32 } from "node:path";

/** Where a program would be started, and with what. */
export interface StartPlace {
  /** The environment the process would get: its PATH counts, not that of this process. */
  readonly env: NodeJS.ProcessEnv;
  /** Its working directory, a complete path. */
  readonly cwd: string;
  readonly platform?: NodeJS.Platform;
}

export interface ProgramReport {
  /** The file that would be run; absent when there is none that could be. */
  readonly path?: string;
  /** Every place where it was looked for, in order; up to the file that was found. */
  readonly looked: readonly string[];
  /** Why it cannot be run: the rest of a sentence about it. */
  readonly fault?: string;
  /** It can be run on this system, but not on all: the rest of a sentence about it. */
  readonly remark?: string;
}

/** What the C library falls back on without a PATH. */
const USUAL_PATH = "/bin:/usr/bin";

/** What Windows itself runs; and what it looks for when PATHEXT is not set. */
const USUAL_PATHEXT = ".EXE;.CMD;.BAT;.COM";

/** Of a file's beginning: longer than the first line of any script. */
const HEAD_BYTES = 512;

/** `env` is asked by scripts to find an interpreter, which is a script itself at most once. */
const MAX_DEPTH = 3;

/**
 * Looks for a command as the system would: a path as it stands (from the working directory), a name in each folder of
 * PATH, on Windows also in the working directory and with each ending of PATHEXT. A script is looked into, because the
 * system says "not found" of it when what is missing is its interpreter. Runs nothing.
 */
export function findProgram(command: string, place: StartPlace, depth = 0): ProgramReport {
  const isWindows = (place.platform ?? process.platform) === "win32";
  const looked: string[] = [];
  let refused: string | undefined;
  for (const path of programPlaces(command, place)) {
    looked.push(path);
    const kind = kindOf(path, isWindows);
    if (kind === "program") return { path, looked, ...(isWindows ? {} : lookInto(path, place, depth)) };
    if (kind !== "absent") refused ??= `${path} ${kind}`;
  }
  return { looked, fault: refused ?? "was not found" };
}

/** The files that would be tried, in order. */
export function programPlaces(command: string, { env, cwd, platform = process.platform }: StartPlace): string[] {
  if (platform !== "win32") {
    if (command.includes("/")) return [posix.resolve(cwd, command)];
    return [...new Set((env.PATH ?? USUAL_PATH).split(":"))].map((folder) => posix.resolve(cwd, folder, command));
  }
  const variable = (name: string) => Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
  const endings = (variable("PATHEXT") || USUAL_PATHEXT).split(";").filter((ending) => ending !== "");
  const names = [
    ...(command.includes(".") ? [command] : []),
    ...endings.map((ending) => command + ending.toLowerCase()),
  ];
  const folders = /[\\/]/.test(command) ? [""] : ["", ...(variable("PATH") ?? "").split(";")];
  const places = folders.flatMap((folder) =>
    names.map((name) => win32.resolve(cwd, folder.replace(/^"(.*)"$/, "$1"), name)),
  );
  return [...new Set(places)];
}

type Refusal = "is a folder" | "is no regular file" | "is not executable";

function kindOf(path: string, isWindows: boolean): "program" | "absent" | Refusal {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return "is a folder";
    if (!stat.isFile()) return "is no regular file";
    if (!isWindows) accessSync(path, constants.X_OK);
    return "program";
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EACCES" && exists(path) ? "is not executable" : "absent";
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Beginnings of what systems run by themselves: ELF, Mach-O in its four forms, and several of these in one file. */
const BINARY = /^(?:\x7fELF|[\xce\xcf]\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]|\xca\xfe\xba\xbe)/;

function lookInto(path: string, place: StartPlace, depth: number): Pick<ProgramReport, "fault" | "remark"> {
  const head = headOf(path);
  if (head === undefined || BINARY.test(head)) return {};
  if (!head.startsWith("#!")) {
    if (head.includes("\0")) return {};
    return { remark: 'has no "#!" line, so it depends on the system which program reads it, if any' };
  }
  const [line = ""] = head.slice(2).split("\n");
  if (line.endsWith("\r"))
    return { fault: 'has a first line with a Windows line ending, which makes its "#!" useless' };
  const [interpreter = "", ...words] = line.trim().split(/\s+/);
  if (!interpreter.startsWith("/")) return { fault: 'has a "#!" line without the complete path of an interpreter' };
  if (kindOf(interpreter, false) !== "program") return { fault: `needs ${interpreter}, which is not there` };
  const asked = interpreter.endsWith("/env") ? words.find((word) => !/^-|=/.test(word)) : undefined;
  if (asked === undefined || depth >= MAX_DEPTH) return {};
  const { fault } = findProgram(asked, place, depth + 1);
  return fault === undefined
    ? {}
    : { fault: `needs \`${asked}\`, which ${fault === "was not found" ? "is not on its PATH" : fault}` };
}

/** A byte for a character; `undefined` when it cannot be read, which need not keep it from being run. */
function headOf(path: string): string | undefined {
  try {
    const handle = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(HEAD_BYTES);
      return bytes.subarray(0, readSync(handle, bytes)).toString("latin1");
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}
