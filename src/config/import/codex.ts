import { join } from "node:path";
import { type ForeignServer, folderFrom, type ImportClient, projectFile, serversAt, userFile } from "./client.ts";

/** Codex: TOML. Values are text; what comes from the environment has fields of its own. */
export const codex: ImportClient = {
  id: "codex",
  title: "Codex",
  places: (context) => [
    userFile(folderFrom(context.env, "CODEX_HOME") ?? join(context.home, ".codex"), "config.toml"),
    projectFile(context, ".codex", "config.toml"),
  ],
  dialect: () => ({ forms: [], isStrict: true }),
  read: (document) => serversAt(document, "mcp_servers").map(withoutRemote),
};

function withoutRemote(server: ForeignServer): ForeignServer {
  const { fields, skip } = server;
  return skip === undefined && fields.experimental_environment === "remote"
    ? { ...server, skip: "it runs on another computer" }
    : server;
}
