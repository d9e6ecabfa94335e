import type { ServerTarget } from "./record.ts";

/** What makes a command one that may have to fetch its server first: its name, and how its arguments begin. */
const RUNNERS: readonly (readonly [name: string, ...firstWords: readonly (readonly string[])[]])[] = [
  ["npx", []],
  ["npm", ["exec"], ["x"]],
  ["pnpm", ["dlx"]],
  ["pnpx", []],
  ["yarn", ["dlx"]],
  ["bunx", []],
  ["bun", ["x"]],
  ["deno", ["run"]],
  ["uvx", []],
  ["uv", ["tool", "run"], ["x"], ["run"]],
  ["pipx", ["run"]],
  ["docker", ["run"], ["container", "run"]],
  ["podman", ["run"], ["container", "run"]],
];

/** Programs that run another one, which stands behind the options given. */
const SHELL = /^cmd$/;

/**
 * Whether a server's first start may have to install something or to pull an image, which takes longer than any server does
 * to start. Options before the words that tell (`npm --yes exec`, `docker --context x run`) are skipped.
 */
export function isPackageRunner(target: ServerTarget): boolean {
  return target.kind === "stdio" && isRunner(target.command, target.args);
}

function isRunner(command: string, args: readonly string[]): boolean {
  const name = programName(command);
  if (SHELL.test(name) && /^\/c$/i.test(args[0] ?? "")) return isRunner(args[1] ?? "", args.slice(2));
  if (args.includes("--pull=never")) return false;
  return RUNNERS.some(([runner, ...starts]) => runner === name && starts.some((words) => beginsWith(args, words)));
}

/** Whether the words come first, in order, among what does not look like an option or the value of one. */
function beginsWith(args: readonly string[], words: readonly string[]): boolean {
  let at = 0;
  for (const word of words) {
    while (args[at] !== word && (args[at]?.startsWith("-") || (at > 0 && args[at - 1]?.startsWith("-")))) at++;
    if (args[at] !== word) return false;
    at++;
  }
  return true;
}

/** A command's name without its folder and without the endings Windows gives programs. */
export function programName(command: string): string {
  return (command.split(/[/\\]/).at(-1) ?? "").toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, "");
}
