import type { AuthorizationServer } from "oauth4webapi";
import { safeUrl } from "./address.ts";
import { AuthError } from "./error.ts";
import type { AuthHttp } from "./http.ts";
import { jsonObject } from "./json-object.ts";

/** Revision that servers without resource metadata are of; discovery names it (2025-03-26, authorization). */
const BEFORE_RESOURCE_METADATA = "2025-03-26";

/**
 * The metadata of the authorization server with that identifier (RFC 8414, OpenID Connect Discovery), in the order of
 * 2025-11-25, authorization server metadata discovery. It has to name the identifier itself, or it is somebody else's.
 * Rejects with AuthError.
 */
export async function findAuthorizationServer(http: AuthHttp, issuer: string): Promise<AuthorizationServer> {
  const base = safeUrl(issuer, "the authorization server it names", http.admits);
  const { found, trouble } = await firstOf(http, placesOf(base));
  if (found === undefined) {
    throw (
      trouble ?? new AuthError("refused", `its authorization server (${base.host}) has no metadata that can be read`)
    );
  }
  if (!isIssuer(found.issuer, issuer)) {
    const text = `the metadata of its authorization server (${base.host}) names another issuer, so it is not used`;
    throw new AuthError("refused", text);
  }
  return usable(found, String(found.issuer), http);
}

/** What a person has named as metadata is believed, whatever issuer it has. */
export async function authorizationServerAt(http: AuthHttp, url: string): Promise<AuthorizationServer> {
  const place = safeUrl(url, "`authServerMetadataUrl`", () => true);
  const { found, trouble } = await firstOf(http, [place]);
  if (found === undefined) throw trouble ?? new AuthError("refused", "there is no metadata at `authServerMetadataUrl`");
  return usable(found, typeof found.issuer === "string" ? found.issuer : place.origin, http);
}

/**
 * The authorization server of a server without resource metadata (2025-03-26): at the root of its own origin, with
 * metadata or at the usual places. Its issuer is not compared, because revisions of that time do not ask for it and
 * all its addresses come from the server itself.
 */
export async function ownAuthorizationServer(http: AuthHttp, server: URL): Promise<AuthorizationServer> {
  const { origin } = server;
  const headers = { "mcp-protocol-version": BEFORE_RESOURCE_METADATA };
  const { found, trouble } = await firstOf(http, placesOf(new URL(origin)), headers);
  if (found) return usable(found, typeof found.issuer === "string" ? found.issuer : origin, http);
  if (trouble) throw trouble;
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    // It is said nowhere; PKCE is required of all servers of that revision.
    code_challenge_methods_supported: ["S256"],
    [ASSUMED]: true,
  };
}

/** Mark of metadata nobody has written: the usual places of 2025-03-26. */
export const ASSUMED = "pi_mcp_assumed";

/** A path goes behind the well-known name; OpenID Connect also has it before. */
function placesOf(issuer: URL): URL[] {
  const path = issuer.pathname.replace(/\/+$/, "");
  const names =
    path === ""
      ? ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
      : [
          `/.well-known/oauth-authorization-server${path}`,
          `/.well-known/openid-configuration${path}`,
          `${path}/.well-known/openid-configuration`,
        ];
  return names.map((name) => new URL(name, issuer.origin));
}

interface Found {
  readonly found?: Readonly<Record<string, unknown>>;
  /** Why there may be metadata after all. */
  readonly trouble?: AuthError;
}

async function firstOf(http: AuthHttp, places: readonly URL[], headers: Record<string, string> = {}): Promise<Found> {
  let trouble: AuthError | undefined;
  for (const place of places) {
    try {
      const response = await http.request(place, "its authorization server", { method: "GET", headers });
      const found = response.status === 200 ? jsonObject(response.text) : undefined;
      if (found && ("issuer" in found || "token_endpoint" in found)) return { found };
      if (response.status >= 500 || response.status === 429) {
        trouble ??= new AuthError("transient", `its authorization server answered HTTP ${response.status}`);
      }
    } catch (error) {
      if (!(error instanceof AuthError) || error.failure !== "transient") throw error;
      trouble ??= error;
    }
  }
  return trouble ? { trouble } : {};
}

/** To the letter, but for the one slash that programs put behind an origin. */
function isIssuer(named: unknown, expected: string): boolean {
  if (named === expected) return true;
  if (typeof named !== "string" || !URL.canParse(named) || new URL(named).pathname !== "/") return false;
  return named.replace(/\/$/, "") === expected.replace(/\/$/, "");
}

const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] as const;

/** Every address in it is one that may be used, or the whole is not used. */
function usable(found: Readonly<Record<string, unknown>>, issuer: string, http: AuthHttp): AuthorizationServer {
  for (const name of ENDPOINTS) {
    if (found[name] !== undefined) safeUrl(found[name], `the \`${name}\` of its authorization server`, http.admits);
  }
  return { ...found, issuer } as AuthorizationServer;
}
