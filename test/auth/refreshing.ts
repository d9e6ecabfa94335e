import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Place, type PlaceOptions, place } from "./open.ts";

const CALLER = fileURLToPath(new URL("caller.ts", import.meta.url));
const KILL_AT = new URL("kill-at.ts", import.meta.url).href;
const FOLDER = `sha256-${createHash("sha256").update("s").digest("hex")}`;

export const folderOf = ({ home }: Place) => join(home.agentDir, "mcp-oauth", FOLDER);
export const fileOf = (here: Place) => join(folderOf(here), "tokens.json");
export interface Stored {
  tokens?: { accessToken: string; refreshToken?: string; expiresAt?: number; [other: string]: unknown };
  [other: string]: unknown;
}
export const stored = (here: Place) => JSON.parse(readFileSync(fileOf(here), "utf8")) as Stored;
export const store = (here: Place, content: Stored) => writeFileSync(fileOf(here), JSON.stringify(content));
export const refreshes = (here: Place) => here.authorization.grants("refresh_token").length;

/** Somebody who has signed in, whose access token is over: by our clock, or the server has revoked it. */
export async function expired(options: PlaceOptions = {}, how: "expired" | "revoked" = "expired"): Promise<Place> {
  const here = await place(options);
  await here.signIn();
  const now = stored(here);
  if (!now.tokens) throw new Error("It is not signed in.");
  here.server.revoked.add(now.tokens.accessToken);
  if (how === "expired") store(here, { ...now, tokens: { ...now.tokens, expiresAt: 1 } });
  return here;
}

/** A process that makes eight calls at once when it is told to; `KILL_AT`: see kill-at.ts. */
export function startCaller({ home }: Place, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--import", KILL_AT, CALLER, "8"], {
    env: home.env(env),
    cwd: home.cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const ready = new Promise<void>((resolve) => {
    reader.on("line", (line) => {
      lines.push(line);
      if (line === "ready") resolve();
    });
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const result = ended.then(() => JSON.parse(lines.at(-1) ?? "[]") as string[]);
  result.catch(() => {});
  return { child, ready, ended, result };
}
