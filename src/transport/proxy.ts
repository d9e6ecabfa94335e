import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { TransportError } from "./transport.ts";

export interface ForwardProxy {
  /** The variable that names it, for messages: its value may hold a password. */
  readonly variable: string;
  readonly url: URL;
  /** `Proxy-Authorization`, from user and password in the address. */
  readonly authorization: string | undefined;
}

/** Never behind a proxy, whatever the environment says [S2-59]: nobody but this machine can reach them. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The proxy for an address, from the variables that most programs read: `https_proxy` or `http_proxy` by the scheme of
 * the address, else `all_proxy`; none for hosts in `no_proxy`. Each in either case, lower case first. Throws a
 * TransportError when the variable's value cannot be used, rather than going past the proxy unasked.
 */
export function proxyFor(target: URL, env: NodeJS.ProcessEnv): ForwardProxy | undefined {
  if (LOOPBACK.test(target.hostname)) return undefined;
  const lower = [`${target.protocol.slice(0, -1)}_proxy`, "all_proxy"];
  const variable = lower.flatMap((name) => [name, name.toUpperCase()]).find((name) => env[name]?.trim());
  if (variable === undefined) return undefined;
  if (isExempt(target, env.no_proxy || env.NO_PROXY || "")) return undefined;

  const written = env[variable]?.trim() ?? "";
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`;
  if (!URL.canParse(address)) throw unusable(variable, "its value is not an address");
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol)) throw unusable(variable, `${url.protocol}// proxies are not supported`);
  return { variable, url, authorization: basicCredentials(url) };
}

/** User and password of an address as RFC 7617 has them sent, if there are any. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`;
}

function unusable(variable: string, why: string): TransportError {
  const message = `the proxy in ${variable} cannot be used (${why}). Correct it, or name the server's host in NO_PROXY`;
  return new TransportError("unreachable", message, "not-sent");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Items, between commas or blanks: `*`, a host (with all below it), `.host`, `*.host`, an address, a network; each with a port or without. */
function isExempt(target: URL, list: string): boolean {
  const host = target.hostname.replace(/^\[|\]$/g, "");
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((item) => item !== "")
    .some((item) => {
      if (item === "*") return true;
      const [, name = "", only = port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(item) ?? [item, item];
      if (only !== port) return false;
      const bare = name.replace(/^\*?\.|^\[|\]$/g, "");
      return host === bare || (isIP(host) ? isInNetwork(host, bare) : host.endsWith(`.${bare}`));
    });
}

/** `10.0.0.0/8`, `fd00::/8`. */
function isInNetwork(address: string, network: string): boolean {
  const [base = "", length] = network.split("/");
  const bits = Number(length);
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const known = family === "ipv4" ? isIPv4(base) : isIPv6(base);
  if (!known || !length || !(bits >= 0 && bits <= (family === "ipv4" ? 32 : 128))) return false;
  const list = new BlockList();
  list.addSubnet(base, bits, family);
  return list.check(address, family);
}
