import { possibleExposures } from "../../config/exposure.ts";
import { startsWithSession } from "../../config/lifecycle.ts";
import { listSome } from "../../config/list-some.ts";
import { visible } from "../../config/problems.ts";
import type { LoadedConfig } from "../../config/record.ts";
import type { ServerState } from "../../session/session.ts";

const SHOWN_NAMES = 3;

/**
 * What needs a person now, in one line; undefined while nothing does. A server that nobody has used yet needs nobody, and one
 * that fails a model's call is told of there: only those that the session itself starts are named here.
 */
export function attention(
  { servers, untrusted = [] }: Pick<LoadedConfig, "servers" | "untrusted">,
  stateOf: (server: string) => ServerState | undefined,
  hasChanged: (server: string) => boolean = () => false,
): string | undefined {
  const inState = (state: ServerState) => servers.filter(({ name }) => stateOf(name) === state);
  const failed = inState("failed").filter(
    (server) => startsWithSession(server.policy) || possibleExposures(server).has("direct"),
  );
  const waiting = untrusted.filter(({ state }) => state === "waiting").flatMap((file) => file.servers);
  const parts = [
    ...said(inState("needs-auth"), "needs sign-in", "need sign-in"),
    ...said(failed, "failed", "failed"),
    ...said(
      servers.filter(({ name }) => hasChanged(name)),
      "has other tools than you accepted",
      "have other tools than you accepted",
    ),
    ...(waiting.length === 0 ? [] : [`${waiting.length} of this project not allowed yet`]),
  ];
  return parts.length === 0 ? undefined : `MCP: ${parts.join("; ")} (/mcp)`;
}

function said(servers: readonly { readonly name: string }[], one: string, several: string): string[] {
  if (servers.length === 0) return [];
  const names = listSome(
    servers.map(({ name }) => visible(name)),
    SHOWN_NAMES,
  );
  return [`${names} ${servers.length === 1 ? one : several}`];
}
