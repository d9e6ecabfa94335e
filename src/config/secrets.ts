/**
 * What in a configured target is a secret by its place or its looks. It serves two ends: masking a target that is
 * shown to people, and telling the redactor what to remove from results.
 */

/** Names that belong to a secret. */
const SECRET_NAME = /token|key|secret|pass|auth|cred|bearer/i;

export function looksSecret(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Tokens that are known by how they begin: API keys, GitHub, Slack and AWS tokens, JSON Web Tokens. */
const TOKEN_SHAPE = /^(?:sk-|gh[pousr]_|github_pat_|xox[baprs]-|AKIA|eyJ[\w-]+\.)/;

/** A part of an argument: `args[index].slice(start)`. */
export interface ArgSecret {
  readonly index: number;
  readonly start: number;
  readonly key: string;
}

/** The arguments, or their ends, that are secrets: `--token x`, `--token=x`, `TOKEN=x`, `Authorization: x`, `ghp_…`. */
export function argSecrets(args: readonly string[]): ArgSecret[] {
  const secrets: ArgSecret[] = [];
  for (const [index, arg] of args.entries()) {
    const flag = args[index - 1];
    const assignment = /^-{0,2}([\w.-]+)=(?=.)/s.exec(arg);
    const header = /(?:^|[=H])([\w-]+):\s*(?=\S)/.exec(arg);
    if (flag !== undefined && takesSecret(flag) && arg !== "" && !isFlag(arg)) {
      secrets.push({ index, start: 0, key: flag });
    } else if (assignment?.[1] !== undefined && looksSecret(assignment[1])) {
      secrets.push({ index, start: assignment[0].length, key: assignment[1] });
    } else if (header?.[1] !== undefined && looksSecret(header[1])) {
      secrets.push({ index, start: header.index + header[0].length, key: header[1] });
    } else if (TOKEN_SHAPE.test(arg)) {
      secrets.push({ index, start: 0, key: "token" });
    }
  }
  return secrets;
}

/** `--api-key`, but neither `--api-key=x` nor `--no-auth`. */
function takesSecret(flag: string): boolean {
  return /^--?[A-Za-z][\w.-]*$/.test(flag) && !/^--no-/i.test(flag) && looksSecret(flag);
}

/** Tokens may begin with `-` too, so only what is surely a flag counts as one. */
function isFlag(arg: string): boolean {
  return /^(?:--[A-Za-z]|-[A-Za-z]{1,2}$)/.test(arg);
}

/** Schemes of an `Authorization` value (RFC 9110 section 11.4) that are followed by the credentials themselves. */
const AUTH_SCHEME = /^(?:bearer|basic|token|apikey|api-key)(?:\s+|$)/i;

/** The credentials in a header value, without the scheme before them; the value itself when there is none. */
export function credentialsOf(headerValue: string): string {
  return headerValue.replace(AUTH_SCHEME, "");
}

/** The parts of an address as written, variables and all, which `URL` would refuse or re-encode. */
export interface UrlParts {
  /** Scheme and `//`, and the name before them in `--name=https://…`. */
  readonly start: string;
  /** What stands before `@`, without it. */
  readonly userinfo: string | undefined;
  readonly hostAndPath: string;
  /** Without `?`. */
  readonly query: string | undefined;
  /** Without `#`. */
  readonly fragment: string | undefined;
}

export function splitUrl(text: string): UrlParts | undefined {
  const match =
    /^((?:-{0,2}[\w.-]+=)?[A-Za-z][A-Za-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (match === null) return undefined;
  return {
    start: match[1] ?? "",
    userinfo: match[2],
    hostAndPath: match[3] ?? "",
    query: match[4],
    fragment: match[5],
  };
}

/** Names and values of a query or fragment as written; a part without `=` is a value without a name. */
export function queryItems(query: string): { name: string | undefined; value: string }[] {
  return query.split("&").map((part) => {
    const at = part.indexOf("=");
    return at === -1 ? { name: undefined, value: part } : { name: part.slice(0, at), value: part.slice(at + 1) };
  });
}
