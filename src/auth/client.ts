import { readFileSync } from "node:fs";
import type { AuthorizationServer, Client, ClientAuth, CryptoKey } from "oauth4webapi";
import type { OAuthSettings } from "../config/record.ts";
import { AuthError, cleanCode, quoteWords } from "./error.ts";
import type { AuthHttp } from "./http.ts";
import { jsonObject } from "./json-object.ts";
import { covers } from "./scope.ts";
import type { StoredClient } from "./store.ts";

type OAuth = typeof import("oauth4webapi");

/** Who we are for an authorization server, and how that is shown at its token endpoint. */
export interface Identity {
  readonly client: Client;
  readonly auth: ClientAuth;
  /** Its name, and whether it was written in a configuration or registration, or is a guess that may be wrong. */
  readonly method: string;
  readonly isGuess: boolean;
  /** What is never to be shown. */
  readonly secrets: readonly string[];
  /** To be stored, where it was registered. */
  readonly registered?: StoredClient;
}

export interface IdentityOptions {
  readonly settings: OAuthSettings;
  readonly as: AuthorizationServer;
  /** What is stored of an earlier registration. */
  readonly stored: StoredClient | undefined;
  /** Of a new sign-in. */
  readonly redirectUri?: string | undefined;
  readonly scope?: string | undefined;
}

const DEFAULT_NAME = "pi-mcp";

/** The identity there is without asking anybody: configured, of a metadata document, or registered before. */
export async function knownIdentity(options: IdentityOptions): Promise<Identity | undefined> {
  const { settings, as, stored } = options;
  if (settings.clientId !== undefined) {
    return identity(as, settings, { clientId: settings.clientId, clientSecret: settings.clientSecret });
  }
  if (settings.clientMetadataUrl !== undefined && as.client_id_metadata_document_supported === true) {
    return identity(as, settings, { clientId: settings.clientMetadataUrl, tokenEndpointAuthMethod: "none" });
  }
  if (stored === undefined || !isUsable(stored, options)) return undefined;
  return identity(as, settings, stored);
}

/**
 * A stored registration counts for the authorization server that gave it and no other (2026-07-28, authorization). One of
 * which that is not known counts for a refresh at the place its tokens come from, and not for a new sign-in. Some let a
 * client ask for no scope it was not registered with.
 */
function isUsable(stored: StoredClient, { as, redirectUri, scope }: IdentityOptions): boolean {
  if (stored.issuer === undefined ? redirectUri !== undefined : stored.issuer !== as.issuer) return false;
  const { clientSecretExpiresAt: end, redirectUris } = stored;
  if (end !== undefined && end > 0 && end <= Date.now() / 1000) return false;
  if (stored.scope !== undefined && !covers(stored.scope, scope)) return false;
  return redirectUri === undefined || redirectUris?.includes(redirectUri) === true;
}

/** Registers a client (RFC 7591). Only for a sign-in a person has asked for [E121]. Rejects with AuthError. */
export async function register(
  http: AuthHttp,
  as: AuthorizationServer,
  settings: OAuthSettings,
  redirectUri: string,
  scope: string | undefined,
): Promise<Identity> {
  if (as.registration_endpoint === undefined) throw new AuthError("refused", NO_WAY_TO_REGISTER);
  const supported = as.token_endpoint_auth_methods_supported;
  const method = ["none", "client_secret_post", "client_secret_basic"].find(
    (each) => supported?.includes(each) ?? true,
  );
  const metadata = {
    client_name: settings.clientName ?? DEFAULT_NAME,
    ...(settings.clientUri !== undefined && { client_uri: settings.clientUri }),
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "native",
    token_endpoint_auth_method: method ?? "none",
    ...(scope !== undefined && { scope }),
  };
  const response = await http.request(
    new URL(as.registration_endpoint),
    "the registration of its authorization server",
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(metadata),
    },
  );
  const answer = jsonObject(response.text);
  if (response.status >= 500 || response.status === 429) {
    throw new AuthError(
      "transient",
      `its authorization server could not register this client (HTTP ${response.status})`,
    );
  }
  if (![200, 201].includes(response.status) || typeof answer?.client_id !== "string") {
    const code = cleanCode(answer?.error);
    const words = quoteWords(answer?.error_description);
    const why = [code ?? `HTTP ${response.status}`, words].filter(Boolean).join(": ");
    const text = `its authorization server does not register this client (${why}). ${SET_A_CLIENT}`;
    throw new AuthError("rejected", text, { ...(code !== undefined && { code }) });
  }
  const registered: StoredClient = {
    clientId: answer.client_id,
    ...(typeof answer.client_secret === "string" && { clientSecret: answer.client_secret }),
    ...(typeof answer.client_id_issued_at === "number" && { clientIdIssuedAt: answer.client_id_issued_at }),
    ...(typeof answer.client_secret_expires_at === "number" && {
      clientSecretExpiresAt: answer.client_secret_expires_at,
    }),
    redirectUris: [redirectUri],
    issuer: as.issuer,
    ...(scope !== undefined && { scope }),
    ...(typeof answer.token_endpoint_auth_method === "string" && {
      tokenEndpointAuthMethod: answer.token_endpoint_auth_method,
    }),
  };
  return { ...(await identity(as, settings, registered)), registered };
}

