import type * as Fs from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { removeHomes, testHome } from "./config.fixture.ts";
import { loadConfig } from "./load.ts";
import { allowProject } from "./trust-decisions.ts";

/** What each further reading of the project's file finds. */
let contents: string[] = [];
let reads = 0;

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  const openSync = (file: Fs.PathLike, flags: Fs.OpenMode) => {
    const next = String(file).endsWith(".mcp.json") ? contents[reads++ % contents.length] : undefined;
    if (next !== undefined) fs.writeFileSync(file, next);
    return fs.openSync(file, flags);
  };
  return { ...fs, openSync };
});

afterEach(removeHomes);

it("E239: what is judged and what is parsed are the same bytes, however fast a file is replaced", () => {
  const home = testHome();
  const good = '{"mcpServers": {"a": {"command": "good"}}}';
  const evil = '{"mcpServers": {"a": {"command": "evil"}}}';
  home.write("project/.mcp.json", good);
  const place = { env: {}, home: home.home, cwd: join(home.home, "project") };
  contents = [good];
  for (const file of loadConfig(place).untrusted ?? []) allowProject(place, file);
  for (contents of [
    [good, evil],
    [evil, good],
  ]) {
    reads = 0;
    const commands = loadConfig(place).servers.map(({ target }) => "command" in target && target.command);
    expect(reads).toBeGreaterThan(0);
    expect(commands).toEqual(contents[0] === good ? ["good"] : []);
  }
});
