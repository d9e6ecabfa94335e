import { isObject } from "../is-object.ts";
import { readAcpServers } from "./acp.ts";
import type { LoadedConfig, Surface } from "./record.ts";

/** The variable in which an adapter between an editor and the agent hands the editor's servers over. */
export const ACP_VARIABLE = "PI_ACP_MCP_SERVERS";

/** Keys under which an object may hold its servers; the second one is Zed's. */
const CONTAINERS = ["mcpServers", "context_servers"];

/**
 * The servers in `PI_ACP_MCP_SERVERS`: a JSON array as ACP has it, an object of servers by name, or either in base64url.
 * Whoever started this process set it, so it is taken at its word. What cannot be read is one problem, which does not
 * repeat the value: it may hold tokens. `surface` is what the person has set for all servers.
 */
export function readAcpVariable(env: NodeJS.ProcessEnv, surface?: Surface): LoadedConfig {
  const written = env[ACP_VARIABLE]?.trim();
  if (!written) return { servers: [], problems: [] };
  const list = listOf(parse(written));
  if (list === undefined) {
    const message =
      "This variable must hold a JSON array of servers, an object of servers by name, or either in base64url; none of them was read.";
    return { servers: [], problems: [{ file: ACP_VARIABLE, line: 1, column: 1, severity: "error", message }] };
  }
  return readAcpServers(list, {
    env,
    source: { file: ACP_VARIABLE, layer: "environment" },
    ...(surface && { surface }),
  });
}

function parse(text: string): unknown {
  const json = /^[[{]/.test(text) ? text : decodeBase64(text);
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Both alphabets, with and without padding. */
function decodeBase64(text: string): string | undefined {
  return /^[\w+/=\s-]+$/.test(text) ? Buffer.from(text, "base64url").toString("utf8") : undefined;
}

function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const container = CONTAINERS.find((key) => Object.hasOwn(value, key));
  if (container !== undefined) return listOf(value[container]);
  const isServer = typeof value.name === "string" && ["command", "url"].some((key) => typeof value[key] === "string");
  if (isServer) return [value];
  return Object.entries(value).map(([name, entry]) => (isObject(entry) ? { ...entry, name } : { name }));
}
