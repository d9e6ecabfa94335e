import type { McpSession } from "../session/session.ts";

/** Whether a server is known to have resources a model may read, so that there are tools for it. */
export function offersResources(session: McpSession, server: string): boolean {
  const known = session.knownOffers(server)?.offers.includes("resources") ?? false;
  return known && !session.config(server).hidesResources;
}
