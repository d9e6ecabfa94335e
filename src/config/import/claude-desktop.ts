import { join } from "node:path";
import {
  appData,
  folderFrom,
  foldersIn,
  type ImportClient,
  type ImportContext,
  serversAt,
  userFile,
} from "./client.ts";

const FILE = "claude_desktop_config.json";

/** Claude Desktop fills in nothing: what looks like a variable is text. */
export const claudeDesktop: ImportClient = {
  id: "claude-desktop",
  title: "Claude Desktop",
  places: (context) => [
    ...storeFolders(context).map((folder) => userFile(folder, FILE)),
    userFile(appData(context), "Claude", FILE),
  ],
  dialect: () => ({ forms: [], isStrict: true }),
  read: (document) => serversAt(document, "mcpServers"),
};

/** On Windows a packaged program has an %APPDATA% of its own. */
function storeFolders({ env, home, platform }: ImportContext): string[] {
  if (platform !== "win32") return [];
  const packages = join(folderFrom(env, "LOCALAPPDATA") ?? join(home, "AppData", "Local"), "Packages");
  return foldersIn(packages, /claude/i).map((folder) => join(folder, "LocalCache", "Roaming", "Claude"));
}
