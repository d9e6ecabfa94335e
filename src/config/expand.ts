import { homedir } from "node:os";
import { type Env, expandHome } from "./paths.ts";
import type { ConfiguredSecret, ServerPolicy, ServerTarget } from "./record.ts";
import {
  argSecrets,
  credentialsOf,
  looksSecret,
  mapAddresses,
  queryItems,
  splitUrl,
  type UrlParts,
} from "./secrets.ts";

/** A target ready to be started, and what must never be shown of it. */
export interface ExpandedTarget {
  readonly target: ServerTarget;
  /** For the redactor: values as configured and as expanded. */
  readonly secrets: readonly ConfiguredSecret[];
  /** Names of the variables that are not set, each once, in the order they were met. */
  readonly unset: readonly string[];
}

/**
 * `${NAME}` and `$NAME`; a name is `[A-Za-z_][A-Za-z0-9_]*` (S1-13). Whatever else has a dollar sign, such as `$5`,
 * `${bad name}` or `${NAME:-x}`, is left as it is.
 */
const REFERENCE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g;

/**
 * Replaces variables by their values in every string of a target but the names of variables and headers, and `~/` at
 * the start of the command, the directory and the names of files. Values are not looked into again: a variable that
 * holds `$X` stays so. To be called when the server is started and not before.
 */
export function expandTarget(
  target: ServerTarget,
  policy: Pick<ServerPolicy, "unsetVariable">,
  env: Env,
): ExpandedTarget {
  const unset = new Set<string>();
  const secrets = new Map<string, ConfiguredSecret>();

  function addSecret(key: string, value: string): void {
    if (value.trim() !== "") secrets.set(`${key}\0${value}`, { key, value, isSecret: looksSecret(key) });
  }

  /** A variable that is called like a secret is one wherever it ends up, also as a part of something longer. */
  function expand(text: string): string {
    if (policy.unsetVariable === "literal") return text;
    return text.replace(REFERENCE, (reference: string, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? "";
      const value = env[name];
      if (value === undefined) {
        unset.add(name);
        // A bare name may be no reference at all: `pa$$word`.
        return policy.unsetVariable === "empty" && braced !== undefined ? "" : reference;
      }
      if (looksSecret(name)) addSecret(name, value);
      return value;
    });
  }

  function expandPath(text: string): string {
    if (policy.unsetVariable === "literal") return text;
    const home = env.HOME || env.USERPROFILE || homedir();
    const rest = /^~(?=$|[/\\])/.test(text) ? text.slice(1) : undefined;
    return rest === undefined ? expand(text) : expandHome(`~${expand(rest)}`, home);
  }

  if (target.kind === "stdio") {
    const expanded: ServerTarget = {
      kind: "stdio",
      command: expandPath(target.command),
      args: target.args.map(expand),
      env: mapValues(target.env, expand),
      ...(target.cwd === undefined ? {} : { cwd: expandPath(target.cwd) }),
    };
    for (const { args, env } of [target, expanded]) {
      for (const [name, value] of Object.entries(env)) {
        addSecret(name, value);
        addUrlSecrets(value, false, addSecret);
      }
      for (const [index, arg] of args.entries()) {
        for (const { start, end, key } of argSecrets(arg, args[index - 1])) {
          const value = arg.slice(start, end);
          addSecret(key, value);
          addSecret(key, credentialsOf(value));
        }
        addUrlSecrets(arg, false, addSecret);
      }
    }
    return { target: expanded, secrets: [...secrets.values()], unset: [...unset] };
  }

  const expanded: ServerTarget = {
    ...target,
    url: expand(target.url),
    headers: mapValues(target.headers, expand),
    ...(target.ca !== undefined && { ca: expandPath(target.ca) }),
    ...(target.cert !== undefined && { cert: expandPath(target.cert) }),
    ...(target.key !== undefined && { key: expandPath(target.key) }),
  };
  for (const { url, headers } of [target, expanded]) {
    for (const [name, value] of Object.entries(headers)) {
      const credentials = credentialsOf(value);
      // `Bearer ` with an unset variable behind it is no secret, and a word that is in every text about servers.
      if (credentials !== "") addSecret(name, value);
      addSecret(name, credentials);
    }
    addUrlSecrets(url, true, addSecret);
  }
  return { target: expanded, secrets: [...secrets.values()], unset: [...unset] };
}

/**
 * The user, the password and the values of the query in each address, as written and decoded. With `all` false (an
 * address among other things) only the password and values whose name says that they are secret.
 */
function addUrlSecrets(text: string, all: boolean, add: (key: string, value: string) => void): void {
  mapAddresses(text, (address) => {
    const parts = splitUrl(address);
    if (parts !== undefined) addSecretsOf(parts, all, add);
    return address;
  });
}

function addSecretsOf(parts: UrlParts, all: boolean, add: (key: string, value: string) => void): void {
  if (parts.userinfo !== undefined) {
    const colon = parts.userinfo.indexOf(":");
    const user = colon === -1 ? parts.userinfo : parts.userinfo.slice(0, colon);
    // A user without a password is a token more often than a name.
    if (all || colon === -1) addDecoded("user", user, add);
    if (colon !== -1) addDecoded("password", parts.userinfo.slice(colon + 1), add);
  }
  for (const { name, value } of parts.query === undefined ? [] : queryItems(parts.query)) {
    if (all || (name !== undefined && looksSecret(name))) addDecoded(name ?? "query", value, add);
  }
}

function addDecoded(key: string, value: string, add: (key: string, value: string) => void): void {
  add(key, value);
  try {
    add(key, decodeURIComponent(value.replaceAll("+", " ")));
  } catch {
    // Not percent-encoded after all: the written form is the value.
  }
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
