import { safeUrl } from "./address.ts";
import type { Challenge } from "./challenge.ts";
import { AuthError } from "./error.ts";
import type { AuthHttp } from "./http.ts";
import { jsonObject } from "./json-object.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** What a server says of itself as a protected resource (RFC 9728). */
export interface Resource {
  /** Its identifier to the letter: authorization servers compare it byte for byte [E097]. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: unknown;
  /** `dpop_bound_access_tokens_required`. */
  readonly wantsDpop: boolean;
}

/**
 * The server's metadata: at the address of its challenge, else at the well-known place of its path, else at that of its
 * origin (2025-11-25, authorization, protected resource metadata discovery) [E092]. Undefined when there is none, as before
 * 2025-06-18. Rejects with AuthError `refused` when it is another server's, and `transient` when that cannot be told now.
 */
export async function findResource(
  http: AuthHttp,
  server: URL,
  challenge: Challenge,
  version?: string,
): Promise<Resource | undefined> {
  let trouble: AuthError | undefined;
  for (const url of placesOf(http, server, challenge)) {
    try {
      const headers = version === undefined ? {} : { "mcp-protocol-version": version };
      const response = await http.request(url, "the metadata of the server", { method: "GET", headers });
      if (response.status >= 500 || response.status === 429) {
        trouble ??= new AuthError(
          "transient",
          `the metadata of the server could not be read (HTTP ${response.status})`,
        );
      }
      const found = response.status === 200 ? jsonObject(response.text) : undefined;
      if (typeof found?.resource !== "string") continue;
      if (!isOf(found.resource, server)) {
        throw new AuthError("refused", "its metadata is that of another resource, so it is not signed in to");
      }
      const listed = Array.isArray(found.authorization_servers) ? found.authorization_servers : [];
      return {
        resource: found.resource,
        authorizationServers: listed.filter((each) => typeof each === "string"),
        scopesSupported: found.scopes_supported,
        wantsDpop: found.dpop_bound_access_tokens_required === true,
      };
    } catch (error) {
      if (!(error instanceof AuthError) || error.failure !== "transient") throw error;
      trouble ??= error;
    }
  }
  if (trouble) throw trouble;
  return undefined;
}

function placesOf(http: AuthHttp, server: URL, { resourceMetadata }: Challenge): URL[] {
  const named =
    resourceMetadata === undefined ? [] : [safeUrl(resourceMetadata, "the metadata its challenge names", http.admits)];
  const path = server.pathname.replace(/\/+$/, "");
  const wellKnown = [...(path === "" ? [] : [`${WELL_KNOWN}${path}`]), WELL_KNOWN].map(
    (place) => new URL(place, server),
  );
  return [...named, ...wellKnown.filter(({ href }) => href !== named[0]?.href)];
}

/** The same address, or one of the same origin above it, at the edge of a part of the path [E098]. */
function isOf(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  if (origin !== server.origin) return false;
  const above = pathname.replace(/\/+$/, "");
  return above === "" || server.pathname === above || server.pathname.startsWith(`${above}/`);
}
