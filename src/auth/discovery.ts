import type { AuthorizationServer } from "oauth4webapi";
import { authorizationServerAt, findAuthorizationServer, ownAuthorizationServer } from "./authorization-server.ts";
import type { Challenge } from "./challenge.ts";
import type { AuthHttp } from "./http.ts";
import { findResource, type Resource } from "./resource.ts";

/** Where to sign in to a server. */
export interface Discovered {
  readonly as: AuthorizationServer;
  /** Absent for servers of 2025-03-26, which have none. */
  readonly resource?: Resource | undefined;
}

export interface DiscoveryOptions {
  readonly server: URL;
  readonly challenge: Challenge;
  /** Address of metadata a person has named instead of what the server says. */
  readonly metadataUrl?: string | undefined;
  /** The issuer of what is stored: of several it is taken again. */
  readonly knownIssuer?: string | undefined;
}

/** Finds out where to sign in. Rejects with AuthError. */
export async function discover(http: AuthHttp, options: DiscoveryOptions): Promise<Discovered> {
  const { server, challenge, metadataUrl, knownIssuer } = options;
  const resource = await findResource(http, server, challenge);
  if (metadataUrl !== undefined) return { as: await authorizationServerAt(http, metadataUrl), resource };
  if (resource === undefined) return { as: await ownAuthorizationServer(http, server) };
  const listed = resource.authorizationServers;
  const issuer = listed.find((each) => each === knownIssuer) ?? listed[0];
  if (issuer === undefined) return { as: await ownAuthorizationServer(http, server), resource };
  return { as: await findAuthorizationServer(http, issuer), resource };
}
