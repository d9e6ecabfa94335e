import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ForeignProgram } from "../auth/foreign.ts";
import type { Adoption, ServerAuth, SignInStatus } from "../auth/server-auth.ts";
import type { SignIn } from "../auth/sign-in.ts";
import { openStore, tokenFile } from "../auth/store.ts";
import { hasOwnAuthorization, maySignIn } from "../config/may-sign-in.ts";
import { expandOAuth } from "../config/oauth.ts";
import { agentDir, expandHome, personOf } from "../config/paths.ts";
import type { ConfiguredSecret, HttpTarget, OAuthSettings, ServerConfig, ServerTarget } from "../config/record.ts";
import { McpServerError } from "../error.ts";
import type { AuthorizedRequest, AuthRefusal, HttpAuth } from "../transport/http-auth.ts";

export interface AdoptOptions {
  readonly programs: readonly ForeignProgram[];
  /** Also in place of a newer sign-in of our own. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** Overrides the folder credentials are kept in [S3-30]. */
const FOLDER_VARIABLE = "MCP_OAUTH_DIR";

/**
 * One server's sign-in, over all its connections. Nothing of OAuth is loaded before the server asks for it or credentials of
 * it are there.
 */
export class Authorization {
  readonly #name: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #askUnasked: ((flow: SignIn) => void) | undefined;
  #config: ServerConfig;
  #made: ServerAuth | undefined;
  #auth: { readonly key: string; readonly loaded: Promise<ServerAuth> } | undefined;

  /** `askUnasked`: asks a person to sign in when the server wants it; without it nobody is asked. */
  constructor(config: ServerConfig, env: NodeJS.ProcessEnv, askUnasked?: (flow: SignIn) => void) {
    this.#name = config.name;
    this.#config = config;
    this.#env = env;
    this.#askUnasked = askUnasked;
  }

  relocate(config: ServerConfig): void {
    this.#config = config;
  }

  /** For the requests to an address; undefined where there is no sign-in to a server. */
  httpAuth(target: ServerTarget): HttpAuth | undefined {
    if (target.kind === "stdio" || !maySignIn(this.#config)) return undefined;
    return {
      headers: async (request: AuthorizedRequest) => (await this.#ifThere(target))?.headers(request) ?? {},
      refused: async (refusal: AuthRefusal) => (await this.#load(target)).refused(refusal),
    };
  }

  /** Tokens that must never be shown; the same list as long as there is no other. */
  get secrets(): readonly ConfiguredSecret[] | undefined {
    return this.#made?.secrets;
  }

  /** Renews credentials that are over, before the clock of a start runs. */
  async prepare(target: ServerTarget): Promise<void> {
    if (target.kind === "stdio" || !maySignIn(this.#config)) return;
    await (await this.#ifThere(target))?.prepare();
  }

  async signIn(target: ServerTarget, options?: { listens?: boolean }): Promise<SignIn> {
    return (await this.#load(this.#http(target))).signIn(options);
  }

  async complete(target: ServerTarget, pasted: string): Promise<void> {
    await (await this.#load(this.#http(target))).complete(pasted);
  }

  async status(target: ServerTarget): Promise<SignInStatus> {
    return (await this.#load(this.#http(target))).status();
  }

  /** Takes over a sign-in of other programs. */
  async adopt(target: ServerTarget, { programs, ...options }: AdoptOptions): Promise<Adoption> {
    const { url } = this.#http(target);
    const [{ readForeign }, { foreignPlaces }] = await Promise.all([
      import("../auth/foreign.ts"),
      import("./foreign-places.ts"),
    ]);
    const places = foreignPlaces(this.#env, this.#root());
    // The first program that has one counts.
    const all = programs.map((program) => readForeign(program, places, { name: this.#name, url }));
    const candidates = all.find((found) => found.length > 0) ?? [];
    return (await this.#load(this.#http(target))).adopt(candidates, options);
  }

  async logout(target: ServerTarget): Promise<boolean> {
    return (await this.#load(this.#http(target))).logout();
  }

  async close(): Promise<void> {
    await (await this.#auth?.loaded)?.close();
  }

  #http(target: ServerTarget): HttpTarget {
    const place = `${this.#config.source.file}:${this.#config.source.line}`;
    const fail = (why: string) => {
      throw new McpServerError(this.#name, "validation", `There is no sign-in to MCP server \`${this.#name}\`: ${why}`);
    };
    if (target.kind === "stdio") return fail("it is a program on this computer, which takes what it needs from `env`");
    if (this.#config.oauth === false) return fail(`\`oauth\` is false in ${place}`);
    if (hasOwnAuthorization(this.#config)) return fail(`it gets the \`Authorization\` header of its entry in ${place}`);
    return target;
  }

  /** Loaded if it has been used before, or credentials are stored. */
  async #ifThere(target: HttpTarget): Promise<ServerAuth | undefined> {
    if (this.#auth || existsSync(tokenFile(this.#root(), this.#name))) return this.#load(target);
    return undefined;
  }

  #load(target: HttpTarget): Promise<ServerAuth> {
    const settings = expandOAuth(this.#config.oauth || {}, this.#config.policy, this.#env);
    const key = JSON.stringify([target.url, settings]);
    if (this.#auth?.key !== key) {
      void this.#auth?.loaded.then((auth) => auth.close());
      this.#auth = { key, loaded: this.#make(target, settings) };
    }
    return this.#auth.loaded;
  }

  async #make({ url, headers, ca }: HttpTarget, settings: OAuthSettings): Promise<ServerAuth> {
    const { ServerAuth } = await import("../auth/server-auth.ts");
    const options = { name: this.#name, url, headers, ca, settings, env: this.#env, root: this.#root() };
    this.#made = new ServerAuth({ ...options, askUnasked: this.#askUnasked });
    return this.#made;
  }

  #root(): string {
    return credentialsFolder(this.#env);
  }
}

function credentialsFolder(env: NodeJS.ProcessEnv): string {
  const { home } = personOf(env);
  const named = env[FOLDER_VARIABLE]?.trim();
  return named ? resolve(expandHome(named, home)) : join(agentDir({ env, home }), "mcp-oauth");
}

/** Forgets the credentials of a server that is configured nowhere any more. Whether there were any. */
export async function forgetCredentials(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const root = credentialsFolder(env);
  return existsSync(tokenFile(root, name)) && openStore(root, name, "").clear();
}
