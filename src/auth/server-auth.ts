import type { ConfiguredSecret, OAuthSettings } from "../config/record.ts";
import type { AuthorizedRequest, AuthRefusal, HttpAuth } from "../transport/http-auth.ts";
import { TransportError } from "../transport/transport.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import { createDpop, type Dpop } from "./dpop.ts";
import { AuthError } from "./error.ts";
import type { ForeignCredentials, ForeignProgram } from "./foreign.ts";
import { isMachineGrant, obtainByMachine } from "./machine.ts";
import { refreshStored, revokeStored, wasCutOff } from "./refresh.ts";
import { covers } from "./scope.ts";
import { beginSignIn, completeElsewhere, type SignIn, type SignInContext } from "./sign-in.ts";
import { type Credentials, openStore, type Store } from "./store.ts";

/** Before the end of a token, so that a request in flight does not meet it. */
const EARLY_S = 10;
/** After a refresh that failed for now; twice as long after each further one. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Errors about the refresh token or the client; others are about how it was asked. */
const FINAL = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);
/** Of a session that goes on for weeks, the first ones are over. */
const MAX_SECRETS = 100;
/** Those come first and stay. */
const MAX_CONFIGURED = 5;
/** For a refresh that is under way when all else is over: its answer may be the only one of its kind. */
const LAST_REFRESH_MS = 5_000;
/** A person may be that quick, and the request goes on then; it is shorter than the limit of a start usually is. */
const PERSON_MS = 20_000;
/** A sign-in that was asked for by a 401, and one for more scopes. */
const MAX_SIGN_INS = 2;

export interface ServerAuthOptions {
  /** The server's name, under which its credentials are kept. */
  readonly name: string;
  readonly url: string;
  /** Values ready for use. */
  readonly settings: OAuthSettings;
  /** Configured headers of the server, for asking it how to sign in. */
  readonly headers: Readonly<Record<string, string>>;
  readonly ca?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The folder of all credentials. */
  readonly root: string;
  /** Asks a person to go through a sign-in. With it a 401 starts one by itself; without it nothing does. */
  readonly askUnasked?: ((flow: SignIn) => void) | undefined;
}

export interface SignInStatus {
  /** `expired`: tokens that are over and cannot be renewed. */
  readonly state: "signed-in" | "expired" | "signed-out";
  readonly expiresAt?: number;
  readonly scope?: string;
  readonly renewable: boolean;
}

/** What became of a sign-in of another program: `kept` is our own, which is newer; `found` is what would be imported. */
export type Adoption =
  | { readonly state: "absent" }
  | { readonly state: "ambiguous"; readonly names: readonly string[] }
  | { readonly state: "same" | "kept" | "found" | "imported"; readonly from: ForeignProgram };

/** The credentials of one server: uses, renews, gets and removes them. */
export class ServerAuth implements HttpAuth {
  readonly #options: ServerAuthOptions;
  readonly #store: Store;
  #challenge: Challenge | undefined;
  #dpop: Dpop | undefined;
  /** One for all who wait, and for one more than those: it ends on its own clock, so that no rotated token is lost [E277]. */
  #renewing: Promise<boolean> | undefined;
  #signingIn: Promise<void> | undefined;
  #flow: SignIn | undefined;
  #pause = { untilMs: 0, nextMs: FIRST_PAUSE_MS, error: undefined as AuthError | undefined };
  /** A sign-in that nobody had asked for came to nothing. */
  #isUnwanted = false;
  /** Why the sign-in that was there is over; until there is another. */
  #loss: AuthError | undefined;
  #secrets: readonly ConfiguredSecret[] = [];
  /** Scopes that were asked for once more though they had been granted [E118]. */
  readonly #askedAgain = new Set<string>();

  constructor(options: ServerAuthOptions) {
    this.#options = options;
    this.#store = openStore(options.root, options.name, options.url, { keeps: options.settings.credentialStore });
    const { clientSecret, privateKey, assertion, idpClientSecret, idpIdToken } = options.settings;
    this.#remember(clientSecret, privateKey, assertion, idpClientSecret, idpIdToken);
  }

  /** What is configured and all tokens that were read here; another list when there is another one. */
  get secrets(): readonly ConfiguredSecret[] {
    return this.#secrets;
  }

