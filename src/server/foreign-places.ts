import { join, resolve } from "node:path";
import { findNodeAtLocation } from "jsonc-parser";
import type { ForeignPlaces } from "../auth/foreign.ts";
import { readJsonFile } from "../config/json-file.ts";
import { agentDir, expandHome, personOf } from "../config/paths.ts";

/** Where other programs keep their sign-ins; `own` is where we do. */
export function foreignPlaces(env: NodeJS.ProcessEnv, own: string): ForeignPlaces {
  const { home } = personOf(env);
  const agent = agentDir({ env, home });
  return {
    pi: join(agent, "mcp-auth.json"),
    mcporter: join(home, ".mcporter", "credentials.json"),
    adapterFolders: [join(agent, "mcp-oauth"), ...adapterFolder(agent, home)].filter((folder) => folder !== own),
  };
}

/** Where the adapter's settings, in pi's mcp.json, say. */
function adapterFolder(agent: string, home: string): string[] {
  const document = readJsonFile(join(agent, "mcp.json"), []);
  const named: unknown = document && findNodeAtLocation(document.root, ["settings", "oauthDir"])?.value;
  return typeof named === "string" ? [resolve(expandHome(named, home))] : [];
}
