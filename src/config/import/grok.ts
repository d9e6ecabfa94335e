import { join } from "node:path";
import {
  type ForeignServer,
  folderFrom,
  type ImportClient,
  projectFile,
  serversAt,
  switchedOff,
  textsAt,
  userFile,
} from "./client.ts";

/** Grok: TOML; `${X}` and `${X:-text}` are filled in. */
export const grok: ImportClient = {
  id: "grok",
  title: "Grok",
  places: (context) => [
    userFile(folderFrom(context.env, "GROK_HOME") ?? join(context.home, ".grok"), "config.toml"),
    projectFile(context, ".grok", "config.toml"),
  ],
  dialect: () => ({ forms: ["braced", "fallback"], isStrict: true }),
  read(document) {
    const servers = serversAt(document, "mcp_servers").map(withoutSession);
    return switchedOff(servers, textsAt(document, "disabled_mcp_servers"), "it is disabled in Grok");
  },
};

/** The one thing besides variables that is filled in there, and that nothing here stands for. */
function withoutSession(server: ForeignServer): ForeignServer {
  const { fields, skip, off } = server;
  return skip === undefined && off === undefined && JSON.stringify(fields).includes("{{session_id}}")
    ? { ...server, off: "it is sent {{session_id}}, which is not known here" }
    : server;
}
