import { join } from "node:path";
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

/** Zed: `context_servers` in its settings, which have comments. Values are text. */
export const zed: ImportClient = {
  id: "zed",
  title: "Zed",
  places: (context) => [userFile(folderOf(context), "settings.json"), projectFile(context, ".zed", "settings.json")],
  dialect: () => ({ forms: [], isStrict: true }),
  read: (document) => serversAt(document, "context_servers").map(withoutExtension),
};

/** `~/.config/zed` on macOS too. */
function folderOf(context: ImportContext): string {
  const { env, home, platform } = context;
  if (platform === "win32") return join(appData(context), "Zed");
  if (platform === "darwin") return join(home, ".config", "zed");
  return join(folderFrom(env, "FLATPAK_XDG_CONFIG_HOME") ?? appData(context), "zed");
}

/** A server that an extension brings has settings here and its command there. */
function withoutExtension(server: ForeignServer): ForeignServer {
  const { fields, skip } = server;
  if (skip !== undefined || fields.command !== undefined || fields.url !== undefined) return server;
  return { ...server, skip: "an extension of Zed starts it" };
}
