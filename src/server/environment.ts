import { ACP_VARIABLE } from "../config/acp-variable.ts";
import { looksSecret, splitUrl } from "../config/secrets.ts";

/** What a program needs to run at all: the lists of the official SDKs for POSIX and Windows [S2-45]. */
const BASE = [
  ...["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR"],
  ...["APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES"],
  ...["SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "COMSPEC"],
];

/** How it reaches the network from here [S2-46, E091]. */
const NETWORK = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"],
];

const SAFE = new Set([...BASE, ...NETWORK]);

/**
 * What a server's process inherits. `safe` holds nothing of the agent's own, its keys among them [S2-48]; functions a shell
 * exports as variables are not for others either.
 */
export function inheritedEnv(policy: "all" | "safe", env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const given = withoutHandedOver(env);
  if (policy === "all") return given;
  const safe = Object.entries(given).filter(
    ([name, value]) => SAFE.has(name.toUpperCase()) && !value?.startsWith("()"),
  );
  return Object.fromEntries(safe);
}

/** Called like a secret, and none: paths of sockets and of programs that ask for one. */
const NO_SECRETS = new Set(["SSH_AUTH_SOCK", "XAUTHORITY", "SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "KEYTIMEOUT"]);

/**
 * The names of variables that a process inherits under a policy, that no program needs, and that hold what looks like a
 * secret: by their names, or because the value is an address with a password. Sorted.
 */
export function inheritedSecrets(policy: "all" | "safe", env: NodeJS.ProcessEnv): string[] {
  return Object.entries(inheritedEnv(policy, env))
    .filter(([name, value]) => value && !SAFE.has(name.toUpperCase()) && !NO_SECRETS.has(name.toUpperCase()))
    .filter(([name, value = ""]) => looksSecret(name) || splitUrl(value)?.userinfo?.includes(":"))
    .map(([name]) => name)
    .sort();
}

/** The variables that name proxies, of those a process inherits. */
export function inheritedProxies(policy: "all" | "safe", env: NodeJS.ProcessEnv): string[] {
  return Object.entries(inheritedEnv(policy, env))
    .filter(([name, value]) => value && /^(?:https?|all|no)_proxy$/i.test(name))
    .map(([name]) => name)
    .sort();
}

/**
 * The environment without the servers an editor handed over in it: each of them may hold tokens, which are no other
 * server's to know, nor any command's that is run for one.
 */
export function withoutHandedOver(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) => name.toUpperCase() === ACP_VARIABLE);
  if (names.length === 0) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
