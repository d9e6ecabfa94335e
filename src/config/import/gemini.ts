import {
  type ForeignServer,
  type ImportClient,
  projectFile,
  serversAt,
  switchedOff,
  textsAt,
  userFile,
} from "./client.ts";

/**
 * Gemini CLI. `httpUrl` is Streamable HTTP; `url` was HTTP+SSE alone and may be either since, so that it is left to be
 * found out, unless `type` says it.
 */
export const gemini: ImportClient = {
  id: "gemini",
  title: "Gemini CLI",
  timeouts: "ms",
  places: (context) => [
    userFile(context.home, ".gemini", "settings.json"),
    projectFile(context, ".gemini", "settings.json"),
  ],
  dialect: () => ({ forms: ["bare", "braced", "fallback"], isStrict: true }),
  read(document) {
    const servers = serversAt(document, "mcpServers").map(withoutTcp);
    const excluded = switchedOff(servers, textsAt(document, "mcp", "excluded"), "it is excluded in Gemini CLI");
    const allowed = textsAt(document, "mcp", "allowed");
    if (allowed.length === 0) return excluded;
    const others = servers.map(({ name }) => name).filter((name) => !allowed.includes(name));
    return switchedOff(excluded, others, "it is not among those that Gemini CLI allows");
  },
};

function withoutTcp(server: ForeignServer): ForeignServer {
  const { fields, skip } = server;
  const isTcp = fields.tcp !== undefined && fields.httpUrl === undefined && fields.url === undefined;
  return skip === undefined && isTcp
    ? { ...server, skip: 'it is reached over "tcp", which is not known here' }
    : server;
}
