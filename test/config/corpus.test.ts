import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { ConfigProblem, ServerConfig } from "../../src/config/record.ts";
import { temporaryHome } from "../ground/home.ts";
import { EXPECTED } from "./expected.ts";

const CORPUS = fileURLToPath(new URL("./corpus", import.meta.url));

/** Stands in the corpus wherever a secret would, and must be in no message. */
const SECRET = "hunter2";

/** Where a file of the corpus would lie: what it is called says what it is. */
function placeOf(file: string): string {
  if (extname(file) === ".toml") return "settings.toml";
  return file.startsWith("settings-") ? "settings.json" : "mcp.json";
}

/** `name = stdio command ["arg"] {"ENV":"value"}` or `name = http url {"Header":"value"}`, and what is unusual. */
function lineOf({ name, target, exposure, directTools, tools, policy }: ServerConfig): string {
  const parts: string[] = [name, "=", target.kind];
  if (target.kind === "stdio") {
    parts.push(target.command);
    if (target.args.length > 0) parts.push(JSON.stringify(target.args));
    if (Object.keys(target.env).length > 0) parts.push(JSON.stringify(target.env));
    if (target.cwd !== undefined) parts.push(`in ${target.cwd}`);
  } else {
    parts.push(target.url);
    if (Object.keys(target.headers).length > 0) parts.push(JSON.stringify(target.headers));
    if (target.bearerCommand !== undefined) parts.push(`token of ${target.bearerCommand}`);
    if (target.ca !== undefined) parts.push(`ca ${target.ca}`);
  }
  if (exposure === "direct") parts.push("direct");
  if (directTools) parts.push(`direct ${directTools.join()}`);
  if (tools?.include) parts.push(`only ${tools.include.join()}`);
  if (tools && tools.exclude.length > 0) parts.push(`without ${tools.exclude.join()}`);
  if (policy.inheritEnv !== "all") parts.push(policy.inheritEnv);
  if (policy.startTimeoutMs !== 30_000) parts.push(`start ${policy.startTimeoutMs}`);
  if (policy.callTimeoutMs !== 30_000) parts.push(`call ${policy.callTimeoutMs}`);
  return parts.join(" ");
}

function problemLine({ line, column, severity, message }: ConfigProblem): string {
  return `${line}:${column} ${severity} ${message}`;
}

test("every file of the corpus gives the servers and the messages that are expected of it", async () => {
  await using home = await temporaryHome();
  const env = home.env();
  const place = (file: string) => join(home.agentDir, placeOf(file));
  mkdirSync(dirname(place("")), { recursive: true });
  const found: Record<string, string[]> = {};
  for (const file of readdirSync(CORPUS).sort()) {
    home.write({ files: { "agent/settings.toml": "", "agent/settings.json": "", "agent/mcp.json": "" } });
    copyFileSync(join(CORPUS, file), place(file));
    const { servers, problems } = loadConfig({ env, home: home.home });
    found[file] = [...servers.map(lineOf), ...problems.map(problemLine)];
    for (const problem of problems) {
      expect(problem.file, file).toBe(place(file));
      expect(problem.message, file).not.toContain(SECRET);
      expect(problem.message, file).not.toMatch(/\p{Cc}/u);
    }
  }
  expect(found).toEqual(EXPECTED);
  expect(Object.keys(found).length).toBeGreaterThanOrEqual(60);
});
