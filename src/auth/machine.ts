import { readFileSync } from "node:fs";
import type { OAuthSettings } from "../config/record.ts";
import { admissionOf, safeUrl } from "./address.ts";
import type { Challenge } from "./challenge.ts";
import { knownIdentity } from "./client.ts";
import { discover } from "./discovery.ts";
import { createDpop } from "./dpop.ts";
import { AuthError } from "./error.ts";
import { type AuthHttp, openAuthHttp } from "./http.ts";
import { chooseScope } from "./scope.ts";
import { essenceOf, type SignInContext } from "./sign-in.ts";
import { otherGrant } from "./token-endpoint.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** Whether tokens are had without a person. */
export function isMachineGrant({ grantType }: OAuthSettings): boolean {
  return grantType !== undefined && grantType !== "authorization_code";
}

/**
 * Gets tokens by the configured grant and stores them. It is tried once: what was rejected is rejected, and no other grant
 * takes its place (SEP-1933). Rejects with AuthError.
 */
export async function obtainByMachine(context: SignInContext, challenge: Challenge): Promise<boolean> {
  const { settings, store, url, env, ca } = context;
  const server = new URL(url);
  const http = await openAuthHttp({ env, ca, admits: await admissionOf(server) });
  try {
    const { as, resource: found } = await discover(http, {
      server,
      challenge,
      metadataUrl: settings.authServerMetadataUrl,
    });
    const identity = await knownIdentity({ settings, as, stored: undefined });
    if (!identity) throw new AuthError("refused", '"oauth" of its entry needs "clientId" for this "grantType"');
    const stored = await store.readForNew();
    const scope = chooseScope({
      configured: settings.scope,
      challenged: [challenge.scope, stored?.challengedScope].filter(Boolean).join(" "),
      supportedByResource: found?.scopesSupported,
      before: stored?.challengedScope === undefined ? undefined : stored.requestedScope,
      wantsRefresh: false,
    });
    const resource = found?.resource;
    const wantsDpop = settings.dpop ?? (challenge.onlyDpop === true || found?.wantsDpop === true);
    const dpop = wantsDpop ? createDpop(stored?.dpopKey) : undefined;
    const { clientSecret } = settings;
    const place = { http, as, identity, clientSecret, resource, dpop };
    const [grantType, parameters] = await grantOf(http, settings, as.issuer, resource ?? url);
    const scoped = { ...parameters, ...(scope !== undefined && { scope }) };
    const { tokens, method } = await otherGrant(place, grantType, scoped);
    await store.update((now) => {
      const { challengedScope: _, tokens: __, ...rest } = now ?? { serverUrl: url };
      return {
        ...rest,
        serverUrl: url,
        tokens: { ...tokens, ...(tokens.scope === undefined && scope !== undefined && { scope }) },
        authorizationServer: essenceOf(as),
        resource,
        requestedScope: scope,
        ...(dpop && { dpopKey: dpop.key }),
        ...(identity.isGuess && { tokenEndpointAuthMethod: method }),
      };
    });
    return true;
  } finally {
    await http.close();
  }
}

async function grantOf(
  http: AuthHttp,
  settings: OAuthSettings,
  issuer: string,
  resource: string,
): Promise<[grantType: string, parameters: Record<string, string>]> {
  switch (settings.grantType) {
    case "jwt-bearer":
      return [JWT_BEARER, { assertion: assertionOf(settings) }];
    case "id-jag":
      return [JWT_BEARER, { assertion: await exchangeIdToken(http, settings, issuer, resource) }];
    default:
      return ["client_credentials", {}];
  }
}

/** Platforms renew the file; what was read last time may be over. */
function assertionOf({ assertion, assertionFile }: OAuthSettings): string {
  if (assertion !== undefined) return assertion;
  if (assertionFile === undefined) {
    throw new AuthError("refused", '"oauth" of its entry needs "assertion" or "assertionFile" for this "grantType"');
  }
  try {
    return readFileSync(assertionFile, "utf8").trim();
  } catch {
    throw new AuthError("transient", '"assertionFile" in "oauth" of its entry could not be read');
  }
}

/** The person's token of the organisation for one that this authorization server takes (RFC 8693, ID-JAG). */
async function exchangeIdToken(
  http: AuthHttp,
  settings: OAuthSettings,
  audience: string,
  resource: string,
): Promise<string> {
  const { idpTokenEndpoint, idpClientId, idpClientSecret, idpIdToken } = settings;
  if (!idpTokenEndpoint || !idpClientId || !idpIdToken) {
    const text = '"oauth" of its entry needs "idpTokenEndpoint", "idpClientId" and "idpIdToken" for this "grantType"';
    throw new AuthError("refused", text);
  }
  // Configured by the person, like the address of the server.
  safeUrl(idpTokenEndpoint, '"idpTokenEndpoint"', () => true);
  const as = { issuer: new URL(idpTokenEndpoint).origin, token_endpoint: idpTokenEndpoint };
  const own: OAuthSettings = {
    clientId: idpClientId,
    ...(idpClientSecret !== undefined && { clientSecret: idpClientSecret }),
  };
  const identity = await knownIdentity({ settings: own, as, stored: undefined });
  if (!identity) throw new AuthError("refused", 'the client of "idpClientId" cannot be used');
  const parameters = {
    subject_token: idpIdToken,
    subject_token_type: ID_TOKEN,
    requested_token_type: ID_JAG,
    audience,
    resource,
    ...(settings.scope !== undefined && { scope: settings.scope }),
  };
  const { tokens } = await otherGrant(
    { http, as, identity, clientSecret: idpClientSecret },
    TOKEN_EXCHANGE,
    parameters,
  );
  return tokens.accessToken;
}
