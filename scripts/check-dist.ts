/**
 * What the build must keep, checked on the built files: `dist/pi.js` loads nothing but Node's own modules until it is
 * used, the command starts with the line that makes it one, and no file names a folder of the machine it was built on.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./run.ts";

const DIST = join(ROOT, "dist");
const SHEBANG = "#!/usr/bin/env node\n";

/** `import … from "x"`, `import "x"` and `export … from "x"` at the start of a line, as the bundler writes them. */
const STATIC_IMPORT = /^(?:import|export)\b(?:[^"'();]*?\bfrom)?\s*["']([^"']+)["']/gm;

function problems(): string[] {
  const found: string[] = [];
  const text = (file: string) => readFileSync(join(DIST, file), "utf8");
  for (const [, module = ""] of text("pi.js").matchAll(STATIC_IMPORT)) {
    if (!module.startsWith("node:"))
      found.push(`dist/pi.js imports ${module} at its start: load it by import() instead.`);
  }
  if (!text("cli.js").startsWith(SHEBANG)) found.push("dist/cli.js does not begin with #!/usr/bin/env node.");
  for (const file of readdirSync(DIST)) {
    if (text(file).includes(ROOT)) found.push(`dist/${file} names the folder it was built in.`);
  }
  return found;
}

const found = problems();
for (const problem of found) console.error(problem);
process.exitCode = found.length > 0 ? 1 : 0;
