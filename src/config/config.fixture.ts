import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type JsonDocument, parseJson } from "./json-file.ts";
import { loadConfig } from "./load.ts";
import type { ConfigProblem, LoadedConfig } from "./record.ts";

/** A home directory of its own for one test. */
export interface TestHome {
  readonly home: string;
  /** Writes a file below the home, a value as JSON and a string as it is, and returns its path. */
  write(file: string, content: unknown): string;
  load(env?: NodeJS.ProcessEnv): LoadedConfig;
}

export const SETTINGS = ".pi/agent/settings.json";
export const SETTINGS_TOML = ".pi/agent/settings.toml";
export const MCP_JSON = ".pi/agent/mcp.json";
export const USER_MCP_JSON = ".config/mcp/mcp.json";

const homes: string[] = [];

/** Removes all homes; for `afterEach`. */
export function removeHomes(): void {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
}

export function testHome(): TestHome {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "config-test-")));
  homes.push(home);
  return {
    home,
    write(file, content) {
      const path = join(home, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(
        path,
        typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content),
      );
      return path;
    },
    load: (env = {}) => loadConfig({ env, home }),
  };
}

export function documentOf(text: string, file = "/mcp.json"): JsonDocument {
  const problems: ConfigProblem[] = [];
  const document = parseJson(file, text, problems);
  if (document === undefined) throw new Error(`not a document: ${JSON.stringify(problems)}`);
  return document;
}

/** Problems as short lines to compare: `3:5 error message`. */
export function brief(problems: readonly ConfigProblem[]): string[] {
  return problems.map(({ line, column, severity, message }) => `${line}:${column} ${severity} ${message}`);
}
