import { join } from "node:path";
import { endTree, spawnTree } from "../../transport/process-tree.ts";
import type { NpxCommand } from "./command.ts";

/** Nobody waits for the answer, but a process must not stay for ever either. */
const LIMIT_MS = 30_000;
const MAX_ANSWER_CHARS = 64 * 1024;
/** It changes nothing, so it may be ended anywhere. */
const GRACE = { exitMs: 0, termMs: 200 };

/** Of all servers: each question is a process of its own, and there is no hurry. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Asks the registry which version a tag means now; undefined when it does not answer. One question after the other;
 * neither the question nor the wait for it keeps this process alive. Ends, with its process, when the signal aborts.
 */
export function askVersion(
  command: NpxCommand,
  place: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  let isAsked = false;
  const answer = last
    .then(() => {
      if (signal.aborted) return undefined;
      isAsked = true;
      return ask(command, place, signal);
    })
    .catch(() => undefined);
  last = answer;
  // Whoever ends waits for the own process, and not for those of others.
  const over = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => isAsked || resolve(undefined), { once: true });
  });
  return Promise.race([answer, over]);
}

async function ask(
  { name, wanted, folder }: NpxCommand,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!("tag" in wanted)) return undefined;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const child = spawnTree({
    command: folder === undefined ? "npm" : join(folder, npm),
    args: ["view", `${name}@${wanted.tag}`, "version", "--json"],
    env,
    cwd,
  });
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    (stream as { unref?: () => void } | null)?.unref?.();
    stream?.on("error", () => {});
  }
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    if (text.length < MAX_ANSWER_CHARS) text += chunk;
  });
  child.stderr?.resume();
  const code = await new Promise<number | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), LIMIT_MS).unref();
    const end = (status: number | null) => {
      clearTimeout(timer);
      resolve(status);
    };
    child.once("error", () => end(null)).once("close", end);
    signal.addEventListener("abort", () => end(null), { once: true });
  });
  await endTree(child, GRACE);
  return code === 0 ? versionIn(text) : undefined;
}

function versionIn(text: string): string | undefined {
  const value: unknown = JSON.parse(text);
  const version: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof version === "string" && /^\d+\.\d+\.\d+/.test(version) ? version : undefined;
}
