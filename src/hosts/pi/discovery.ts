import { possibleExposures } from "../../config/exposure.ts";
import type { ServerConfig } from "../../config/record.ts";
import { type PiApi, tellsMcpServers } from "./api.ts";

/** The host's tools that find or call those which are not declared, by the exposure that asks for each. */
const REACHING = { codemode: "codemode", deferred: "tool_search" } as const;

/** Whether the host keeps tools that are not declared, and has a tool that reaches them. */
export function canDiscover(pi: PiApi): boolean {
  return tellsMcpServers(pi) && reaching(pi).size > 0;
}

/** Lets the model have the tools of the host that reach those of these servers. */
export function activateDiscovery(pi: PiApi, servers: readonly ServerConfig[]): void {
  const there = reaching(pi);
  const exposures = new Set(servers.flatMap((server) => [...possibleExposures(server)]));
  const asked = (["codemode", "deferred"] as const).filter((exposure) => exposures.has(exposure));
  if (asked.length === 0) return;
  const active = pi.getActiveTools();
  const wanted = asked.map((exposure) => REACHING[exposure]).filter((tool) => there.has(tool));
  // Each of them reaches every such tool, so that any one will do where the right one is missing.
  const found = wanted.length > 0 ? wanted : [...there].slice(0, 1);
  const missing = found.filter((tool) => !active.includes(tool));
  if (missing.length > 0) pi.setActiveTools([...active, ...missing]);
}

/** Only a tool that says so reaches others: an extension may have one of the same name. */
function reaching(pi: Pick<PiApi, "getAllTools">): ReadonlySet<string> {
  const names: ReadonlySet<string> = new Set(Object.values(REACHING));
  const tools = pi.getAllTools().filter(({ name, reachesTools }) => names.has(name) && reachesTools !== undefined);
  return new Set(tools.map(({ name }) => name));
}
