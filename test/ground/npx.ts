import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { folderName } from "../../src/server/npx/installed.ts";
import { type FakeStdio, fakeStdio } from "./fake-server.ts";
import type { Home } from "./home.ts";
import type { ServerScript } from "./script.ts";

const PROCESS = fileURLToPath(new URL("./stdio-process.ts", import.meta.url));

const HOUR_MS = 60 * 60 * 1000;

export interface PackageOptions {
  /** What npx was asked for when it made the folder; null: a folder made by hand, which says nothing about itself. */
  readonly spec?: string | null;
  /** How long npx has not had to do with the folder. */
  readonly ageHours?: number;
  /** Of `package.json`; one program named like the package when absent. */
  readonly bin?: string | Readonly<Record<string, string>>;
  /** Name of the folder, where it is not npx's own. */
  readonly folder?: string;
  /** The program's text, where it is not the fake server. */
  readonly text?: string;
}

/** npm and npx as a server sees them: a folder of installed packages, and two programs that tell when anybody runs them. */
export interface FakeNpx {
  readonly server: FakeStdio;
  /** npx's folders. */
  readonly folder: string;
  /** Where the programs lie: first on the PATH of the home. */
  readonly bin: string;
  /** `<agentDir>/mcp-npx-cache.json`. */
  readonly keptFile: string;
  /** Puts a package where npx would. Its program is the fake server, which has VERSION in its environment. */
  install(name: string, version: string, options?: PackageOptions): { readonly folder: string; readonly file: string };
  /** What the registry says a tag means: npx installs that, and `npm view` tells it. */
  publish(spec: string, version: string): void;
  /** Command lines of npx and npm, in order. */
  ran(): string[][];
  /** Versions of the server, one for each start. */
  versions(): (string | undefined)[];
  kept(): {
    version: number;
    entries: Record<string, { resolvedBin: string; resolvedAt: number; packageVersion: string }>;
  };
}

export async function fakeNpx(home: Home, script: ServerScript = {}): Promise<FakeNpx> {
  const server = await fakeStdio(home, script);
  const [, scriptFile = "", log = ""] = server.args;
  const folder = join(home.home, ".npm", "_npx");
  const bin = home.path("npm-bin");
  const registry = home.path("registry.json");
  const ledger = home.path("npm-ran.jsonl");
  const keptFile = join(home.agentDir, "mcp-npx-cache.json");
  mkdirSync(bin, { recursive: true });
  writeFileSync(registry, "{}");
  writeFileSync(ledger, "");
  for (const name of ["npx", "npm"]) {
    writeFileSync(join(bin, name), program({ name, ledger, registry, folder, scriptFile, log }));
    chmodSync(join(bin, name), 0o755);
  }
  home.write({ env: { PATH: `${bin}:${home.env().PATH}` } });
  return {
    server,
    folder,
    bin,
    keptFile,
    install(name, version, options = {}) {
      const { spec = name, ageHours = 0 } = options;
      const place = join(folder, options.folder ?? folderName(spec ?? name));
      const home = join(place, "node_modules", name);
      rmSync(place, { recursive: true, force: true });
      const own = name.replace(/^@[^/]+\//, "");
      const programs = options.bin ?? { [own]: "cli.mjs" };
      put(join(home, "package.json"), JSON.stringify({ name, version, bin: programs }));
      const file = join(home, "cli.mjs");
      put(file, options.text ?? serverText(version, scriptFile, log));
      chmodSync(file, 0o755);
      mkdirSync(join(place, "node_modules", ".bin"));
      for (const each of typeof programs === "string" ? [own] : Object.keys(programs)) {
        symlinkSync(file, join(place, "node_modules", ".bin", each));
      }
      if (spec !== null) {
        const about = { dependencies: { [name]: `^${version}` }, _npx: { packages: [spec] } };
        put(join(place, "package.json"), JSON.stringify(about));
        put(join(place, "node_modules", ".package-lock.json"), "{}");
      }
      const then = new Date(Date.now() - ageHours * HOUR_MS);
      for (const path of ["package.json", "node_modules/.package-lock.json", "."]) {
        if (existsSync(join(place, path))) utimesSync(join(place, path), then, then);
      }
      return { folder: place, file };
    },
    publish(spec, version) {
      const known = JSON.parse(readFileSync(registry, "utf8")) as object;
      writeFileSync(registry, JSON.stringify({ ...known, [spec]: version }));
    },
    ran: () =>
      readFileSync(ledger, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as string[]),
    versions: () => server.launches().map(({ env }) => env.VERSION),
    kept: () => JSON.parse(readFileSync(keptFile, "utf8")) as ReturnType<FakeNpx["kept"]>,
  };
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function serverText(version: string, scriptFile: string, log: string): string {
  return `#!/usr/bin/env node
process.env.VERSION = ${JSON.stringify(version)};
process.argv.splice(2, 0, ${JSON.stringify(scriptFile)}, ${JSON.stringify(log)});
await import(${JSON.stringify(PROCESS)});
`;
}

/** Installs what the registry has, as the real one does, and stays above what it runs; \`npm view\` says what is newest. */
function program(fill: Record<"name" | "ledger" | "registry" | "folder" | "scriptFile" | "log", string>): string {
  return `#!/usr/bin/env node
const fill = ${JSON.stringify(fill)};
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const { join } = require("node:path");
const { spawn } = require("node:child_process");
const args = process.argv.slice(2);
fs.appendFileSync(fill.ledger, JSON.stringify([fill.name, ...args]) + "\\n");
const registry = JSON.parse(fs.readFileSync(fill.registry, "utf8"));
const find = (spec) => registry[spec] ?? registry[spec.lastIndexOf("@") > 0 ? spec : spec + "@latest"];
if (args[0] === "view") {
  if (fs.existsSync(".npmrc")) fs.appendFileSync(fill.ledger, JSON.stringify(["obeys", fs.readFileSync(".npmrc", "utf8")]) + "\\n");
  if (registry.delay) setTimeout(() => {}, registry.delay);
  const version = find(args[1]);
  if (version === undefined) process.exit(1);
  if (!registry.delay) console.log(JSON.stringify(version));
} else {
  const at = args.findIndex((arg, index) => !arg.startsWith("-") && arg !== "exec");
  const named = args.find((arg) => arg.startsWith("--package="));
  const spec = named ? named.slice(10) : args[at];
  const version = find(spec);
  if (version === undefined) {
    console.error("npm error code E404");
    process.exit(1);
  }
  const name = spec.lastIndexOf("@") > 0 ? spec.slice(0, spec.lastIndexOf("@")) : spec;
  const place = join(fill.folder, createHash("sha512").update(spec).digest("hex").slice(0, 16));
  const home = join(place, "node_modules", name);
  fs.mkdirSync(home, { recursive: true });
  fs.writeFileSync(join(home, "package.json"), JSON.stringify({ name, version, bin: { [name.split("/").pop()]: "cli.mjs" } }));
  fs.writeFileSync(join(home, "cli.mjs"), ${JSON.stringify(serverText("@VERSION@", fill.scriptFile, fill.log))}.replace("@VERSION@", version));
  fs.writeFileSync(join(place, "package.json"), JSON.stringify({ dependencies: { [name]: version }, _npx: { packages: [spec] } }));
  const child = spawn(process.execPath, [join(home, "cli.mjs"), ...args.slice(at + 1)], { stdio: "inherit" });
  child.on("exit", (code) => process.exit(code ?? 1));
}
`;
}
