/**
 * Makes `node_modules/.bin/node` the Node of the toolchain, the dev dependency `node`.
 *
 * Two dev dependencies bring a command `node`: that one, and `node-oldest`, which tests start by its path. A complete
 * install links the first; one that touches `node-oldest` alone (`npm update node-oldest`, `npm rebuild node-oldest`)
 * links the second. So the npm scripts that others build on begin here. Plain JavaScript, since it may well be run by
 * the wrong Node.
 */
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Runs `.ts` files as they are, as tests, scripts and the demo need. */
const OLDEST_TOOLCHAIN_MAJOR = 24;

/** @returns {string | undefined} what a person has to do, or undefined when the link is right now. */
function link() {
  const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));
  if (!existsSync(join(modules, "node", "bin", "node"))) {
    return "Its install script has not run: run `npm ci` with install scripts allowed for the package `node`.";
  }
  if (process.platform === "win32") return "Run `npm rebuild node`.";
  const target = join(modules, ".bin", "node");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  rmSync(target, { force: true });
  symlinkSync("../node/bin/node", target);
  return undefined;
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_TOOLCHAIN_MAJOR) {
  const todo = link();
  if (todo !== undefined) {
    console.error(
      `The toolchain needs Node ${OLDEST_TOOLCHAIN_MAJOR} from the dev dependency \`node\`, this is ${process.version}. ${todo}`,
    );
    process.exitCode = 1;
  }
}
