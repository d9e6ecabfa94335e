import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Published {
  readonly manifest: Manifest;
  readonly tarball: Buffer;
}

export interface Registry {
  readonly url: string;
  /** What was asked for and is not here. */
  readonly missing: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A package registry on this computer with this package, as it would be published, and all it depends on, as it is installed
 * here: a person's `pi install npm:pi-mcp` without a network.
 */
export async function localRegistry(): Promise<Registry> {
  const packages = new Map<string, Published[]>();
  for (const folder of [ROOT, ...installedBelow(ROOT)]) {
    const published = { manifest: manifestOf(folder), tarball: folder === ROOT ? packed(ROOT) : archived(folder) };
    packages.set(published.manifest.name, [...(packages.get(published.manifest.name) ?? []), published]);
  }
  const missing: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "/").slice(1).split("?")[0] ?? "");
    const [name = "", file] = path.split("/-/");
    const versions = packages.get(name);
    const one = file === undefined ? undefined : versions?.find(({ manifest }) => fileOf(manifest) === file);
    if (versions !== undefined && file === undefined) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(packumentOf(url(), name, versions)));
    } else if (one !== undefined) response.end(one.tarball);
    else {
      missing.push(path);
      response.writeHead(404).end("{}");
    }
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: url(), missing, [Symbol.asyncDispose]: close };
}

/** The folders of all that a package needs when it is installed, itself left out. */
function installedBelow(root: string): string[] {
  const found = new Set<string>();
  const add = (folder: string): void => {
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
      const place = resolveFrom(folder, name);
      if (found.has(place)) continue;
      found.add(place);
      add(place);
    }
  };
  add(root);
  return [...found];
}

function resolveFrom(folder: string, name: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const place = join(at, "node_modules", name);
    if (existsSync(place)) return realpathSync(place);
    if (dirname(at) === at) throw new Error(`${name} is not installed for ${folder}.`);
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Its tarball as npm makes it, of what is built now. */
function packed(folder: string): Buffer {
  const tmp = mkdtempSync(join(tmpdir(), "package-"));
  try {
    const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", tmp];
    const name = execFileSync("npm", args, { cwd: folder, encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
    return readFileSync(join(tmp, name));
  } finally {
    rmSync(tmp, { recursive: true, force: true });
  }
}

/** An installed package as a tarball; what is installed below it is not a part of it. */
function archived(folder: string): Buffer {
  const rename = `s,^${basename(folder)},package,`;
  const args = [
    "-czf",
    "-",
    "--exclude",
    "node_modules",
    "--transform",
    rename,
    "-C",
    dirname(folder),
    basename(folder),
  ];
  return execFileSync("tar", args, { maxBuffer: 64 * 1024 * 1024 });
}

function fileOf({ name, version }: Manifest): string {
  return `${name.split("/").at(-1)}-${version}.tgz`;
}

function packumentOf(url: string, name: string, versions: readonly Published[]): object {
  const entries = versions.map(({ manifest, tarball }) => [
    manifest.version,
    {
      ...manifest,
      dist: {
        tarball: `${url}${name}/-/${fileOf(manifest)}`,
        integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
      },
    },
  ]);
  return { name, "dist-tags": { latest: versions[0]?.manifest.version }, versions: Object.fromEntries(entries) };
}
