import type { AuthorizationServer, TokenEndpointRequestOptions, TokenEndpointResponse } from "oauth4webapi";
import { type Identity, otherMethod } from "./client.ts";
import type { Dpop } from "./dpop.ts";
import { AuthError, cleanCode, quoteWords } from "./error.ts";
import type { AuthHttp, AuthResponse } from "./http.ts";
import { jsonObject } from "./json-object.ts";
import type { StoredTokens } from "./store.ts";

/** What an authorization server says about its own state and not about us. */
const PASSING = new Set(["server_error", "temporarily_unavailable", "slow_down"]);

export interface TokenPlace {
  readonly http: AuthHttp;
  readonly as: AuthorizationServer;
  readonly identity: Identity;
  /** Its secret, for a second try in another way. */
  readonly clientSecret?: string | undefined;
  readonly resource?: string | undefined;
  readonly dpop?: Dpop | undefined;
}

export interface TokenAnswer {
  readonly tokens: StoredTokens;
  /** How the client was shown in the end. */
  readonly method: string;
}

/** RFC 6749 section 4.1.3. `parameters` must have passed `validateAuthResponse`. */
export function exchangeCode(
  place: TokenPlace,
  parameters: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<TokenAnswer> {
  return ask(place, [parameters.get("code") ?? "", verifier], async (oauth, { as, client, auth }, options) =>
    oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, redirectUri, verifier, options),
    ),
  );
}

/** RFC 6749 section 6. An answer without a new refresh token leaves the old one in use [E280]. */
export async function refresh(place: TokenPlace, refreshToken: string): Promise<TokenAnswer> {
  const answer = await ask(place, [refreshToken], async (oauth, { as, client, auth }, options) =>
    oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, auth, refreshToken, options),
    ),
  );
  return { ...answer, tokens: { ...answer.tokens, refreshToken: answer.tokens.refreshToken ?? refreshToken } };
}

/** A grant that needs no person: `client_credentials`, RFC 7523, RFC 8693. */
export function otherGrant(
  place: TokenPlace,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const { assertion, subject_token: subjectToken } = parameters;
  // Of this request the library takes no additional parameters.
  const all = { ...parameters, ...(place.resource !== undefined && { resource: place.resource }) };
  return ask(place, [assertion, subjectToken], async (oauth, { as, client, auth }, options) =>
    oauth.processGenericTokenEndpointResponse(
      as,
      client,
      await oauth.genericTokenEndpointRequest(as, client, auth, grantType, all, options),
      { recognizedTokenTypes: { n_a: () => {} } },
    ),
  );
}

/** RFC 7009, a courtesy: an authorization server that is not there keeps nobody signed in here. */
export async function revoke(place: TokenPlace, token: string, kind: "refresh_token" | "access_token"): Promise<void> {
  const { as, identity, http } = place;
  if (as.revocation_endpoint === undefined) return;
  const oauth = await import("oauth4webapi");
  await oauth.revocationRequest(as, identity.client, identity.auth, token, {
    [oauth.customFetch]: (url, init) => send(http, new URL(url), init, undefined),
    [oauth.allowInsecureRequests]: true,
    additionalParameters: { token_type_hint: kind },
  });
}

type OAuth = typeof import("oauth4webapi");
type Request = (
  oauth: OAuth,
  who: { as: AuthorizationServer; client: Identity["client"]; auth: Identity["auth"] },
  options: TokenEndpointRequestOptions,
) => Promise<TokenEndpointResponse>;

async function ask(
  place: TokenPlace,
  secrets: readonly (string | undefined)[],
  request: Request,
): Promise<TokenAnswer> {
  try {
    return await askOnce(place, secrets, request);
  } catch (error) {
    // Some say in their metadata how to show a client, and then take it only the other way [E109].
    const isUnknown = error instanceof AuthError && error.code === "invalid_client";
    const identity = isUnknown ? await otherMethod(place.identity, place.clientSecret) : undefined;
    if (identity === undefined) throw error;
    return askOnce({ ...place, identity }, secrets, request);
  }
}

