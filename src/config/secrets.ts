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
const TOKEN_START = "(?:sk-|gh[pousr]_|github_pat_|xox[baprs]-|AKIA|eyJ[\\w-]+\\.)";
const TOKEN = new RegExp(`^${TOKEN_START}`);
const INNER_TOKEN = new RegExp(`(?<![\\w-])${TOKEN_START}[\\w.-]{8,}`, "g");

/** A value of four characters or more in a script; a shorter one is no secret: `sort --key 2`. */
const VALUE = "(?:\"([^\"]{4,})\"|'([^']{4,})'|([^\\s\"'`;&|()]{4,}))";

/** What an argument that is a script or a document may hold; the first group is the name, another one the value. */
const INNER_SECRETS: readonly RegExp[] = [
  // `TOKEN=x`
  new RegExp(`(?<![\\w.-])([\\w.-]+)=${VALUE}`, "dg"),
  // `--env=TOKEN=x`
  new RegExp(`(?<![\\w.-])--?[\\w.-]+=([\\w.-]+)=${VALUE}`, "dg"),
  // `--token x`
  new RegExp(`(?<!\\S)(--?[A-Za-z][\\w.-]*)\\s+(?!-)${VALUE}`, "dg"),
  // `'Authorization: x'`, `{"token": "x"}`
  /["']([\w.-]+)["']?\s*:\s*["']?([^"']{4,})/dg,
];

/** A part of an argument: `arg.slice(start, end)`. */
export interface ArgSecret {
  readonly start: number;
  readonly end: number;
}

/**
 * The secrets in an argument: all of it (`ghp_…`, or `x` where the argument before is `--token`), its end (`--token=x`,
 * `Authorization: x`), and parts of it when it is a script or a document. Sorted by their start; they may overlap.
 */
export function argSecrets(arg: string, before: string | undefined): ArgSecret[] {
  return [...endSecrets(arg, before), ...innerSecrets(arg)].sort((a, b) => a.start - b.start);
}

/** The secret that reaches to the end of the argument, if there is one. */
function endSecrets(arg: string, flag: string | undefined): ArgSecret[] {
  const end = arg.length;
  const assignment = /^-{0,2}([\w.-]+)=(?=.)/s.exec(arg);
  const header = /(?:^|[=H])([\w-]{1,100}):\s*(?=\S)/.exec(arg);
  if (flag !== undefined && takesSecret(flag) && arg !== "" && !isFlag(arg)) return [{ start: 0, end }];
  if (assignment?.[1] !== undefined && looksSecret(assignment[1])) {
    return [{ start: assignment[0].length, end }];
  }
  if (header?.[1] !== undefined && looksSecret(header[1])) {
    return [{ start: header.index + header[0].length, end }];
  }
  return TOKEN.test(arg) ? [{ start: 0, end }] : [];
}

function innerSecrets(arg: string): ArgSecret[] {
  const named = INNER_SECRETS.flatMap((pattern) => [...arg.matchAll(pattern)]).flatMap(({ 1: key = "", indices }) => {
    const [start, end] = indices?.slice(2).find((range) => range !== undefined) ?? [0, 0];
    return looksSecret(key) && !/^--no-/i.test(key) ? [{ start, end }] : [];
  });
  const tokens = [...arg.matchAll(INNER_TOKEN)];
  return [...named, ...tokens.map(({ 0: token, index }) => ({ start: index, end: index + token.length }))];
}

/** `--api-key`, but neither `--api-key=x` nor `--no-auth`. */
function takesSecret(flag: string): boolean {
  return /^--?[A-Za-z][\w.-]*$/.test(flag) && !/^--no-/i.test(flag) && looksSecret(flag);
}

/** Tokens may begin with `-` too, so only what is surely a flag counts as one. */
function isFlag(arg: string): boolean {
  return /^(?:--[A-Za-z]|-[A-Za-z]{1,2}$)/.test(arg);
}

/** Whether a text begins as tokens of a known kind do, though it stands where no secret should. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Schemes of an `Authorization` value (RFC 9110 section 11.4) that are followed by the credentials themselves. */
const AUTH_SCHEME = /^(?:bearer|basic|token|apikey|api-key)(?:\s+|$)/i;

/** The credentials in a header value, without the scheme before them; the value itself when there is none. */
export function credentialsOf(headerValue: string): string {
  return headerValue.replace(AUTH_SCHEME, "");
}

/** Some services put the key into the path: a long piece of letters and digits is taken for one. */
export function isKeyInPath(segment: string): boolean {
  return /^[A-Za-z0-9_=-]{24,}$/.test(segment) && /\d/.test(segment) && /[A-Za-z]/.test(segment);
}

/** The user and the password of a `Basic` value (RFC 7617), which a server reads as they are. */
export function basicCredentials(headerValue: string): string[] {
  const encoded = /^basic\s+([\w+/=-]+)\s*$/i.exec(headerValue)?.[1];
  const pair = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? [] : [pair, pair.slice(colon + 1)];
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

/** Passes each address in a text through a function: the text itself if it is one, or those inside a script. */
export function mapAddresses(text: string, change: (address: string) => string): string {
  if (splitUrl(text) !== undefined) return change(text);
  return text.replace(/[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/[^\s"'`<>()]+/g, change);
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