  /** Renews what is over, before the clock of a start runs [E278]. Never rejects: the server's answer says more. */
  async prepare(): Promise<void> {
    try {
      const { tokens } = (await this.#stored()) ?? {};
      if (!tokens || !isOver(tokens.expiresAt, EARLY_S)) return;
      if (tokens.refreshToken || isMachineGrant(this.#options.settings)) await this.#renew(tokens.accessToken);
    } catch {
      // As above.
    }
  }

  async headers({ method, url }: AuthorizedRequest): Promise<Record<string, string>> {
    await this.prepare();
    const credentials = await this.#stored().catch((error: unknown) => {
      if (!(error instanceof AuthError)) throw error;
      throw new TransportError("unauthorized", error.message, "rejected", { http: { status: 401 }, cause: error });
    });
    const tokens = credentials?.tokens;
    if (!tokens) return {};
    if (tokens.tokenType !== "DPoP") return { authorization: `Bearer ${tokens.accessToken}` };
    const proof = this.#dpopOf(credentials).proof(method, url, tokens.accessToken);
    return { authorization: `DPoP ${tokens.accessToken}`, dpop: proof };
  }

  async refused(refusal: AuthRefusal): Promise<boolean> {
    const challenge = readChallenge(refusal.challenges);
    if (refusal.status === 401 && this.#dpop?.takeNonce(refusal.url, refusal.nonce)) return true;
    if (refusal.status === 403) {
      return challenge.error === "insufficient_scope" && this.#stepUp(challenge, refusal);
    }
    if (refusal.method === "POST") this.#challenge = challenge;
    const sent = tokenIn(refusal.sent);
    const tokens = (await this.#stored())?.tokens;
    if (tokens && tokens.accessToken !== sent) return true;
    if (refusal.attempt === 1 && (tokens?.refreshToken || isMachineGrant(this.#options.settings))) {
      if (await this.#renewOrFail(sent, refusal.status)) return true;
    }
    if (await this.#signInUnasked(refusal)) return true;
    if (!this.#loss) return false;
    const text = `the sign-in is over: ${this.#loss.message}`;
    throw new TransportError("unauthorized", text, "rejected", { http: { status: 401 }, cause: this.#loss });
  }

  /** Starts a sign-in; one that waits is over. Rejects with AuthError. */
  async signIn(options: { listens?: boolean } = {}): Promise<SignIn> {
    if (isMachineGrant(this.#options.settings)) {
      throw new AuthError("refused", 'by its "grantType" it is signed in to with the first request, and by nobody');
    }
    this.#isUnwanted = false;
    this.#flow?.cancel("another sign-in was started");
    const flow = await beginSignIn(this.#context(), { ...options, challenge: this.#challenge });
    this.#flow = flow;
    flow.done.then(
      () => this.#settled(flow),
      () => this.#settled(flow),
    );
    return flow;
  }

  /** Completes the sign-in that waits here or, if there is none, one that was started by another process. */
  async complete(pasted: string): Promise<void> {
    const flow = this.#flow;
    if (flow) return flow.complete(pasted);
    await completeElsewhere(this.#context(), pasted);
    this.#resume();
  }

  /**
   * Takes over a sign-in another program has stored for this very address. Of several the one of this server's name counts,
   * or the only one. What is stored here stays unless it is older, or `force`.
   */
  async adopt(
    candidates: readonly ForeignCredentials[],
    { force, dryRun }: { readonly force: boolean; readonly dryRun: boolean },
  ): Promise<Adoption> {
    const { name } = this.#options;
    const named = candidates.filter((each) => each.name === name || each.name === name.replace(/\W/g, "_"));
    const [found, ...others] = named.length > 0 ? named : candidates;
    if (!found?.credentials.tokens) return { state: "absent" };
    if (others.length > 0 && named.length === 0)
      return { state: "ambiguous", names: candidates.map((each) => each.name) };
    const { program: from, credentials } = found;
    const now = (await this.#store.readForNew())?.tokens;
    if (now?.accessToken === credentials.tokens?.accessToken) return { state: "same", from };
    const isOlder = (now?.expiresAt ?? Number.POSITIVE_INFINITY) < (credentials.tokens?.expiresAt ?? 0);
    if (now && !isOlder && !force) return { state: "kept", from };
    if (dryRun) return { state: "found", from };
    await this.#store.probe();
    await this.#store.update(() => credentials);
    this.#resume();
    return { state: "imported", from };
  }

  async status(): Promise<SignInStatus> {
    const { tokens } = (await this.#stored()) ?? {};
    if (!tokens) return { state: "signed-out", renewable: false };
    const renewable = tokens.refreshToken !== undefined || isMachineGrant(this.#options.settings);
    return {
      state: !renewable && isOver(tokens.expiresAt, 0) ? "expired" : "signed-in",
      renewable,
      ...(tokens.expiresAt !== undefined && { expiresAt: tokens.expiresAt }),
      ...(tokens.scope !== undefined && { scope: tokens.scope }),
    };
  }

  /** Forgets everything at once, then tells the authorization server. Whether there was anything. */
  async logout(): Promise<boolean> {
    this.#flow?.cancel("signed out");
    const credentials = await this.#stored().catch(() => undefined);
    const had = await this.#store.clear();
    this.#dpop = undefined;
    this.#loss = undefined;
    if (credentials?.tokens) await revokeStored(this.#context(), credentials);
    return had;
  }

  /** Waits for a refresh that is under way, but not for long. */
  async close(): Promise<void> {
    this.#flow?.cancel("the session is closed");
    if (this.#renewing) await isOverWithin(this.#renewing, LAST_REFRESH_MS).catch(() => {});
  }

  /** What is stored now, of which nothing is to be shown. */
  async #stored(): Promise<Credentials | undefined> {
    const credentials = await this.#store.read();
    const { tokens, clientInfo, dpopKey } = credentials ?? {};
    this.#remember(tokens?.accessToken, tokens?.refreshToken, clientInfo?.clientSecret, dpopKey?.d);
    return credentials;
  }

  #remember(...values: (string | undefined)[]): void {
    const known = new Set(this.#secrets.map(({ value }) => value));
    const fresh = values.filter((value) => value && !known.has(value)) as string[];
    if (fresh.length === 0) return;
    const all = [...this.#secrets, ...fresh.map((value) => ({ value, isSecret: true }))];
    this.#secrets = [...all.slice(0, MAX_CONFIGURED), ...all.slice(MAX_CONFIGURED).slice(-MAX_SECRETS)];
  }

  #settled(flow: SignIn): void {
    if (this.#flow === flow) this.#flow = undefined;
    this.#resume();
  }

  /** What was found out about earlier tokens says nothing of new ones. */
  #resume(): void {
    this.#pause = { untilMs: 0, nextMs: FIRST_PAUSE_MS, error: undefined };
    this.#dpop = undefined;
    this.#loss = undefined;
  }

  #context(): SignInContext {
    return { ...this.#options, store: this.#store };
  }

  #dpopOf(credentials: Credentials): Dpop {
    this.#dpop ??= createDpop(credentials.dpopKey);
    return this.#dpop;
  }

  /** More scopes than were granted are asked for once; then a person has to know. */
  async #stepUp(challenge: Challenge, refusal: AuthRefusal): Promise<boolean> {
    const sent = tokenIn(refusal.sent);
    const now = await this.#stored();
    if (!now?.tokens || sent === undefined) return false;
    if (now.tokens.accessToken !== sent) return true;
    const wanted = challenge.scope ?? "";
    const isHeld = covers(now.tokens.scope ?? now.requestedScope, wanted) || covers(now.requestedScope, wanted);
    await this.#store.update((latest) => latest && { ...latest, challengedScope: wanted });
    this.#challenge = { ...this.#challenge, ...challenge };
    if (isMachineGrant(this.#options.settings) && !isHeld && (await this.#renewOrFail(sent, 403))) return true;
    if ((await this.#stored())?.tokens?.accessToken !== sent) return true;
    const isFirst = !isHeld || !this.#askedAgain.has(wanted);
    if (isHeld) this.#askedAgain.add(wanted);
    if (isFirst && (await this.#signInUnasked(refusal))) return true;
    const text = `it asks for more than this sign-in may do${wanted === "" ? "" : ` (scope "${wanted}")`}`;
    throw new TransportError("unauthorized", text, "rejected", { http: { status: 403 } });
  }

  async #signInUnasked({ attempt, method, sent }: AuthRefusal): Promise<boolean> {
    // Somebody else may have signed in while this one found out that it has to.
    const tokens = (await this.#stored())?.tokens;
    if (!this.#signingIn && tokens && tokens.accessToken !== tokenIn(sent)) return true;
    const ask = this.#options.askUnasked;
    // A stream of its own is no reason to bother a person [E065], and who did not want to is not asked again.
    if (!ask || this.#isUnwanted || attempt > MAX_SIGN_INS || method !== "POST") return false;
    this.#signingIn ??= this.signIn()
      .then(async (flow) => {
        ask(flow);
        await flow.done;
      })
      .catch((error: unknown) => {
        this.#isUnwanted = true;
        throw asTransportError(error, 401);
      })
      .finally(() => {
        this.#signingIn = undefined;
      });
    if (await isOverWithin(this.#signingIn, PERSON_MS)) return true;
    const text = "a person was asked to sign in and has not done so yet; when that is done, it can be used";
    const cause = new AuthError("refused", text);
    throw new TransportError("unauthorized", text, "rejected", { http: { status: 401 }, cause });
  }

  async #renewOrFail(sent: string | undefined, status: 401 | 403): Promise<boolean> {
    try {
      return await this.#renew(sent);
    } catch (error) {
      throw asTransportError(error, status);
    }
  }

  /**
   * New tokens in place of `stale`: true when there are some now, false when there is no way. Rejects with AuthError when
   * there may be one later.
   */
  #renew(stale: string | undefined): Promise<boolean> {
    this.#renewing ??= this.#renewAlone(stale).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewAlone(stale: string | undefined): Promise<boolean> {
    if (Date.now() < this.#pause.untilMs && this.#pause.error) throw this.#pause.error;
    return this.#store.alone(async (turn) => {
      // Somebody else may have done it while we waited for our turn [E130, E131].
      const now = await this.#stored();
      if (now?.tokens?.accessToken !== stale) return now?.tokens !== undefined;
      try {
        const renewed = isMachineGrant(this.#options.settings)
          ? await obtainByMachine(this.#context(), this.#challenge ?? {})
          : await refreshStored(this.#context(), now, this.#challenge ?? {}, turn, (stored) => this.#dpopOf(stored));
        if (renewed) this.#resume();
        return renewed;
      } catch (error) {
        if (!(error instanceof AuthError)) throw error;
        if (error.failure !== "transient") return this.#lost(now, wasCutOff(turn, now) ? cutOff(error) : error);
        const { nextMs } = this.#pause;
        this.#pause = { untilMs: Date.now() + nextMs, nextMs: Math.min(nextMs * 2, MAX_PAUSE_MS), error };
        throw error;
      }
    });
  }

  /** The authorization server said no: what it said no to is of no more use [E124], unless somebody has put new there. */
  async #lost(used: Credentials | undefined, error: AuthError): Promise<boolean> {
    if (isMachineGrant(this.#options.settings)) throw error;
    if (error.code === undefined || !FINAL.has(error.code)) return false;
    await this.#store.update((now) => {
      if (!now || now.tokens?.refreshToken !== used?.tokens?.refreshToken) return now;
      const { tokens: _, clientInfo, ...rest } = now;
      return { ...rest, ...(error.code !== "invalid_client" && clientInfo && { clientInfo }) };
    });
    const isLost = (await this.#stored())?.tokens === undefined;
    if (isLost) this.#loss = error;
    return !isLost;
  }
}

/** Whether it has ended within the limit; it goes on behind that. Rejects as it does. */
async function isOverWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  return Promise.race([work.then(() => true), limit]).finally(() => clearTimeout(timer));
}

/** The same refusal, for those who wonder why. */
function cutOff({ failure, code, cause }: AuthError): AuthError {
  const text =
    "a process that renewed it was ended before it had the answer, and its authorization server gives that only once";
  return new AuthError(failure, text, { ...(code !== undefined && { code }), cause });
}

function isOver(expiresAt: unknown, earlyS: number): boolean {
  return typeof expiresAt === "number" && Date.now() / 1000 >= expiresAt - earlyS;
}

function tokenIn({ authorization }: Readonly<Record<string, string>>): string | undefined {
  return authorization?.replace(/^\S+\s+/, "");
}

/** A sign-in that is kept and did not work now is no reason to sign in again [E122]. */
function asTransportError(error: unknown, status: 401 | 403): unknown {
  if (!(error instanceof AuthError)) return error;
  if (error.failure === "transient") {
    const text = `its sign-in could not be renewed now (${error.message}); it is kept, and tried again later`;
    return new TransportError("status", text, "rejected", { http: { status }, cause: error });
  }
  return new TransportError("unauthorized", `signing in failed: ${error.message}`, "rejected", {
    http: { status },
    cause: error,
  });
}
