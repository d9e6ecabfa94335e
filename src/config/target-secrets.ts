import type { ConfiguredSecret, HttpTarget, ServerTarget, StdioTarget } from "./record.ts";
import {
  argSecrets,
  basicCredentials,
  credentialsOf,
  isKeyInPath,
  looksSecret,
  mapAddresses,
  queryItems,
  splitUrl,
  type UrlParts,
} from "./secrets.ts";

/** What must never be shown of a target, as it stands there. A value may be named twice, and may be blank. */
export function secretsOf(target: ServerTarget): ConfiguredSecret[] {
  return target.kind === "stdio" ? stdioSecrets(target) : httpSecrets(target);
}

function stdioSecrets({ command, env, args }: StdioTarget): ConfiguredSecret[] {
  const inEnv = Object.entries(env).flatMap(([name, value]) => [
    { value, isSecret: looksSecret(name) },
    ...addressSecrets(value, "named"),
  ]);
  // A whole command line in `command` is a common slip, and no reason to show what is in it.
  const inArgs = [command, ...args].flatMap((arg, index, words) => {
    const values = argSecrets(arg, index > 1 ? words[index - 1] : undefined).map(({ start, end }) =>
      arg.slice(start, end),
    );
    return [
      ...values.flatMap((value) => [value, credentialsOf(value)]).map((value) => ({ value, isSecret: true })),
      ...addressSecrets(arg, "named"),
    ];
  });
  return [...inEnv, ...inArgs];
}

function httpSecrets({ url, headers, headersCommand }: HttpTarget): ConfiguredSecret[] {
  const { command = "", args = [], env = {} } = headersCommand ?? {};
  const inHeaders = Object.entries(headers).flatMap(([name, value]) => {
    const credentials = credentialsOf(value);
    // `Bearer ` with an unset variable behind it is no secret, and a word that is in every text about servers.
    if (credentials === "") return [];
    const values = [value, credentials, ...basicCredentials(value)];
    return values.map((each) => ({ value: each, isSecret: looksSecret(name) }));
  });
  return [...inHeaders, ...addressSecrets(url, "all"), ...stdioSecrets({ kind: "stdio", command, args, env })];
}

/**
 * The user, the password, the values of the query and what in the path looks like a key, in each address of a text, as
 * written and decoded; with `named`, for an address among other things, without users and values whose name does not say
 * that they are secret.
 */
function addressSecrets(text: string, which: "all" | "named"): ConfiguredSecret[] {
  const secrets: ConfiguredSecret[] = [];
  mapAddresses(text, (address) => {
    const parts = splitUrl(address);
    if (parts !== undefined) secrets.push(...partSecrets(parts, which));
    return address;
  });
  return secrets.flatMap(({ value, isSecret }) => [value, decoded(value)].map((form) => ({ value: form, isSecret })));
}

function partSecrets({ userinfo, hostAndPath, query }: UrlParts, which: "all" | "named"): ConfiguredSecret[] {
  const secrets = hostAndPath
    .split("/")
    .filter(isKeyInPath)
    .map((value) => ({ value, isSecret: true }));
  if (userinfo !== undefined) {
    const colon = userinfo.indexOf(":");
    // A user without a password is a token more often than a name.
    if (colon === -1) secrets.push({ value: userinfo, isSecret: false });
    else {
      if (which === "all") secrets.push({ value: userinfo.slice(0, colon), isSecret: false });
      secrets.push({ value: userinfo.slice(colon + 1), isSecret: true });
    }
  }
  for (const { name = "", value } of query === undefined ? [] : queryItems(query)) {
    const isSecret = looksSecret(name);
    if (which === "all" || isSecret) secrets.push({ value, isSecret });
  }
  return secrets;
}

/** As written when it is not percent-encoded after all. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}
