import { readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { getNodeValue } from "jsonc-parser";
import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { fieldsOf } from "../entries.ts";
import type { TimeoutUnit } from "../foreign-entry.ts";
import type { JsonDocument, JsonNode } from "../json-file.ts";
import { type UserEnvironment, userConfigDir } from "../paths.ts";
import type { Dialect } from "../spelling.ts";

/** Where other programs' files are looked for. */
export interface ImportContext extends UserEnvironment {
  readonly platform: NodeJS.Platform;
  /** The folder whose project files are looked at. */
  readonly cwd: string;
}

export interface ImportPlace {
  readonly file: string;
  /** `user`: the person's own; `project`: comes with a project, and is somebody else's. */
  readonly scope: "user" | "project";
  /** What relative paths in the file are relative to; absent where that is whatever folder is open. */
  readonly base?: string;
  /** What else is to be said of it. */
  readonly note?: string;
}

/** One server of another program's file. */
export interface ForeignServer {
  readonly name: string;
  /** Where it stands. */
  readonly at: JsonNode;
  readonly fields: JsonObject;
  /** Why it cannot be imported. */
  readonly skip?: string;
  /** Why it is not in use there. */
  readonly off?: string;
  /** Where its values are written otherwise than in the rest of the file. */
  readonly dialect?: Dialect;
}

/** Reads another file of the same program; its mistakes are reported with the others. */
export type ReadBeside = (file: string) => JsonObject | undefined;

/** Another program that has servers. Adding one: this record in a file of its own, and a line in `clients.ts`. */
export interface ImportClient {
  /** As it is named on the command line. */
  readonly id: string;
  readonly title: string;
  readonly timeouts?: TimeoutUnit;
  /** Its files, the one that counts first. Files that are not there cost nothing. */
  places(context: ImportContext): readonly ImportPlace[];
  dialect(place: ImportPlace, context: ImportContext, document: JsonDocument): Dialect;
  /** The servers of one file; of several with one name the first counts. */
  read(
    document: JsonDocument,
    place: ImportPlace,
    context: ImportContext,
    beside: ReadBeside,
  ): readonly ForeignServer[];
}

export function userFile(...path: string[]): ImportPlace {
  return { file: join(...path), scope: "user" };
}

/** Relative paths in a project's file mean its folder. */
export function projectFile({ cwd }: ImportContext, ...path: string[]): ImportPlace {
  return { file: join(cwd, ...path), scope: "project", base: cwd };
}

/** Where programs with windows keep what is a person's: Application Support, %APPDATA%, ~/.config. */
export function appData(context: ImportContext): string {
  const { env, home, platform } = context;
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return platform === "win32"
    ? (folderFrom(env, "APPDATA") ?? join(home, "AppData", "Roaming"))
    : userConfigDir(context);
}

/** A folder named by a variable, if it is an absolute path. */
export function folderFrom(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const folder = env[name]?.trim();
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}

/** More folders than this side by side are not what is looked for. */
const MAX_FOLDERS = 100;

/** The folders in a folder whose names fit, in the order of their names; none where it cannot be read. */
export function foldersIn(parent: string, pattern: RegExp): string[] {
  try {
    const found = readdirSync(parent, { withFileTypes: true }).filter(
      (each) => each.isDirectory() && pattern.test(each.name),
    );
    const names = found.map(({ name }) => name).sort();
    return names.slice(0, MAX_FOLDERS).map((name) => join(parent, name));
  } catch {
    return [];
  }
}

/** The value at a path of keys. */
export function nodeAt(document: JsonDocument, path: readonly string[]): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>(
    (node, key) => (node?.type === "object" ? fieldsOf(document, node).get(key)?.value : undefined),
    document.root,
  );
}

/** The servers in the object at a path of keys, whose keys are the names. */
export function serversAt(document: JsonDocument, ...path: string[]): ForeignServer[] {
  const node = nodeAt(document, path);
  if (node?.type !== "object") return [];
  return [...fieldsOf(document, node)].map(([name, { key, value }]) => {
    const fields: unknown = getNodeValue(value);
    return isObject(fields) ? { name, at: key, fields } : { name, at: key, fields: {}, skip: "it is not an object" };
  });
}

/** The texts of a list; none where there is no list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** The texts of the list at a path of keys. */
export function textsAt(document: JsonDocument, ...path: string[]): string[] {
  const node = nodeAt(document, path);
  return textsOf(node && getNodeValue(node));
}

/** What is said of a server that a list names. */
export function switchedOff(servers: readonly ForeignServer[], names: readonly string[], why: string): ForeignServer[] {
  return servers.map((server) => (names.includes(server.name) ? { ...server, off: why } : server));
}
