import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Credentials } from "../../src/auth/store.ts";
import type { Home } from "../ground/home.ts";

/** Where the sign-in to a server is kept. */
export function credentialsFile({ agentDir }: Home, server = "s"): string {
  const folder = `sha256-${createHash("sha256").update(server).digest("hex")}`;
  return join(agentDir, "mcp-oauth", folder, "tokens.json");
}

export function credentials(home: Home, server = "s"): Credentials {
  return JSON.parse(readFileSync(credentialsFile(home, server), "utf8")) as Credentials;
}

/** As another program, or the time that passes, would change them. */
export function changeTokens(home: Home, change: Partial<NonNullable<Credentials["tokens"]>>, server = "s"): void {
  const now = credentials(home, server);
  if (!now.tokens) throw new Error("It is not signed in.");
  writeFileSync(credentialsFile(home, server), JSON.stringify({ ...now, tokens: { ...now.tokens, ...change } }));
}
