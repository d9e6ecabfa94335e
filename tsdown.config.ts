import { defineConfig, type UserConfig } from "tsdown";

/** The oldest Node the product runs on: the older pi host runs on 20, undici 7 asks for 20.18.1. */
const TARGET = "node20.18";

/** The package is to be small, and whoever reads the code reads the source. Notices that are marked as legal stay. */
const COMMENTS = { legal: true, annotation: false, jsdoc: false };

const common = {
  format: "esm",
  platform: "node",
  target: TARGET,
  outDir: "dist",
  sourcemap: true,
  minify: false,
  // `.js`, not `.mjs`: the package is of type "module".
  fixedExtension: false,
  // jsonc-parser's `main` is UMD, whose inner `require` calls a bundler cannot follow; its `module` is the same in ESM.
  inputOptions: { resolve: { mainFields: ["module", "main"] } },
} satisfies UserConfig;

/**
 * Two builds into one folder. tsdown empties the folder once, before either starts, so neither wipes the other's files.
 *
 * - `pi.js`, the pi extension. A host copies or links it and loads it at every start, so it holds nothing but what
 *   registering needs; the engine follows in lazy chunks `pi-*.js`, loaded by `import()`.
 * - `index.js` and `acp.js` (the library, with types) and `cli.js` (the command line), whose dependencies stay outside.
 */
export default defineConfig([
  {
    ...common,
    name: "pi",
    entry: { pi: "src/hosts/pi/extension.ts" },
    dts: false,
    deps: { alwaysBundle: ["jsonc-parser"], onlyBundle: ["jsonc-parser"] },
    // What entry and engine share may then be exported by the entry itself, which so needs no chunk at its start.
    inputOptions: { ...common.inputOptions, preserveEntrySignatures: "allow-extension" },
    outputOptions: { chunkFileNames: "pi-[name].js", comments: COMMENTS },
  },
  {
    ...common,
    name: "library and command line",
    entry: { index: "src/index.ts", acp: "src/acp/index.ts", cli: "src/hosts/cli/main.ts" },
    dts: { entry: ["src/index.ts", "src/acp/index.ts"] },
    deps: { onlyBundle: [] },
    outputOptions: {
      chunkFileNames: "shared-[name].js",
      comments: COMMENTS,
      banner: (chunk) => (chunk.fileName === "cli.js" ? "#!/usr/bin/env node" : ""),
    },
  },
]);
