/** What a 401 or 403 says about how to get in (RFC 6750 section 3, RFC 9728 section 5.1, RFC 9449 section 9). */
export interface Challenge {
  /** Address of the resource's metadata, as sent. */
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
  /** There is no other way in than tokens that are bound to a key (RFC 9449). */
  readonly onlyDpop?: boolean;
}

/** Schemes whose challenge is about OAuth. */
const SCHEMES = new Set(["bearer", "dpop"]);

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(`^(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]*))`);
const SCHEME = new RegExp(`^(${TOKEN})(?:\\s+|$|(?=,))`);
const LEADING = /^[\s,]+/;
/** Longer header values are no challenges. */
const MAX_CHARS = 16_384;

/**
 * The OAuth challenge among all of them: several may stand in one header value, and there may be several values [E281]. Of
 * two, what the first does not say the second may add.
 */
export function readChallenge(values: readonly string[]): Challenge {
  const found: { [name: string]: string } = {};
  const schemes = new Set<string>();
  for (const value of values) {
    for (const { scheme, parameters } of parse(value.slice(0, MAX_CHARS))) {
      if (!SCHEMES.has(scheme)) continue;
      schemes.add(scheme);
      for (const [name, text] of parameters) found[name] ??= text;
    }
  }
  const { resource_metadata: resourceMetadata, scope, error } = found;
  return {
    ...(resourceMetadata && { resourceMetadata }),
    ...(scope?.trim() && { scope: scope.trim() }),
    ...(error && { error }),
    ...(schemes.has("dpop") && !schemes.has("bearer") && { onlyDpop: true }),
  };
}

function parse(value: string): { scheme: string; parameters: Map<string, string> }[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  for (let rest = value.replace(LEADING, ""); rest !== ""; rest = rest.replace(LEADING, "")) {
    const parameter = PARAMETER.exec(rest);
    const last = challenges.at(-1);
    if (parameter && last) {
      const [whole, name = "", quoted, bare = ""] = parameter;
      const text = quoted === undefined ? bare : quoted.replace(/\\(.)/g, "$1");
      if (!last.parameters.has(name.toLowerCase())) last.parameters.set(name.toLowerCase(), text);
      rest = rest.slice(whole.length);
      continue;
    }
    const scheme = SCHEME.exec(rest);
    if (scheme) {
      challenges.push({ scheme: (scheme[1] ?? "").toLowerCase(), parameters: new Map() });
      rest = rest.slice(scheme[0].length);
      continue;
    }
    // A `token68`, or noise: up to the next comma.
    const comma = rest.indexOf(",");
    rest = comma === -1 ? "" : rest.slice(comma);
  }
  return challenges;
}
