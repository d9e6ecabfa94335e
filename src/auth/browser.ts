import { spawn } from "node:child_process";

/** How each system opens an address: a program and its arguments, of which the address is one. No shell sees it. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/** What a person has named for this, as programs that run elsewhere do for their terminals; `%s` is the address. */
const VARIABLE = "BROWSER";

/**
 * Opens an address in the person's browser, where there is one: at a terminal, not over SSH, with a display, or by the program
 * that BROWSER names. Whether that was tried; nobody knows what comes of it.
 */
export function openBrowser(address: string, env: NodeJS.ProcessEnv): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password) return false;
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true || env.CI) return false;
  const [program, ...args] = commandOf(env) ?? [];
  if (program === undefined) return false;
  // Written anew by the parser: what could mean something to a program on the way is percent-encoded.
  const words = args.includes("%s") ? args.map((arg) => (arg === "%s" ? url.href : arg)) : [...args, url.href];
  const child = spawn(program, words, { env, stdio: "ignore", detached: true, windowsHide: true });
  child.on("error", () => {}).unref();
  return true;
}

function commandOf(env: NodeJS.ProcessEnv): readonly string[] | undefined {
  const named = env[VARIABLE]?.split(/\s+/).filter((word) => word !== "") ?? [];
  if (named.length > 0) return named;
  if (env.SSH_CONNECTION || env.SSH_TTY) return undefined;
  const ofSystem = OPENERS[process.platform];
  if (ofSystem !== undefined) return ofSystem;
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open"] : undefined;
}
