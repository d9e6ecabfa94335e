import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AuthorizationServer } from "oauth4webapi";
import type { OAuthSettings } from "../config/record.ts";
import { admissionOf } from "./address.ts";
import { ASSUMED } from "./authorization-server.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import { type Identity, knownIdentity, register } from "./client.ts";
import { type Discovered, discover } from "./discovery.ts";
import { createDpop } from "./dpop.ts";
import { AuthError } from "./error.ts";
import { type AcceptedAnswer, authorizationUrl, awaitAnswer, type FlowSecrets } from "./flow.ts";
import { type AuthHttp, openAuthHttp } from "./http.ts";
import { readPasted, redirectOf } from "./redirect.ts";
import { chooseScope } from "./scope.ts";
import type { Store, StoredClient } from "./store.ts";
import { exchangeCode } from "./token-endpoint.ts";

/** After that nobody comes back with a code any more, and it would be over anyway. */
const PENDING_LIMIT_MS = 10 * 60_000;

export interface SignInContext {
  readonly url: string;
  readonly settings: OAuthSettings;
  readonly headers: Readonly<Record<string, string>>;
  readonly ca?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly store: Store;
}

/** A sign-in that waits for a person. */
export interface SignIn {
  /** To be opened in a browser. */
  readonly url: string;
  readonly redirectUri: string;
  /** Why the answer has to be pasted. */
  readonly notice?: string;
  /** Settles when it is over; rejects with AuthError. */
  readonly done: Promise<void>;
  /** What a person has pasted. Rejects with AuthError; what is merely no answer leaves it open. */
  complete(pasted: string): Promise<void>;
  cancel(reason: string): void;
}

/** All that is needed to turn an answer into stored tokens, later or in another process. */
interface Prepared {
  readonly as: AuthorizationServer;
  readonly client: StoredClient;
  readonly isRegistered: boolean;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  readonly usesDpop: boolean;
}

/**
 * Starts a sign-in. Nothing that is stored changes before it has succeeded, so one that is given up costs nothing. With
 * `listens: false` it can be completed by another process. Rejects with AuthError.
 */
export async function beginSignIn(
  context: SignInContext,
  { listens = true, challenge: known }: { listens?: boolean; challenge?: Challenge | undefined },
): Promise<SignIn> {
  const { settings, store, env } = context;
  await store.probe();
  const http = await open(context);
  try {
    const challenge = known ?? (await askServer(http, context));
    const stored = await store.readForNew();
    const knownIssuer = stored?.clientInfo?.issuer;
    const metadataUrl = settings.authServerMetadataUrl;
    const found = await discover(http, { server: new URL(context.url), challenge, metadataUrl, knownIssuer });
    const earlier = knownIssuer === found.as.issuer ? stored?.clientInfo?.redirectUris : undefined;
    const answers = await awaitAnswer(redirectOf(settings, env, earlier), settings, undefined, listens);
    try {
      const scope = chooseScope({
        configured: settings.scope,
        challenged: [challenge.scope, stored?.challengedScope].filter(Boolean).join(" "),
        supportedByResource: found.resource?.scopesSupported,
        supportedByAuthorizationServer: found.as.scopes_supported,
        before: stored?.challengedScope === undefined ? undefined : (stored.requestedScope ?? stored.tokens?.scope),
        wantsRefresh: true,
      });
      const options = { settings, as: found.as, stored: stored?.clientInfo, redirectUri: answers.redirectUri, scope };
      const identity =
        (await knownIdentity(options)) ?? (await registerAt(http, found.as, settings, options.redirectUri, scope));
      answers.expect(found.as, identity);
      const resource = found.resource?.resource;
      const { secrets, redirectUri } = answers;
      const url = await authorizationUrl({ as: found.as, identity, settings, redirectUri, secrets, scope, resource });
      const prepared = preparedOf(found, identity, stored?.clientInfo, scope, usesDpop(settings, challenge, found));
      if (!listens) writePending(context, { ...prepared, ...secrets, redirectUri });
      const done = answers.accepted.then((answer) => finish(context, prepared, answer));
      done.catch(() => {});
      answers.tell(done);
      return {
        url,
        redirectUri,
        done,
        ...(answers.notice !== undefined && { notice: answers.notice }),
        async complete(pasted) {
          await answers.paste(pasted);
          await done;
        },
        cancel: answers.cancel,
      };
    } catch (error) {
      answers.cancel("it could not be started");
      throw error;
    }
  } finally {
    await http.close();
  }
}

/** At places nobody has named there may be nothing at all [E095]. */
async function registerAt(...[http, as, settings, redirectUri, scope]: Parameters<typeof register>): Promise<Identity> {
  try {
    return await register(http, as, settings, redirectUri, scope);
  } catch (error) {
    if (as[ASSUMED] !== true || !(error instanceof AuthError) || error.failure !== "rejected") throw error;
    const text = "it names no authorization server, and there is none at the usual places of its address either";
    throw new AuthError("absent", text, { cause: error });
  }
}

/** Completes a sign-in another process has started with `listens: false`. Rejects with AuthError. */
export async function completeElsewhere(context: SignInContext, pasted: string): Promise<void> {
  const { parameters, isCodeAlone } = readPasted(pasted);
  const waiting = readPending(context);
  const state = isCodeAlone ? Object.keys(waiting).at(-1) : (parameters.get("state") ?? "");
  const pending = state !== undefined && Object.hasOwn(waiting, state) ? waiting[state] : undefined;
  if (pending === undefined) {
    const text = Object.keys(waiting).length === 0 ? NO_FLOW : "OAuth state mismatch - potential CSRF attack";
    throw new AuthError("refused", text);
  }
  const redirect = { ...redirectOf({}, {}), uri: () => pending.redirectUri };
  const answers = await awaitAnswer(redirect, context.settings, pending, false);
  const identity = await identityOf(context.settings, pending);
  answers.expect(pending.as, identity);
  try {
    await answers.paste(pasted);
    const { [pending.state]: _, ...rest } = waiting;
    savePending(context, rest);
    await finish(context, pending, await answers.accepted);
  } finally {
    answers.cancel("over");
  }
}

