import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { lstat, readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { programName } from "../config/package-runner.ts";
import type { StdioTarget } from "../config/record.ts";
import type { Around } from "./around.ts";

const ENGINES = new Set(["docker", "podman"]);

/** Options that stand before the engine's command and are followed by a value, unless that is written with `=`. */
const VALUE_OPTIONS = new Set([
  ...["--context", "-c", "--host", "-H", "--config", "--log-level", "-l", "--tlscacert", "--tlscert", "--tlskey"],
  ...["--connection", "--url", "--identity", "--root", "--runroot", "--storage-driver", "--storage-opt", "--ssh"],
]);
const FLAGS = new Set(["--debug", "-D", "--tls", "--tlsverify", "--remote", "-r"]);

/** How long the end of a connection waits for the engine; it goes on by itself. */
const STOP_LIMIT_MS = 2_000;

/** The engine's own patience before it kills: the server was asked to end already, by its closed input. */
const STOP = ["stop", "-t", "1"];

/** Of the files in which engines write down what they run for us: engine and place, process, and what makes it unique. */
const ID_FILE = /^pi-mcp-([a-z]+-[0-9a-f]{8})-(\d+)-[0-9a-f-]{36}\.cid$/;

/** A container that outlives the program that started it: the engine runs it, and that program is not its parent [E025]. */
export interface Container extends Required<Pick<Around, "ended">> {
  /** The target with an option that makes the engine write down which container it is. */
  readonly target: StdioTarget;
}

/** For `docker run …` and `podman run …` that do not write a file of their own; undefined for all other commands. */
export async function containerOf(
  target: StdioTarget,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Container | undefined> {
  const engine = programName(target.command);
  const run = ENGINES.has(engine) ? placeOfRun(target.args) : undefined;
  if (run === undefined || target.args.some((arg) => arg === "--cidfile" || arg.startsWith("--cidfile=")))
    return undefined;
  const before = target.args.slice(0, run);
  const engineOptions = before.at(-1) === "container" ? before.slice(0, -1) : before;
  const folder = await folderFor(env);
  const place = `${engine}-${await placeOf(engineOptions, env)}`;
  const file = join(folder, `pi-mcp-${place}-${process.pid}-${randomUUID()}.cid`);
  const options = target.args.slice(run + 1);
  // One that is not to be removed at its end may be wanted for its logs: it is ended and left there.
  const isRemoved = options.some((arg) => arg === "--rm" || arg === "--rm=true");
  const end = async (idFile: string, how: readonly string[]) => {
    const id = (await readFile(idFile, "utf8").catch(() => "")).trim();
    if (/^[0-9a-z]+$/i.test(id)) await runQuietly(target.command, [...engineOptions, ...how, id], env, cwd);
    await rm(idFile, { force: true }).catch(() => {});
  };
  // Whether it was to be removed the engine knows.
  void endAbandoned(folder, place, (idFile) => end(idFile, STOP));
  return {
    target: { ...target, args: [...before, "run", `--cidfile=${file}`, ...options] },
    ended: () => end(file, isRemoved ? ["rm", "--force"] : STOP),
  };
}

/** Where `run` stands, behind options of the engine alone. With any other word before it, it means something else. */
function placeOfRun(args: readonly string[]): number | undefined {
  let at = 0;
  for (; args[at]?.startsWith("-"); at++) {
    const arg = args[at] ?? "";
    if (FLAGS.has(arg) || /^--?[a-z-]+=/i.test(arg)) continue;
    if (!VALUE_OPTIONS.has(arg)) return undefined;
    at++;
  }
  if (args[at] === "container") at++;
  return args[at] === "run" ? at : undefined;
}

/** An engine that cannot write its file starts no container, so a folder that is not there is no place for it. */
async function folderFor(env: NodeJS.ProcessEnv): Promise<string> {
  const named = env.TMPDIR || tmpdir();
  const isThere = await stat(named).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isThere || process.platform === "win32" ? named : "/tmp";
}

/**
 * Tells one engine from another, and one computer's processes from those of another: a container may share a folder, and
 * even the engine, with others in which its process numbers mean something else.
 */
async function placeOf(engineOptions: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const processes = await readlink("/proc/self/ns/pid").catch(() => "");
  const { DOCKER_HOST, DOCKER_CONTEXT, CONTAINER_HOST } = env;
  const all = [...engineOptions, DOCKER_HOST, DOCKER_CONTEXT, CONTAINER_HOST, hostname(), processes];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 8);
}

/**
 * Ends the containers of sessions that were killed themselves. Only a file of one's own, named after a process that is no more, tells
 * of one: what it names was started by that session for itself.
 */
async function endAbandoned(folder: string, place: string, end: (idFile: string) => Promise<void>): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, itsPlace, pid] = ID_FILE.exec(name) ?? [];
    if (itsPlace !== place || isAlive(Number(pid))) continue;
    const file = join(folder, name);
    const found = await lstat(file).catch(() => undefined);
    const isMine = process.getuid === undefined || found?.uid === process.getuid();
    if (found?.isFile() && isMine) await end(file);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Whether it succeeds or not: a container that is gone already is the usual case. */
function runQuietly(command: string, args: string[], env: NodeJS.ProcessEnv, cwd: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, cwd, stdio: "ignore", windowsHide: true });
    const timer = setTimeout(resolve, STOP_LIMIT_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    child.once("error", done).once("exit", done);
    child.unref();
  });
}