async function askOnce(
  place: TokenPlace,
  secrets: readonly (string | undefined)[],
  request: Request,
): Promise<TokenAnswer> {
  const oauth = await import("oauth4webapi");
  const { http, as, identity, resource, dpop } = place;
  const hidden = [...secrets, ...identity.secrets];
  let failure: AuthError | undefined;
  const options: TokenEndpointRequestOptions = {
    ...(resource !== undefined && { additionalParameters: { resource } }),
    // Addresses are judged by our own rules, which are stricter.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (url, init) => {
      try {
        return await send(http, new URL(url), init, dpop, hidden);
      } catch (error) {
        if (error instanceof AuthError) failure = error;
        throw error;
      }
    },
  };
  try {
    const body = await request(oauth, { as, client: identity.client, auth: identity.auth }, options);
    return { tokens: tokensOf(body), method: identity.method };
  } catch (error) {
    if (failure) throw failure;
    if (error instanceof AuthError) throw error;
    throw new AuthError("transient", "its authorization server gave an answer that is no token", { cause: error });
  }
}

interface Init {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams | undefined;
}

/** Sends a request of the library and mends the answers that are known to be odd. Rejects with AuthError for all errors. */
async function send(
  http: AuthHttp,
  url: URL,
  { headers, body }: Init,
  dpop: Dpop | undefined,
  secrets: readonly (string | undefined)[] = [],
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await http.request(url, "its authorization server", {
      method: "POST",
      headers: { ...headers, accept: "application/json", ...(dpop && { dpop: dpop.proof("POST", url) }) },
      body: String(body ?? ""),
    });
    const answer = bodyOf(response);
    const isNew = dpop?.takeNonce(url, response.header("dpop-nonce")) ?? false;
    if (isNew && answer?.error === "use_dpop_nonce" && attempt === 1) continue;
    const failure = failureOf(response, answer, secrets);
    if (failure) throw failure;
    // Of an answer we use the tokens alone; a signature over who signed in would have to be checked.
    const { id_token: _, ...rest } = answer ?? {};
    return Response.json(mended(rest), { status: 200 });
  }
}

/** JSON, or a form, which some send whatever is asked for [E112]. */
function bodyOf({ text, type }: AuthResponse): Readonly<Record<string, unknown>> | undefined {
  const json = jsonObject(text);
  if (json) return json;
  const isForm = type === "application/x-www-form-urlencoded" || (type === "text/plain" && /^[\w.-]+=/.test(text));
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}

function failureOf(
  { status }: AuthResponse,
  answer: Readonly<Record<string, unknown>> | undefined,
  secrets: readonly (string | undefined)[],
): AuthError | undefined {
  const code = cleanCode(answer?.error);
  // Some send errors with status 200 [E113].
  if (status === 200 && answer !== undefined && answer.error === undefined && answer.ok !== false) return undefined;
  if (status >= 500 || status === 429 || status === 408 || (code !== undefined && PASSING.has(code))) {
    return new AuthError("transient", `its authorization server answered ${code ?? `HTTP ${status}`}`);
  }
  if (code === undefined && (answer === undefined || answer.ok === undefined)) {
    // A page of a proxy, a portal, a firewall.
    return new AuthError("transient", `its authorization server answered HTTP ${status} and nothing that is known`);
  }
  const words = quoteWords(answer?.error_description, secrets);
  const why = [code ?? "an error", words].filter(Boolean).join(": ");
  return new AuthError("rejected", `its authorization server refused (${why})`, {
    ...(code !== undefined && { code }),
  });
}

/** Numbers as text, and types that are left out, cost nobody the sign-in. */
function mended(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { expires_in: expires, token_type: type, refresh_token: refreshToken, scope, ...rest } = body;
  const seconds = Number(expires);
  return {
    ...rest,
    token_type: typeof type === "string" && type !== "" ? type : "bearer",
    ...(expires !== undefined &&
      expires !== null &&
      Number.isFinite(seconds) &&
      seconds > 0 && { expires_in: seconds }),
    ...(typeof refreshToken === "string" && refreshToken !== "" && { refresh_token: refreshToken }),
    ...(typeof scope === "string" && { scope }),
  };
}

function tokensOf(body: TokenEndpointResponse): StoredTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = body;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresIn !== undefined && { expiresAt: Math.floor(Date.now() / 1000 + expiresIn) }),
    ...(scope !== undefined && { scope }),
    ...(body.token_type.toLowerCase() === "dpop" && { tokenType: "DPoP" }),
  };
}
