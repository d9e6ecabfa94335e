import { existsSync, mkdirSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryHome } from "../../../test/ground/home.ts";
import type { PiApi } from "./api.ts";
import { builtinNotice } from "./builtin-notice.ts";

const piWith = (extensions?: string[]) => ({ getSettings: () => ({ extensions }) }) as unknown as PiApi;

it("says once how to stop what pi says at each start, and never where pi does not say it", async () => {
  await using home = await temporaryHome();
  const user = { env: home.env(), home: home.home };
  const say = (pi: PiApi, mode?: "tui" | "rpc", ...argv: string[]) =>
    builtinNotice(pi, mode ? { mode } : {}, user, argv);
  const silent = [
    say(piWith(), "rpc"),
    say(piWith()),
    say(piWith(), "tui", "--no-mcp"),
    say(piWith(["-builtin:mcp"]), "tui"),
    say({} as PiApi, "tui"),
  ];
  expect(silent).toEqual(silent.map(() => undefined));
  expect(existsSync(`${home.agentDir}/mcp-builtin-told`)).toBe(false);
  expect(say(piWith(["x.js"]), "tui")).toContain(`in ${home.agentDir}/settings.json: "extensions": ["-builtin:mcp"]`);
  expect(say(piWith(), "tui")).toBeUndefined();
});

it("does not say at every start what it cannot remember to have said", async () => {
  await using home = await temporaryHome();
  rmSync(home.agentDir, { recursive: true });
  expect(builtinNotice(piWith(), { mode: "tui" }, { env: home.env(), home: home.home }, [])).toBeUndefined();
  mkdirSync(home.agentDir, { recursive: true });
});
