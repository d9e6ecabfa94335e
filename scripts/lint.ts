/**
 * `npm run lint`: every static check, all of them even when one fails. The package is checked as it would be published,
 * from a packed tarball. Each check's output is in test-output/lint-<check>.log, its end on the screen when it failed.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OUTPUT, runLogged, tail } from "./run.ts";

const TAIL_LINES = 30;

/** Runs one check, prints how it went, and tells whether it passed. */
async function check(name: string, command: string): Promise<boolean> {
  const { code, log, seconds } = await runLogged(`lint-${name}`, command);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds.toFixed(1)} s)${code === 0 ? "" : `, ${log}:`}`);
  if (code !== 0) console.log(`${tail(log, TAIL_LINES)}\n`);
  return code === 0;
}

/** Packs into test-output/package/ and returns the tarball, relative to the repository; undefined when that failed. */
async function pack(): Promise<string | undefined> {
  const folder = join(OUTPUT, "package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Builds first (prepack).
  const packed = await check("pack", "npm pack --pack-destination test-output/package");
  return packed ? `test-output/package/${readdirSync(folder)[0]}` : undefined;
}

const passed = [
  await check("types", "tsc"),
  await check("style", "biome check --error-on-warnings"),
  await check("rooms", "depcruise --config .dependency-cruiser.mjs src"),
  await check("unused", "knip"),
];
const tarball = await pack();
if (tarball === undefined) passed.push(false);
else {
  passed.push(
    await check("dist", "node scripts/check-dist.ts"),
    await check("publint", `publint run ${tarball} --strict`),
    await check("types-of-package", `attw ${tarball} --profile esm-only`),
  );
}
process.exitCode = passed.every(Boolean) ? 0 : 1;