const SET_A_CLIENT =
  'Register one by hand where the server says how, and set "clientId" (and "clientSecret") in "oauth" of its entry';
const NO_WAY_TO_REGISTER = `its authorization server registers no clients. ${SET_A_CLIENT}`;

async function identity(
  as: AuthorizationServer,
  settings: OAuthSettings,
  of: Pick<StoredClient, "clientId" | "clientSecret" | "tokenEndpointAuthMethod">,
): Promise<Identity> {
  const oauth = await import("oauth4webapi");
  const { clientId, clientSecret } = of;
  const named = settings.tokenEndpointAuthMethod ?? of.tokenEndpointAuthMethod;
  const method = named ?? guessMethod(as, settings, clientSecret, settings.clientId !== undefined);
  return {
    client: { client_id: clientId },
    auth: await clientAuth(oauth, method, settings, clientSecret, as),
    method,
    isGuess: named === undefined && clientSecret !== undefined && settings.privateKey === undefined,
    secrets: clientSecret === undefined ? [] : [clientSecret],
  };
}

/** A secret a registration gave without saying how to show it goes into the body [E109]; else what is supported. */
function guessMethod(
  as: AuthorizationServer,
  settings: OAuthSettings,
  secret: string | undefined,
  isConfigured: boolean,
): string {
  if (settings.privateKey !== undefined) return "private_key_jwt";
  if (secret === undefined) return "none";
  const supported = as.token_endpoint_auth_methods_supported;
  const order = isConfigured
    ? ["client_secret_basic", "client_secret_post"]
    : ["client_secret_post", "client_secret_basic"];
  return order.find((each) => supported?.includes(each) ?? true) ?? (order[0] as string);
}

/** The same client with the other way of showing its secret, for authorization servers that say one and take the other. */
export async function otherMethod(identityOf: Identity, secret: string | undefined): Promise<Identity | undefined> {
  if (!identityOf.isGuess || secret === undefined) return undefined;
  const oauth = await import("oauth4webapi");
  const method = identityOf.method === "client_secret_post" ? "client_secret_basic" : "client_secret_post";
  const auth = method === "client_secret_post" ? oauth.ClientSecretPost(secret) : secretBasic(secret);
  return { ...identityOf, method, auth, isGuess: false };
}

async function clientAuth(
  oauth: OAuth,
  method: string,
  settings: OAuthSettings,
  secret: string | undefined,
  as: AuthorizationServer,
): Promise<ClientAuth> {
  switch (method) {
    case "none":
      return oauth.None();
    case "client_secret_post":
      return oauth.ClientSecretPost(needed(secret, "clientSecret"));
    case "client_secret_basic":
      return secretBasic(needed(secret, "clientSecret"));
    case "private_key_jwt":
      return oauth.PrivateKeyJwt(await privateKey(settings, as));
    default:
      throw new AuthError(
        "refused",
        "its authorization server wants a client to be shown in a way that is not known here",
      );
  }
}

/**
 * RFC 6749 section 2.3.1: each part in the encoding of forms before they are joined [E110]. What that encoding leaves as it is
 * stays as it is, because there are authorization servers that decode nothing.
 */
function secretBasic(secret: string): ClientAuth {
  const encode = (part: string) => new URLSearchParams([["", part]]).toString().slice(1);
  return (_as, { client_id: id }, _body, headers) => {
    const pair = `${encode(id)}:${encode(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  };
}

function needed(value: string | undefined, field: string): string {
  if (value !== undefined && value !== "") return value;
  throw new AuthError("refused", `"oauth" of its entry needs "${field}" for that`);
}

/** How each algorithm is named for WebCrypto. */
const ALGORITHMS: Readonly<Record<string, { name: string; namedCurve?: string; hash?: string }>> = {
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384" },
  ES512: { name: "ECDSA", namedCurve: "P-521" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  RS384: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" },
  RS512: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" },
  PS256: { name: "RSA-PSS", hash: "SHA-256" },
  PS384: { name: "RSA-PSS", hash: "SHA-384" },
  PS512: { name: "RSA-PSS", hash: "SHA-512" },
  EdDSA: { name: "Ed25519" },
};

async function privateKey(settings: OAuthSettings, as: AuthorizationServer): Promise<CryptoKey> {
  const written = needed(settings.privateKey, "privateKey");
  const listed = as.token_endpoint_auth_signing_alg_values_supported?.find((each) => Object.hasOwn(ALGORITHMS, each));
  const algorithm = ALGORITHMS[settings.signingAlgorithm ?? listed ?? "ES256"];
  if (algorithm === undefined)
    throw new AuthError("refused", '"signingAlgorithm" in "oauth" of its entry is not known');
  try {
    const pem = written.includes("-----BEGIN") ? written : readFileSync(written, "utf8");
    const bytes = Buffer.from(pem.replace(/-----[^-]+-----|\\n|\s/g, ""), "base64");
    return await crypto.subtle.importKey("pkcs8", bytes, algorithm as never, false, ["sign"]);
  } catch {
    // What the runtime says may quote it.
    throw new AuthError("refused", '"privateKey" in "oauth" of its entry is no private key in PEM form (PKCS #8)');
  }
}
