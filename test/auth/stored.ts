import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Credentials } from "../../src/auth/store.ts";
import type { Home } from "../ground/home.ts";

/** Of the server `s`. */
export function credentialsFolder({ agentDir }: Home): string {
  return join(agentDir, "mcp-oauth", `sha256-${createHash("sha256").update("s").digest("hex")}`);
}

export function credentialsFile(home: Home): string {
  return join(credentialsFolder(home), "tokens.json");
}

export function credentials(home: Home): Credentials {
  return JSON.parse(readFileSync(credentialsFile(home), "utf8")) as Credentials;
}

/** As another program, or the time that passes, would change them. */
export function changeTokens(home: Home, change: Partial<NonNullable<Credentials["tokens"]>>): void {
  const now = credentials(home);
  if (!now.tokens) throw new Error("It is not signed in.");
  writeFileSync(credentialsFile(home), JSON.stringify({ ...now, tokens: { ...now.tokens, ...change } }));
}
