import { join } from "node:path";
import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { userConfigDir } from "../paths.ts";
import { appData, type ForeignServer, type ImportClient, type ImportContext, serversAt, userFile } from "./client.ts";

/**
 * Goose: YAML. What it calls extensions are servers, or parts of its own. In addresses and headers it fills in `$X` and
 * `${X}`, from the extension's own `envs` before the environment.
 */
export const goose: ImportClient = {
  id: "goose",
  title: "Goose",
  timeouts: "s",
  places: (context) => [userFile(folderOf(context), "config.yaml")],
  dialect: () => ({ forms: [], isStrict: true }),
  read: (document) => serversAt(document, "extensions").map(toServer),
};

function folderOf(context: ImportContext): string {
  if (context.platform === "win32") return join(appData(context), "Block", "goose", "config");
  return join(context.platform === "darwin" ? join(context.home, ".config") : userConfigDir(context), "goose");
}

const HTTP_TYPES = ["sse", "streamable_http"];

function toServer(server: ForeignServer): ForeignServer {
  if (server.skip !== undefined) return server;
  const { config, ...own } = server.fields;
  const fields: JsonObject = isObject(config) ? { ...config, ...own } : own;
  if (fields.type === "stdio") return { ...server, fields };
  if (!HTTP_TYPES.includes(String(fields.type))) return { ...server, skip: "it is a part of Goose itself" };
  const { envs, env_keys: _, ...rest } = fields;
  const fill = (text: unknown) => (typeof text === "string" && isObject(envs) ? fillIn(text, envs) : text);
  const headers = isObject(rest.headers)
    ? Object.fromEntries(Object.entries(rest.headers).map(([name, value]) => [name, fill(value)]))
    : rest.headers;
  return {
    ...server,
    fields: { ...rest, uri: fill(rest.uri ?? rest.url), ...(headers !== undefined && { headers }) },
    dialect: { forms: ["bare", "braced"], isStrict: true },
  };
}

function fillIn(text: string, envs: JsonObject): string {
  return text.replace(/\$\{\s*(\w+)\s*\}|\$(\w+)/g, (written, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? "";
    const value = Object.hasOwn(envs, name) ? envs[name] : undefined;
    return typeof value === "string" ? value : written;
  });
}
