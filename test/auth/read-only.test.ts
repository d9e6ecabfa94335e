/**
 * A home in which nothing can be written. The superuser can write everywhere, whatever the mode says, so where the tests run as
 * one the calls are made by a process of somebody else, who may read everything in the home and write nothing.
 */
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { place } from "./open.ts";
import { expired, fileOf, folderOf, refreshes, startCaller } from "./refreshing.ts";

const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Takes the right to write from everybody but the superuser, and gives that to read; until it is disposed of. */
function readOnly(folder: string): Disposable {
  const { mode } = statSync(folder);
  const within = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return readOnly(path);
    chmodSync(path, 0o444);
    return [];
  });
  chmodSync(folder, 0o555);
  return {
    [Symbol.dispose]() {
      chmodSync(folder, mode);
      for (const each of within) each[Symbol.dispose]();
    },
  };
}

test.runIf(process.platform !== "win32")(
  "in a read-only home a sign-in that is good is used, and nothing is written",
  async () => {
    const here = await place();
    await here.signIn();
    const before = readFileSync(fileOf(here), "utf8");
    using _ = readOnly(here.home.root);
    const { child, ready, result } = startCaller(here, {}, NOBODY);
    await ready;
    child.stdin.write("go\n");
    expect(await result).toEqual(Array.from({ length: 8 }, () => "ok"));
    expect([refreshes(here), readFileSync(fileOf(here), "utf8"), readdirSync(folderOf(here))]).toEqual([
      0,
      before,
      ["tokens.json"],
    ]);
  },
);

test.runIf(process.platform !== "win32")(
  "there a sign-in that is over is renewed for the process alone, once",
  async () => {
    const here = await expired();
    const before = readFileSync(fileOf(here), "utf8");
    using _ = readOnly(here.home.root);
    const { child, ready, result } = startCaller(here, {}, NOBODY);
    await ready;
    child.stdin.write("go\n");
    expect(await result).toEqual(Array.from({ length: 8 }, () => "ok"));
    expect([refreshes(here), readFileSync(fileOf(here), "utf8"), here.authorization.refusals]).toEqual([1, before, []]);
  },
);
