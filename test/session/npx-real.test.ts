import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderName } from "../../src/server/npx/installed.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "./open.ts";

const NAME = "some-server-of-the-tests";
const PROCESS = fileURLToPath(new URL("../ground/stdio-process.ts", import.meta.url));

/** A registry on this computer with one package, whose newest version can be changed. */
async function registry(home: Home, serverArgs: readonly string[]) {
  const tarballs = new Map<string, Buffer>();
  let latest = "";
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const { port } = server.address() as AddressInfo;
    const tarball = tarballs.get(/-(\d+\.\d+\.\d+)\.tgz$/.exec(request.url ?? "")?.[1] ?? "");
    if (tarball) return response.end(tarball);
    if (request.url !== `/${NAME}`) return response.writeHead(404).end("{}");
    const versions = [...tarballs].map(([version, bytes]) => {
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const dist = { tarball: `http://127.0.0.1:${port}/${NAME}/-/${NAME}-${version}.tgz`, integrity };
      return [version, { name: NAME, version, bin: { [NAME]: "cli.mjs" }, dist }];
    });
    const packument = { name: NAME, "dist-tags": { latest }, versions: Object.fromEntries(versions) };
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(packument));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    publish(version: string) {
      const folder = join(mkdtempSync(home.path("pack-")), "package");
      mkdirSync(folder);
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name: NAME, version, bin: { [NAME]: "cli.mjs" } }));
      const [scriptFile, log] = serverArgs;
      const text = `#!/usr/bin/env node
process.env.VERSION = ${JSON.stringify(version)};
process.argv.splice(2, 0, ${JSON.stringify(scriptFile)}, ${JSON.stringify(log)});
await import(${JSON.stringify(PROCESS)});
`;
      writeFileSync(join(folder, "cli.mjs"), text);
      chmodSync(join(folder, "cli.mjs"), 0o755);
      const packed = spawnSync("tar", ["-czf", "-", "-C", join(folder, ".."), "package"], { encoding: "buffer" });
      tarballs.set(version, packed.stdout);
      latest = version;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const hasNpx = spawnSync("npx", ["--version"], { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } }).status === 0;

test.runIf(hasNpx)(
  "[S3-02] [S3-04] what the real npx has installed is run without it from the second start on, and a newer version is taken up",
  async () => {
    await using home = await temporaryHome();
    const fake = await fakeStdio(home);
    const npm = await registry(home, fake.args.slice(1));
    npm.publish("1.0.0");
    const env = { npm_config_offline: "false", npm_config_registry: npm.url, npm_config_update_notifier: "false" };
    home.write({ env });
    const args = ["-y", `${NAME}@latest`, "--", "--option=value"];
    home.write({ mcp: { mcpServers: { fake: { command: "npx", args } } } });
    const keptFile = join(home.agentDir, "mcp-npx-cache.json");
    const key = JSON.stringify(["npx", "-y", `${NAME}@latest`]);
    const entryOf = () => (JSON.parse(readFileSync(keptFile, "utf8")) as Kept).entries[key];
    const use = async (meanwhile?: () => Promise<unknown>) => {
      await using session = sessionOf(home);
      const { isError, text } = await mcp(session, { action: "call", server: "fake", tool: "echo" });
      expect([isError, text]).toEqual([false, expect.any(String)]);
      await meanwhile?.();
    };
    const age = (hours: number) => {
      const entry = { ...entryOf(), resolvedAt: Date.now() - hours * 3_600_000 };
      writeFileSync(keptFile, JSON.stringify({ version: 1, entries: { [key]: entry } }));
      // The folder itself is what else tells how old all this is.
      const folder = join(home.home, ".npm", "_npx", folderName(`${NAME}@latest`));
      spawnSync("find", [folder, "-exec", "touch", "-d", "3 days ago", "{}", "+"]);
    };

    await use();
    expect(entryOf()).toMatchObject({ packageVersion: "1.0.0", isJs: true });
    expect(entryOf()?.resolvedBin).toContain(`/.npm/_npx/${folderName(`${NAME}@latest`)}/node_modules/${NAME}/`);

    const asked = npm.requests.length;
    await use();
    expect(npm.requests.length).toBe(asked);
    const [byNpx, direct] = fake.launches();
    expect(direct?.args).toEqual(byNpx?.args);
    expect(direct?.args).toEqual(["--", "--option=value"]);
    expect(byNpx?.env.npm_command).toBe("exec");
    expect(direct?.env.npm_command).toBe(undefined);
    expect(byNpx?.env.PATH?.split(":")).toContain(direct?.env.PATH?.split(":")[0]);

    // After some hours the registry is asked while the server runs; the next start has the new version, by way of npx.
    npm.publish("1.1.0");
    age(3);
    await use(() => until("the news", () => (entryOf()?.resolvedAt === 0 ? true : undefined)));
    await use();
    await use();
    expect(fake.launches().map(({ env }) => env.VERSION)).toEqual(["1.0.0", "1.0.0", "1.0.0", "1.1.0", "1.1.0"]);
    const isByNpx = fake.launches().map(({ env }) => env.npm_command === "exec");
    expect(isByNpx).toEqual([true, false, false, true, false]);
    await npm.close();
  },
);

interface Kept {
  readonly entries: Readonly<Record<string, { resolvedBin: string; resolvedAt: number; packageVersion: string }>>;
}
