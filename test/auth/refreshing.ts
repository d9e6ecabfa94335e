import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Credentials } from "../../src/auth/store.ts";
import { type Place, type PlaceOptions, place } from "./open.ts";
import { changeTokens, credentials, credentialsFile } from "./stored.ts";

const CALLER = fileURLToPath(new URL("caller.ts", import.meta.url));
const KILL_AT = new URL("kill-at.ts", import.meta.url).href;

export const folderOf = (here: Place) => dirname(fileOf(here));
export const fileOf = ({ home }: Place) => credentialsFile(home);
export const stored = ({ home }: Place) => credentials(home);
export const store = (here: Place, content: Credentials) => writeFileSync(fileOf(here), JSON.stringify(content));
export const refreshes = (here: Place) => here.authorization.grants("refresh_token").length;

/** Somebody who has signed in, whose access token is over: by our clock, or the server has revoked it. */
export async function expired(options: PlaceOptions = {}, how: "expired" | "revoked" = "expired"): Promise<Place> {
  const here = await place(options);
  await here.signIn();
  here.server.revoked.add(stored(here).tokens?.accessToken ?? "");
  if (how === "expired") changeTokens(here.home, { expiresAt: 1 });
  return here;
}

/** A process that makes its calls at once when it is told to; `KILL_AT`: see kill-at.ts. */
export function startCaller(
  { home }: Pick<Place, "home">,
  env: Record<string, string> = {},
  { calls = 8, server = "s", ...owner }: { calls?: number; server?: string; uid?: number; gid?: number } = {},
) {
  const child = spawn(process.execPath, ["--import", KILL_AT, CALLER, String(calls), server], {
    env: home.env(env),
    cwd: home.cwd,
    stdio: ["pipe", "pipe", "inherit"],
    ...owner,
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
