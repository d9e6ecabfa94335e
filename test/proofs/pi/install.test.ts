import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../../ground/fake-server.ts";
import { type Home, temporaryHome } from "../../ground/home.ts";
import { localRegistry } from "../../ground/registry.ts";
import { HOSTS, type Host, runPi } from "../../ground/run-pi.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MB = 1_000_000;

const execute = promisify(execFile);

/** Its output. The registry is in this process, so nothing here may block. */
async function pi(host: Host, home: Home, env: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout } = await execute(host.node, [host.cli, ...args], { cwd: home.cwd, env, timeout: 60_000 });
  return stdout;
}

/** A person's first server, called by the model, by a pi that knows of the extension from its settings alone. */
async function works(host: Host, home: Home, env: Record<string, string>) {
  await using model = await scriptedModel([
    { call: { tool: "mcp_call", args: { selector: "s.echo", args: { a: 1 } } } },
    { say: "ok" },
  ]);
  const { command, args } = await fakeStdio(home);
  home.write({ model, mcp: { mcpServers: { s: { command, args } } } });
  const run = await runPi(host, home, { mode: "print", prompt: "go", env });
  expect([run.code, run.stdout.trim()]).toEqual([0, "ok"]);
  expect(toolResults(model.requests[1])).toEqual(['{"a":1}']);
}

/** Of all files below a folder, and the packages among them. */
function measure(folder: string): { bytes: number; packages: string[] } {
  let bytes = 0;
  const packages: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
    const isPackage =
      entry.isDirectory() && /node_modules(?:\/@[^/]+)?$/.test(entry.parentPath) && !/^[@.]/.test(entry.name);
    if (isPackage) packages.push(entry.name);
  }
  return { bytes, packages };
}

test("[S2-09] the package says from which version of pi on it runs, and that is the oldest one it is tested with", () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    peerDependencies: Record<string, string>;
  };
  const [, oldest] = HOSTS.map(({ version }) => version.split(".").slice(0, 2).join("."));
  expect(peerDependencies["@mariozechner/pi-coding-agent"]).toBe(`>=${oldest}`);
  // The same program under its newer name, which begins with the version after that.
  expect(peerDependencies["@earendil-works/pi-coding-agent"]).toBe(">=0.74");
});

describe.each(HOSTS)("$name", (host) => {
  test("[S2-06] is installed from the registry as packed, with few packages and no second copy of pi, and works", async () => {
    await using registry = await localRegistry();
    await using home = await temporaryHome();
    const prefix = home.path("npm");
    const env = home.env({
      PATH: `${home.env().PATH}:${process.env.PATH}`,
      PI_OFFLINE: "",
      HTTP_PROXY: "",
      HTTPS_PROXY: "",
      npm_config_offline: "false",
      npm_config_registry: registry.url,
      npm_config_prefix: prefix,
      npm_config_cache: home.path("npm-cache"),
      npm_config_update_notifier: "false",
    });
    await pi(host, home, env, "install", "npm:pi-mcp");
    expect(await pi(host, home, env, "list")).toContain("pi-mcp");
    const place = [join(home.agentDir, "npm", "node_modules"), join(prefix, "lib", "node_modules")].find((each) =>
      existsSync(join(each, "pi-mcp")),
    );
    const { bytes, packages } = measure(place ?? "");
    expect(packages).not.toContain("pi-coding-agent");
    expect(packages.length).toBeLessThanOrEqual(25);
    expect(bytes).toBeLessThan(6 * MB);
    expect(registry.missing).toEqual([]);
    await works(host, home, env);
    await pi(host, home, env, "remove", "npm:pi-mcp");
    expect(await pi(host, home, env, "list")).not.toContain("pi-mcp");
  });

  test("[S2-06] is installed from a folder, which stays where it is, and works", async () => {
    await using home = await temporaryHome();
    // Without the other pi that stands beside it in this checkout.
    const folder = home.path("pi-mcp");
    for (const name of ["dist", "package.json"]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    for (const name of [
      "cross-spawn",
      "signal-exit",
      "which",
      "isexe",
      "path-key",
      "shebang-command",
      "shebang-regex",
    ]) {
      cpSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), {
        recursive: true,
        dereference: true,
      });
    }
    const env = home.env();
    await pi(host, home, env, "install", folder);
    const { packages } = JSON.parse(readFileSync(join(home.agentDir, "settings.json"), "utf8")) as {
      packages: string[];
    };
    expect(packages).toHaveLength(1);
    await works(host, home, env);
  });
});