const NO_FLOW = "no sign-in to this server waits to be completed; start one first";

async function open({ env, ca, url }: SignInContext): Promise<AuthHttp> {
  return openAuthHttp({ env, ca, admits: await admissionOf(new URL(url)) });
}

/** Asks the server how to sign in, by a request nobody has signed. What it says otherwise is not of interest. */
async function askServer(http: AuthHttp, { url, headers }: SignInContext): Promise<Challenge> {
  const address = new URL(url);
  const clientInfo = { name: "pi-mcp", version: "0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  try {
    const response = await http.ask(address, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    });
    return response.status === 401 || response.status === 403 ? readChallenge(response.challenges) : {};
  } catch {
    // Whether it can be reached at all, discovery will say.
    return {};
  }
}

/** Where a person wants it, or the server has it no other way. */
function usesDpop({ dpop }: OAuthSettings, { onlyDpop }: Challenge, { resource }: Discovered): boolean {
  return dpop ?? (onlyDpop === true || resource?.wantsDpop === true);
}

function preparedOf(
  { as, resource }: Discovered,
  identity: Identity,
  stored: StoredClient | undefined,
  scope: string | undefined,
  dpop: boolean,
): Prepared {
  const isStored = stored?.clientId === identity.client.client_id && stored.issuer === as.issuer;
  const client = identity.registered ?? (isStored ? stored : { clientId: identity.client.client_id });
  return {
    as,
    client,
    isRegistered: identity.registered !== undefined || isStored,
    scope,
    resource: resource?.resource,
    usesDpop: dpop,
  };
}

async function identityOf(settings: OAuthSettings, { as, client, isRegistered }: Prepared): Promise<Identity> {
  const identity = await knownIdentity({ settings, as, stored: isRegistered ? client : undefined });
  if (identity) return identity;
  throw new AuthError("refused", "the configuration has changed since; start the sign-in again");
}

/** Changes the code for tokens and stores them. */
async function finish(context: SignInContext, prepared: Prepared, answer: AcceptedAnswer): Promise<void> {
  const { settings, store, url } = context;
  const { as, client, isRegistered, scope, resource } = prepared;
  const before = await store.readForNew();
  const identity = await identityOf(settings, prepared);
  const clientSecret = settings.clientSecret ?? client.clientSecret;
  const dpop = prepared.usesDpop ? createDpop() : undefined;
  const http = await open(context);
  try {
    const place = { http, as, identity, clientSecret, resource, dpop };
    const { tokens, method } = await exchangeCode(place, answer.parameters, answer.redirectUri, answer.codeVerifier);
    await store.update((now) => {
      const {
        challengedScope: _,
        tokens: __,
        dpopKey: ___,
        clientInfo: ____,
        ...rest
      } = now ?? before ?? { serverUrl: url };
      return {
        ...rest,
        tokens: { ...tokens, ...(tokens.scope === undefined && scope !== undefined && { scope }) },
        ...(isRegistered && { clientInfo: client }),
        serverUrl: url,
        authorizationServer: essenceOf(as),
        resource,
        requestedScope: scope,
        ...(dpop && tokens.tokenType === "DPoP" && { dpopKey: dpop.key }),
        ...(identity.isGuess && { tokenEndpointAuthMethod: method }),
      };
    });
  } finally {
    await http.close();
  }
}

/** What a refresh and a sign-out need of the metadata. */
export function essenceOf(as: AuthorizationServer): Record<string, unknown> {
  const names = [
    ...["issuer", "token_endpoint", "revocation_endpoint"],
    ...["token_endpoint_auth_methods_supported", "token_endpoint_auth_signing_alg_values_supported"],
    "client_id_metadata_document_supported",
  ];
  return Object.fromEntries(names.filter((name) => as[name] !== undefined).map((name) => [name, as[name]]));
}

interface Pending extends Prepared, FlowSecrets {
  readonly redirectUri: string;
  readonly serverUrl: string;
  readonly createdAt: number;
}

function pendingFile({ store }: SignInContext): string {
  return join(dirname(store.file), "pending.json");
}

/** By state, so that two of them are in nobody's way [E133]. */
function readPending(context: SignInContext): Record<string, Pending> {
  try {
    const all = JSON.parse(readFileSync(pendingFile(context), "utf8")) as Record<string, Pending>;
    const fresh = Object.entries(all).filter(([, { serverUrl, createdAt }]) => {
      return serverUrl === context.url && createdAt > Date.now() - PENDING_LIMIT_MS;
    });
    return Object.fromEntries(fresh);
  } catch {
    return {};
  }
}

function writePending(context: SignInContext, pending: Omit<Pending, "serverUrl" | "createdAt">): void {
  const entry = { ...pending, serverUrl: context.url, createdAt: Date.now() };
  savePending(context, { ...readPending(context), [pending.state]: entry });
}

function savePending(context: SignInContext, all: Readonly<Record<string, Pending>>): void {
  const file = pendingFile(context);
  if (Object.keys(all).length === 0) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  writeFileSync(temporary, JSON.stringify(all), { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}
