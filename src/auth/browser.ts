import { spawn } from "node:child_process";

/** How each system opens an address: a program and its arguments, of which the address is one. No shell sees it. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/**
 * Opens an address in the person's browser, where there is one: at a terminal, not over SSH, with a display. Whether that
 * was tried; nobody knows what comes of it.
 */
export function openBrowser(address: string, env: NodeJS.ProcessEnv): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) return false;
  if (env.SSH_CONNECTION || env.SSH_TTY || env.CI) return false;
  const [program = "xdg-open", ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const isUnixDesktop = !(process.platform in OPENERS);
  if (isUnixDesktop && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false;
  // Written anew by the parser: what could mean something to a program on the way is percent-encoded.
  const child = spawn(program, [...args, url.href], { stdio: "ignore", detached: true, windowsHide: true });
  child.on("error", () => {}).unref();
  return true;
}
