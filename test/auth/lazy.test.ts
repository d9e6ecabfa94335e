import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { fakeHttp } from "../ground/fake-server.ts";
import { afterwards, place } from "./open.ts";

const LOADS = fileURLToPath(new URL("loads.ts", import.meta.url));

/** The modules of signing in that a program has loaded after it used the server `s`. */
async function loadedBy(cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [LOADS], { cwd, env });
  const loaded = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as string[];
  return loaded
    .filter((url) => /oauth4webapi|\/src\/auth\/|proper-lockfile/.test(url))
    .map((url) => url.replace(/^.*\//, ""));
}

test("a server that asks nobody to sign in loads nothing of it but where tokens would be", async () => {
  const here = await place();
  const open = await fakeHttp();
  afterwards(open, () => open.close());
  here.home.write({ mcp: { mcpServers: { s: { url: open.url } } } });
  const without = new Set(["store.ts", "lock.ts", "json-object.ts", "error.ts"]);
  expect((await loadedBy(here.home.cwd, here.home.env())).filter((name) => !without.has(name))).toEqual([]);
});

test("one that does, does", async () => {
  const here = await place();
  expect(await loadedBy(here.home.cwd, here.home.env())).toContain("server-auth.ts");
});
