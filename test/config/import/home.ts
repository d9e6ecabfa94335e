import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ImportContext } from "../../../src/config/import/client.ts";
import { IMPORT_CLIENTS } from "../../../src/config/import/clients.ts";
import { type ScannedClient, scanClient } from "../../../src/config/import/scan.ts";
import { PREFIX } from "../../ground/stray.ts";

export type System = "linux" | "darwin" | "win32";

export const SYSTEMS: readonly System[] = ["linux", "darwin", "win32"];

/** A person's computer as a program of that system sees it. */
export interface ImportHome extends ImportContext {
  /** Writes a file at a path below the home (`~/…`) or the project (`project/…`); the text is a fixture's if it names one. */
  put(place: string, content: string): void;
  path(place: string): string;
  scan(client: string): ScannedClient;
  [Symbol.dispose](): void;
}

const FIXTURES = fileURLToPath(new URL("./fixtures/", import.meta.url));

/** A fixture's text; `@PROJECT@` in it is the project's folder. */
export function fixture(name: string, project = ""): string {
  return readFileSync(join(FIXTURES, name), "utf8").replaceAll("@PROJECT@", project);
}

export function importHome(platform: System = "linux", env: Record<string, string> = {}): ImportHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));
  const home = join(root, "home");
  const cwd = join(root, "project");
  for (const folder of [home, cwd]) mkdirSync(folder);
  const path = (place: string) => join(root, place.replace(/^~/, "home"));
  const context: ImportContext = {
    home,
    cwd,
    platform,
    env: platform === "win32" ? { APPDATA: join(home, "AppData", "Roaming"), ...env } : env,
  };
  return {
    ...context,
    path,
    put(place, content) {
      mkdirSync(dirname(path(place)), { recursive: true });
      writeFileSync(path(place), content);
    },
    scan(id) {
      const client = IMPORT_CLIENTS.find((each) => each.id === id);
      if (client === undefined) throw new Error(`there is no client ${id}`);
      return scanClient(client, context);
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** All entries by name, of the files that were read. */
export function entries({ files }: ScannedClient): Record<string, unknown> {
  return Object.fromEntries(
    files
      .flatMap(({ servers }) => servers.map(({ name, entry }) => [name, JSON.parse(JSON.stringify(entry))]))
      .reverse(),
  );
}

/** Why servers are switched off or not taken, by name. */
export function reasons({ files }: ScannedClient): Record<string, string> {
  return Object.fromEntries(
    files.flatMap(({ servers, skipped }) => [
      ...servers.flatMap(({ name, off }) => (off.length > 0 ? [[name, `off: ${off.join("; ")}`]] : [])),
      ...skipped.map(({ name, reason }) => [name, `skipped: ${reason}`]),
    ]),
  );
}

/** What is said of a server that is taken. */
export function notesOf({ files }: ScannedClient, name: string): readonly string[] {
  return files.flatMap(({ servers }) => servers.filter((each) => each.name === name).flatMap(({ notes }) => notes));
}
