import { AuthError } from "../auth/error.ts";
import type { Adoption, SignInStatus } from "../auth/server-auth.ts";
import type { SignIn } from "../auth/sign-in.ts";
import type { ServerConfig, ServerTarget } from "../config/record.ts";
import { createRedactor } from "../content/redact.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError, messageOf } from "../error.ts";
import type { AdoptOptions, Authorization } from "./authorization.ts";
import { fillIn } from "./fill-in.ts";
import type { Surroundings } from "./open-transport.ts";

const ERROR_CHARS = 1_000;

/** What a person, or a model for one, can do about signing in to a server. All of it rejects with McpServerError. */
export interface SignInDoor {
  /**
   * Starts a sign-in and tells its address. It ends when the browser brings the answer, or somebody pastes it. With
   * `listens: false` no browser can: it is completed by a later `complete`, which may be another process'.
   */
  start(options?: { readonly listens?: boolean }): Promise<SignIn>;
  complete(pasted: string): Promise<void>;
  status(): Promise<SignInStatus>;
  /** Takes over what other programs have stored for the very address of the server. */
  adopt(options: AdoptOptions): Promise<Adoption>;
  /** Forgets the credentials, here and at the authorization server. Whether there were any. */
  logout(): Promise<boolean>;
}

/** `config` as it is at the time of use. */
export function signInDoor(
  config: () => ServerConfig,
  surroundings: Surroundings,
  authorization: Authorization,
): SignInDoor {
  const run = async <T>(work: (target: ServerTarget) => Promise<T>): Promise<T> => {
    const { target, secrets } = await fillIn(config(), surroundings, new AbortController().signal);
    try {
      return await work(target);
    } catch (thrown) {
      if (thrown instanceof McpServerError) throw thrown;
      const { name } = config();
      const text = createRedactor([...secrets, ...(authorization.secrets ?? [])], "values").text(messageOf(thrown));
      const category = thrown instanceof AuthError && thrown.failure === "transient" ? "connection" : "needs-auth";
      const message = `Signing in to MCP server \`${name}\` failed: ${sanitizeLine(text, ERROR_CHARS)}`;
      throw new McpServerError(name, category, message, { cause: thrown });
    }
  };
  return {
    start: (options) =>
      run(async (target) => {
        const flow = await authorization.signIn(target, options);
        const done = run(() => flow.done);
        done.catch(() => {});
        return { ...flow, done, complete: (pasted) => run(() => flow.complete(pasted)) };
      }),
    complete: (pasted) => run((target) => authorization.complete(target, pasted)),
    adopt: (options) => run((target) => authorization.adopt(target, options)),
    status: () => run((target) => authorization.status(target)),
    logout: () => run((target) => authorization.logout(target)),
  };
}
