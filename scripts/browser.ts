/**
 * `npm run test:browser`: the tests that drive a real browser. It has to be there: Debian's package `chromium`, or any Chromium
 * that PI_MCP_CHROMIUM names. `npm run test:browser -- --install` installs the package first where it is missing, which only
 * the superuser of a Debian can. Other arguments go to vitest.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const chromium = process.env.PI_MCP_CHROMIUM ?? "/usr/bin/chromium";
const args = process.argv.slice(2);
const rest = args.filter((arg) => arg !== "--install");

function apt(...words: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", ["-qq", ...words], { env, stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}

/** Why there is no browser, or undefined. */
function missing(): string | undefined {
  if (existsSync(chromium)) return undefined;
  if (!args.includes("--install")) return "Install it by hand, or with: npm run test:browser -- --install";
  if (process.getuid?.() !== 0) return "To install Debian's package `chromium` takes the superuser.";
  // Lists of packages may be old, or not be there at all.
  if (apt("update") && apt("install", "-y", "--no-install-recommends", "chromium") && existsSync(chromium))
    return undefined;
  return "Debian's package `chromium` could not be installed.";
}

const why = missing();
if (why === undefined) {
  const { status } = spawnSync(process.execPath, ["scripts/test.ts", "--suite", "browser", ...rest], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} else {
  console.error(`There is no browser at ${chromium}. ${why}`);
  process.exitCode = 2;
}
