import { timingSafeEqual } from "node:crypto";
import type { AuthorizationServer } from "oauth4webapi";
import type { OAuthSettings } from "../config/record.ts";
import { ASSUMED } from "./authorization-server.ts";
import { type Callback, listenForAnswer } from "./callback.ts";
import type { Identity } from "./client.ts";
import { AuthError, cleanCode, quoteWords } from "./error.ts";
import { DEFAULT_PORT, type Redirect, readPasted } from "./redirect.ts";

/** A person who has not answered by then has gone away. */
const FLOW_LIMIT_MS = 5 * 60_000;

/** Secrets of one sign-in. They are in memory alone, unless a sign-in is to be completed by another process. */
export interface FlowSecrets {
  readonly state: string;
  readonly codeVerifier: string;
}

/** An answer that has passed all checks. */
export interface AcceptedAnswer {
  readonly parameters: URLSearchParams;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/** Waits for the answer to one sign-in: from the browser, or pasted. The first right one counts; wrong ones change nothing. */
export interface Answers {
  readonly redirectUri: string;
  /** Why nobody listens, so that it has to be pasted; absent otherwise. */
  readonly notice?: string;
  readonly secrets: FlowSecrets;
  /** To be said before the first answer can be taken: whose answer it has to be. */
  expect(as: AuthorizationServer, identity: Identity): void;
  /** What becomes of the answer, which is what the browser shows. */
  tell(outcome: Promise<void>): void;
  /** Rejects with AuthError when it ended without an answer. */
  readonly accepted: Promise<AcceptedAnswer>;
  /** Throws AuthError for what is no answer to this sign-in; the sign-in goes on. */
  paste(text: string): Promise<void>;
  cancel(reason: string): void;
}

/** Opens the place where the answer is to arrive. Rejects with AuthError for a configuration that cannot work. */
export async function awaitAnswer(
  redirect: Redirect,
  settings: OAuthSettings,
  given?: FlowSecrets,
  listens = true,
): Promise<Answers> {
  const oauth = await import("oauth4webapi");
  const secrets = given ?? { state: oauth.generateRandomState(), codeVerifier: oauth.generateRandomCodeVerifier() };
  let whose: { as: AuthorizationServer; identity: Identity } | undefined;
  let callback: Callback | undefined;
  let notice: string | undefined;
  let settle: { resolve(answer: AcceptedAnswer): void; reject(error: AuthError): void } = {
    resolve: () => {},
    reject: () => {},
  };
  const accepted = new Promise<AcceptedAnswer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  accepted.catch(() => {});
  let finished: Promise<unknown> = accepted;
  let isOver = false;
  const limit = setTimeout(() => cancel("nobody signed in within 5 minutes"), FLOW_LIMIT_MS);
  if (!listens) limit.unref();

  function end(): void {
    isOver = true;
    clearTimeout(limit);
    callback?.close();
  }

  function cancel(reason: string): void {
    if (isOver) return;
    end();
    settle.reject(new AuthError("refused", reason));
  }

  /** Ends the sign-in for a right answer, also one that says no; throws for one that is not. */
  function accept(parameters: URLSearchParams): void {
    if (isOver || !whose) throw new AuthError("refused", "this sign-in is over; start it again");
    if (!isSame(parameters.get("state") ?? "", secrets.state)) {
      throw new AuthError("refused", "OAuth state mismatch - potential CSRF attack");
    }
    const { as, identity } = whose;
    const expected = settings.allowMissingIssuer
      ? { ...as, authorization_response_iss_parameter_supported: false }
      : as;
    const words = [parameters.get("error_description")].flat();
    try {
      const checked = oauth.validateAuthResponse(expected, identity.client, parameters, secrets.state);
      if (!checked.get("code")) throw new AuthError("refused", "the answer holds no code");
      end();
      settle.resolve({ parameters: checked, redirectUri, codeVerifier: secrets.codeVerifier });
    } catch (error) {
      end();
      const failure = answerError(error, parameters, words[0]);
      settle.reject(failure);
      throw failure;
    }
  }

  if (listens) {
    try {
      callback = await listenForAnswer(redirect, (parameters) => {
        try {
          accept(parameters);
          return finished.then(() => SIGNED_IN, notSignedIn);
        } catch (error) {
          // A stranger's answer leaves the sign-in open [E241].
          return isOver && error instanceof AuthError ? Promise.resolve(notSignedIn(error)) : undefined;
        }
      });
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      notice = error.message;
    }
  }
  // Where nobody listens the port only has to be one that a browser goes to.
  const redirectUri = redirect.uri(callback?.port ?? (redirect.port || DEFAULT_PORT));

  return {
    redirectUri,
    secrets,
    accepted,
    ...(notice !== undefined && { notice }),
    expect: (as, identity) => {
      whose = { as, identity };
    },
    tell: (outcome) => {
      finished = outcome;
    },
    async paste(text) {
      const { parameters, isCodeAlone } = readPasted(text);
      if (isCodeAlone) {
        if (whose?.as.authorization_response_iss_parameter_supported === true && !settings.allowMissingIssuer) {
          throw new AuthError(
            "refused",
            "a code alone is not enough here; paste the whole address the browser ended at",
          );
        }
        parameters.set("state", secrets.state);
      }
      accept(parameters);
    },
    cancel,
  };
}

const SIGNED_IN = { title: "Signed in", text: "You can close this window and go back to where you began." };

function notSignedIn(error: unknown): typeof SIGNED_IN {
  return {
    title: "Not signed in",
    text: error instanceof AuthError ? error.message : "What came of it could not be kept.",
  };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Of an answer with a wrong issuer not a word is repeated (RFC 9207 section 2.4). */
function answerError(error: unknown, parameters: URLSearchParams, description: string | null | undefined): AuthError {
  if (error instanceof AuthError) return error;
  const name = error instanceof Error ? error.name : "";
  if (name === "AuthorizationResponseError") {
    const code = cleanCode(parameters.get("error"));
    const words = quoteWords(description ?? "", [parameters.get("state") ?? undefined]);
    const why = [code ?? "an error", words].filter(Boolean).join(": ");
    return new AuthError("rejected", `the authorization server refused (${why})`, { ...(code && { code }) });
  }
  if (parameters.has("iss")) {
    return new AuthError("refused", "the answer comes from another authorization server than the one that was asked");
  }
  const text = "the answer does not say which authorization server it comes from, though this one says that it does";
  return new AuthError("refused", `${text} ("allowMissingIssuer" in "oauth" of the entry takes it all the same)`);
}

export interface AuthorizationRequest {
  readonly as: AuthorizationServer;
  readonly identity: Identity;
  readonly settings: OAuthSettings;
  readonly redirectUri: string;
  readonly secrets: FlowSecrets;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
}

/** The address a person opens. Rejects with AuthError where a stolen code could be used. */
export async function authorizationUrl(request: AuthorizationRequest): Promise<string> {
  const { as, identity, settings, redirectUri, secrets, scope, resource } = request;
  assertPkce(as, settings);
  if (as.authorization_endpoint === undefined) {
    throw new AuthError("refused", "its authorization server has no place where a person could sign in");
  }
  const oauth = await import("oauth4webapi");
  const url = new URL(as.authorization_endpoint);
  const own = {
    response_type: "code",
    client_id: identity.client.client_id,
    redirect_uri: redirectUri,
    state: secrets.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(secrets.codeVerifier),
    code_challenge_method: "S256",
    ...(scope !== undefined && { scope }),
    // A person who has signed in before is not asked for lasting access otherwise (OpenID Connect Core section 11).
    ...(scope?.split(" ").includes("offline_access") && { prompt: "consent" }),
    ...(resource !== undefined && { resource }),
  };
  for (const [name, value] of Object.entries(settings.authorizationParams ?? {})) {
    if (!(name in own) || name === "prompt") url.searchParams.set(name, value);
  }
  for (const [name, value] of Object.entries(own)) {
    if (name !== "prompt" || settings.authorizationParams?.prompt === undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/** 2025-11-25, authorization, authorization code protection. */
function assertPkce(as: AuthorizationServer, { allowMissingPkce }: OAuthSettings): void {
  const methods = as.code_challenge_methods_supported;
  if (methods?.includes("S256") || as[ASSUMED] === true) return;
  if (allowMissingPkce) return;
  const text =
    "its authorization server does not say that it protects the sign-in by PKCE with S256, so it is not used";
  throw new AuthError("refused", `${text} ("allowMissingPkce" in "oauth" of the entry does so all the same)`);
}
