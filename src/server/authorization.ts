import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ServerAuth, SignInStatus } from "../auth/server-auth.ts";
import type { SignIn } from "../auth/sign-in.ts";
import { tokenFile } from "../auth/store.ts";
import { hasOwnAuthorization, maySignIn } from "../config/may-sign-in.ts";
import { expandOAuth } from "../config/oauth.ts";
import { agentDir, expandHome } from "../config/paths.ts";
import type { HttpTarget, OAuthSettings, ServerConfig, ServerTarget } from "../config/record.ts";
import { McpServerError } from "../error.ts";
import type { AuthorizedRequest, AuthRefusal, HttpAuth } from "../transport/http-auth.ts";

/** Overrides the folder credentials are kept in [S3-30]. */
const FOLDER_VARIABLE = "MCP_OAUTH_DIR";

/**
 * One server's sign-in, over all its connections. Nothing of OAuth is loaded before the server asks for it or credentials of
 * it are there.
 */
export class Authorization {
  readonly #name: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #openUnasked: ((url: string) => Promise<void>) | undefined;
  #config: ServerConfig;
  #auth: { readonly key: string; readonly loaded: Promise<ServerAuth> } | undefined;

  constructor(config: ServerConfig, env: NodeJS.ProcessEnv, openUnasked?: (url: string) => Promise<void>) {
    this.#name = config.name;
    this.#config = config;
    this.#env = env;
    this.#openUnasked = openUnasked;
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

  async logout(target: ServerTarget): Promise<boolean> {
    return (await this.#load(this.#http(target))).logout();
  }

  async close(): Promise<void> {
    (await this.#auth?.loaded)?.close();
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
    return new ServerAuth({ ...options, openUnasked: this.#openUnasked });
  }

  #root(): string {
    const home = this.#env.HOME || this.#env.USERPROFILE || homedir();
    const named = this.#env[FOLDER_VARIABLE]?.trim();
    return named ? resolve(expandHome(named, home)) : join(agentDir({ env: this.#env, home }), "mcp-oauth");
  }
}
