import { join } from "node:path";
import { isObject } from "../../is-object.ts";
import type { JsonDocument } from "../json-file.ts";
import { userConfigDir } from "../paths.ts";
import {
  appData,
  type ForeignServer,
  folderFrom,
  type ImportClient,
  type ImportContext,
  projectFile,
  serversAt,
  userFile,
} from "./client.ts";

/** OpenCode: servers stand under `mcp` in version 1 and under `mcp.servers` in version 2. `{env:X}` is filled in. */
export const opencode: ImportClient = {
  id: "opencode",
  title: "OpenCode",
  timeouts: "ms",
  places(context) {
    const { env } = context;
    const own = [folderFrom(env, "OPENCODE_CONFIG_DIR"), ...globalFolders(context)].filter(
      (each) => each !== undefined,
    );
    const named = folderFrom(env, "OPENCODE_CONFIG");
    return [
      ...(named === undefined ? [] : [userFile(named)]),
      ...own.flatMap((folder) => NAMES.map((name) => userFile(folder, name))),
      ...NAMES.map((name) => projectFile(context, name)),
      ...NAMES.map((name) => projectFile(context, ".opencode", name)),
    ];
  },
  dialect: () => ({ forms: ["inner"], isStrict: true, hasFiles: true }),
  read: (document) => serversOf(document).map(withoutDefault),
};

const NAMES = ["opencode.jsonc", "opencode.json"];

/** `~/.config` on every system; older versions on Windows had %APPDATA%. */
function globalFolders(context: ImportContext): string[] {
  const folders = [userConfigDir(context), ...(context.platform === "win32" ? [appData(context)] : [])];
  return folders.map((folder) => join(folder, "opencode"));
}

/** In version 1 `servers` could be the name of a server. */
function serversOf(document: JsonDocument): ForeignServer[] {
  const first = serversAt(document, "mcp");
  const servers = first.find(({ name }) => name === "servers");
  if (servers === undefined || ["type", "command", "url"].some((field) => typeof servers.fields[field] === "string")) {
    return first;
  }
  // Beside them in version 2 stand settings for all; a server of version 1 is one there too.
  const beside = first.filter(({ fields }) => isServer(fields));
  return [...serversAt(document, "mcp", "servers"), ...beside];
}

function isServer(fields: unknown): boolean {
  return isObject(fields) && (fields.command !== undefined || fields.url !== undefined);
}

/** `{"enabled": true}` alone switches on what an organisation provides elsewhere. */
function withoutDefault(server: ForeignServer): ForeignServer {
  if (server.skip !== undefined || isServer(server.fields)) return server;
  return { ...server, skip: "its command or address is not in this file" };
}
