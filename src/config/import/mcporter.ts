import { join } from "node:path";
import { type ForeignServer, folderFrom, type ImportClient, serversAt, userFile } from "./client.ts";

/** mcporter: `${X}`, `${X:-text}` and `$env:X` are filled in. */
export const mcporter: ImportClient = {
  id: "mcporter",
  title: "mcporter",
  places({ env, home, cwd }) {
    const named = folderFrom(env, "MCPORTER_CONFIG");
    const xdg = folderFrom(env, "XDG_CONFIG_HOME");
    const folders = [...(xdg === undefined ? [] : [join(xdg, "mcporter")]), join(home, ".mcporter")];
    const own = folders.flatMap((folder) => NAMES.map((name) => userFile(folder, name)));
    const base = join(cwd, "config");
    const project = NAMES.map((name) => ({ file: join(base, name), scope: "project" as const, base }));
    return [...(named === undefined ? [] : [userFile(named)]), ...own, ...project];
  },
  dialect: () => ({ forms: ["braced", "fallback", "shell"], isStrict: true }),
  read: (document) => serversAt(document, "mcpServers").map(withWords),
};

const NAMES = ["mcporter.jsonc", "mcporter.json"];

/** A command may be written with its first arguments in one text. */
function withWords(server: ForeignServer): ForeignServer {
  const { command, args } = server.fields;
  if (typeof command !== "string" || !/^[\w@.-]+(?:\s+[\w@./:=-]+)+$/.test(command.trim())) return server;
  const words = command.trim().split(/\s+/);
  return {
    ...server,
    fields: { ...server.fields, command: words[0], args: [...words.slice(1), ...(Array.isArray(args) ? args : [])] },
  };
}
