/**
 * Why there are no (new) tokens.
 * - `transient`: it may work later; what is stored is worth keeping.
 * - `rejected`: the authorization server said no, for good.
 * - `refused`: we did not do it, because something is not as it has to be (an issuer, an address, a missing feature).
 * - `absent`: the server names no authorization server, so there is nothing to sign in to.
 */
export type AuthFailure = "transient" | "rejected" | "refused" | "absent";

/** The message is a clause that names no token, code, secret or address with a query. */
export class AuthError extends Error {
  override readonly name = "AuthError";
  readonly failure: AuthFailure;
  /** The error code of the authorization server (RFC 6749 section 5.2), if it gave one. */
  readonly code: string | undefined;

  constructor(failure: AuthFailure, message: string, more: { code?: string; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.failure = failure;
    this.code = more.code;
  }
}

const QUOTE_CHARS = 200;
const PARAMETER = /^[a-z]{1,20}(_[a-z]{1,20}){1,6}$/;

/**
 * A peer's own words about an error, for a sentence: one short line in which none of the values that were sent, or any long
 * run of characters that may be one, stands. Names of parameters are none, like `id_token_signed_response_alg`.
 */
export function quoteWords(text: unknown, secrets: readonly (string | undefined)[] = []): string {
  if (typeof text !== "string") return "";
  let clean = text;
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, "***");
  clean = clean
    .replace(/[\p{C}\s]+/gu, " ")
    .replace(/[\w.~+/=-]{24,}/g, (run) => (PARAMETER.test(run) ? run : "***"))
    .trim();
  return clean.length > QUOTE_CHARS ? `${clean.slice(0, QUOTE_CHARS)}…` : clean;
}

/** An error code as RFC 6749 has them; anything else is not repeated. */
export function cleanCode(code: unknown): string | undefined {
  return typeof code === "string" && /^[a-z][a-z0-9_.-]{0,60}$/i.test(code) ? code : undefined;
}
