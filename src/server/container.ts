import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { StdioTarget } from "../config/record.ts";
import type { Transport } from "../transport/transport.ts";

const ENGINES = new Set(["docker", "podman"]);
/** How long the end of a connection waits for the engine; it goes on by itself. */
const STOP_LIMIT_MS = 2_000;

/** A container that outlives the program that started it: the engine runs it, and that program is not its parent [E025]. */
export interface Container {
  /** The target with an option that makes the engine write down which container it is. */
  readonly target: StdioTarget;
  /** The transport whose end is also the container's. */
  endingWith(transport: Transport): Transport;
}

/** For `docker run …` and `podman run …` that do not write a file of their own; undefined for all other commands. */
export function containerOf(target: StdioTarget, env: NodeJS.ProcessEnv): Container | undefined {
  const engine = basename(target.command).replace(/\.exe$/i, "");
  const run = target.args[0] === "container" ? 1 : 0;
  const isRun = ENGINES.has(engine) && target.args[run] === "run";
  if (!isRun || target.args.some((arg) => arg === "--cidfile" || arg.startsWith("--cidfile="))) return undefined;
  const file = join(env.TMPDIR ?? tmpdir(), `pi-mcp-${randomUUID()}.cid`);
  const args = [...target.args.slice(0, run + 1), `--cidfile=${file}`, ...target.args.slice(run + 1)];
  const stop = async () => {
    const id = await readFile(file, "utf8").catch(() => "");
    if (id.trim() !== "") await runQuietly(target.command, ["rm", "--force", id.trim()], env);
    await rm(file, { force: true });
  };
  return {
    target: { ...target, args },
    endingWith: (transport) => {
      let ended: Promise<void> | undefined;
      const close = () => {
        ended ??= transport.close().then(stop);
        return ended;
      };
      return new Proxy(transport, {
        get: (inner, name) => {
          if (name === "close") return close;
          const value: unknown = Reflect.get(inner, name, inner);
          return typeof value === "function" ? value.bind(inner) : value;
        },
      });
    },
  };
}

/** Whether it succeeds or not: a container that is gone already is the usual case. */
function runQuietly(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: "ignore", windowsHide: true });
    const timer = setTimeout(resolve, STOP_LIMIT_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    child.once("error", done).once("exit", done);
    child.unref();
  });
}
