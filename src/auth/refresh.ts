import { createHash } from "node:crypto";
import type { AuthorizationServer } from "oauth4webapi";
import type { OAuthSettings } from "../config/record.ts";
import { admissionOf, safeUrl } from "./address.ts";
import type { Challenge } from "./challenge.ts";
import { knownIdentity } from "./client.ts";
import { discover } from "./discovery.ts";
import type { Dpop } from "./dpop.ts";
import { type AuthHttp, openAuthHttp } from "./http.ts";
import type { SignInContext } from "./sign-in.ts";
import type { Credentials, Turn } from "./store.ts";
import { refresh, revoke } from "./token-endpoint.ts";

/** For telling an authorization server that somebody has signed out. */
const REVOCATION_LIMIT_MS = 5_000;

/**
 * New tokens by the stored refresh token; false when there is no way, or a sign-out came first. To be run alone; `turn` gets
 * the mark of the token before it is sent. Rejects with AuthError.
 */
export async function refreshStored(
  context: SignInContext,
  now: Credentials | undefined,
  challenge: Challenge,
  turn: Turn,
  dpopOf: (stored: Credentials) => Dpop,
): Promise<boolean> {
  const refreshToken = now?.tokens?.refreshToken;
  if (!now || refreshToken === undefined) return false;
  return withHttp(context, async (http) => {
    const { as, resource } = await placeOf(context, http, now, challenge);
    const settings = withMethod(context.settings, now);
    const identity = await knownIdentity({ settings, as, stored: now.clientInfo });
    if (!identity) return false;
    const dpop = now.tokens?.tokenType === "DPoP" ? dpopOf(now) : undefined;
    const clientSecret = settings.clientSecret ?? now.clientInfo?.clientSecret;
    turn.note(markOf(refreshToken));
    const answer = await refresh({ http, as, identity, clientSecret, resource, dpop }, refreshToken);
    await context.store.update((latest) => {
      // A sign-out or a new sign-in meanwhile is the last word [E274].
      if (latest?.tokens?.refreshToken !== refreshToken) return latest;
      const { expiresAt: _, tokenType: __, ...kept } = latest.tokens;
      const tokens = { ...kept, ...answer.tokens };
      return { ...latest, tokens, ...(identity.isGuess && { tokenEndpointAuthMethod: answer.method }) };
    });
    return (await context.store.read())?.tokens !== undefined;
  });
}

/**
 * Whether a process was killed after it had sent the refresh token that is stored. Where such a token is good only once, the
 * answer to that one is lost, and nobody has a token that is still good; it is sent again all the same, as most are lenient.
 */
export function wasCutOff({ inherited }: Turn, now: Credentials | undefined): boolean {
  const refreshToken = now?.tokens?.refreshToken;
  return refreshToken !== undefined && inherited.includes(markOf(refreshToken));
}

/** A token by which nobody can sign in. */
function markOf(refreshToken: string): string {
  return createHash("sha256").update(refreshToken, "utf8").digest("hex");
}

/** Tells the authorization server that the tokens are of no more use. It need not be there: never rejects. */
export async function revokeStored(context: SignInContext, { tokens, ...stored }: Credentials): Promise<void> {
  const as = stored.authorizationServer as AuthorizationServer | undefined;
  if (typeof as?.revocation_endpoint !== "string" || !tokens) return;
  const work = withHttp(context, async (http) => {
    const settings = withMethod(context.settings, stored);
    const identity = await knownIdentity({ settings, as, stored: stored.clientInfo });
    if (!identity) return;
    const place = { http, as, identity };
    if (tokens.refreshToken) await revoke(place, tokens.refreshToken, "refresh_token");
    else await revoke(place, tokens.accessToken, "access_token");
  }).catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, REVOCATION_LIMIT_MS);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** As it was at the sign-in; looked for once more where another program has stored the tokens. */
async function placeOf(
  { url, settings }: SignInContext,
  http: AuthHttp,
  now: Credentials,
  challenge: Challenge,
): Promise<{ as: AuthorizationServer; resource?: string | undefined }> {
  const stored = now.authorizationServer;
  if (stored && typeof stored.issuer === "string" && typeof stored.token_endpoint === "string") {
    safeUrl(stored.token_endpoint, "the `token_endpoint` of its authorization server", http.admits);
    return { as: stored as AuthorizationServer, resource: now.resource };
  }
  const metadataUrl = settings.authServerMetadataUrl;
  const { as, resource } = await discover(http, { server: new URL(url), challenge, metadataUrl });
  return { as, resource: resource?.resource };
}

/** What is known to work is used again. */
function withMethod(settings: OAuthSettings, { tokenEndpointAuthMethod: known }: Credentials): OAuthSettings {
  if (settings.tokenEndpointAuthMethod !== undefined || typeof known !== "string") return settings;
  return { ...settings, tokenEndpointAuthMethod: known };
}

async function withHttp<T>({ env, ca, url }: SignInContext, work: (http: AuthHttp) => Promise<T>): Promise<T> {
  const http = await openAuthHttp({ env, ca, admits: await admissionOf(new URL(url)) });
  try {
    return await work(http);
  } finally {
    await http.close();
  }
}
