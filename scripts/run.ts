import { type SpawnOptionsWithStdioTuple, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { finished } from "node:stream/promises";
import { stripVTControlCharacters } from "node:util";

export const ROOT = join(import.meta.dirname, "..");

/** Where everything long or machine-readable goes; git ignores it. */
export const OUTPUT = join(ROOT, "test-output");

export interface Finished {
  /** Exit code; 1 when a signal or a failing start ended it. */
  readonly code: number;
  /** Path of the file with everything it printed, relative to the repository. */
  readonly log: string;
  readonly seconds: number;
}

// `npm run` does this too; here for whoever starts a script by `node scripts/…`.
process.env.PATH = [join(ROOT, "node_modules", ".bin"), process.env.PATH].join(delimiter);

/**
 * Runs a command with the repository's tools on PATH and all its output in `test-output/<name>.log`.
 * Text goes through a shell, because on Windows the tools are `.cmd` files, which start in no other way; so it is only
 * ever text of ours. A list is the arguments of this Node, passed as they are.
 */
export async function runLogged(name: string, command: string | readonly string[]): Promise<Finished> {
  mkdirSync(OUTPUT, { recursive: true });
  const file = join(OUTPUT, `${name}.log`);
  const log = createWriteStream(file);
  const begun = performance.now();
  const options = {
    cwd: ROOT,
    // A log is read in files, where colour codes are noise.
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  } satisfies SpawnOptionsWithStdioTuple<"ignore", "pipe", "pipe">;
  const child =
    typeof command === "string"
      ? spawn(command, { ...options, shell: true })
      : spawn(process.execPath, command, options);
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const code = await new Promise<number>((resolve) => {
    child.on("error", (error) => {
      log.write(`${error.message}\n`);
      resolve(1);
    });
    child.on("close", (exit) => resolve(exit ?? 1));
  });
  log.end();
  await finished(log);
  return { code, log: relative(ROOT, file), seconds: (performance.now() - begun) / 1000 };
}

/** The last lines of a log, for showing after a failure. */
export function tail(log: string, lines: number): string {
  const text = stripVTControlCharacters(readFileSync(join(ROOT, log), "utf8"));
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}
