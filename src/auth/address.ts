import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { AuthError } from "./error.ts";

/**
 * How far away an address is. `special` (link-local, where clouds have their metadata, multicast, reserved) is nobody's
 * server.
 */
export type Reach = "loopback" | "private" | "public" | "special";

const LOOPBACK = blockList(["127.0.0.0/8", "::1/128"]);
const PRIVATE = blockList(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]);
const SPECIAL = blockList([
  ...["0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ...["::/128", "fe80::/10", "fec0::/10", "ff00::/8", "2002::/16"],
]);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/** Of an IP address, without brackets. An IPv4 address in the clothes of IPv6 is what it is inside. */
export function reachOfAddress(address: string): Reach {
  const plain = address.replace(/%.*$/, "");
  const family = isIP(plain);
  if (family === 0) return "special";
  const embedded = ipv4Behind(plain);
  if (embedded !== undefined) return reachOfAddress(embedded);
  const kind = family === 6 ? "ipv6" : "ipv4";
  // A BlockList sees through `::ffff:a.b.c.d` itself.
  if (LOOPBACK.check(plain, kind)) return "loopback";
  if (PRIVATE.check(plain, kind)) return "private";
  return SPECIAL.check(plain, kind) ? "special" : "public";
}

/** The IPv4 address that a network of IPv6 alone has under another name (RFC 6052), which is how it reaches all of them. */
function ipv4Behind(address: string): string | undefined {
  const [, high = "0", low] = /^64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/i.exec(address) ?? [];
  if (low === undefined) return address.toLowerCase().startsWith("64:ff9b:") ? "0.0.0.0" : undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

/** Of a host by its name alone; undefined for a name that has to be looked up. */
function reachOfName(host: string): Reach | undefined {
  const bare = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  if (isIP(bare) !== 0) return reachOfAddress(bare);
  return bare === "localhost" || bare.endsWith(".localhost") ? "loopback" : undefined;
}

/**
 * Which addresses a server may send us to: one on this machine to any but special ones, one of a private network to that
 * and to public ones, a public one to public ones only. (MCP security best practices, server-side request forgery.)
 */
export type Admission = (reach: Reach) => boolean;

export async function admissionOf(server: URL): Promise<Admission> {
  const reach = reachOfName(server.hostname) ?? (await lookedUp(server.hostname));
  if (reach === "loopback") return (other) => other !== "special";
  if (reach === "private") return (other) => other === "private" || other === "public";
  return (other) => other === "public";
}

/** Behind a proxy names may not be known here; then nothing private is known of it either. */
async function lookedUp(host: string): Promise<Reach> {
  try {
    const [first] = await lookup(host, { all: true });
    return first === undefined ? "public" : reachOfAddress(first.address);
  } catch {
    return "public";
  }
}

/**
 * An address somebody else has named, as one that may be used: https (http on this machine alone), no user in it, not an
 * address the server has no business with. A name is judged once more where it is connected to.
 */
export function safeUrl(text: unknown, what: string, admits: Admission): URL {
  if (typeof text !== "string" || !URL.canParse(text)) throw refused(what, "is no complete address");
  const url = new URL(text);
  const reach = reachOfName(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && reach === "loopback")) {
    throw refused(what, "is not an https address");
  }
  if (url.username !== "" || url.password !== "") throw refused(what, "holds a user or a password");
  if (reach !== undefined && !admits(reach)) throw refused(what, `lies at ${PLACES[reach]}`);
  return url;
}

const PLACES: Readonly<Record<Reach, string>> = {
  loopback: "an address of this computer",
  private: "an address of a private network",
  public: "a public address",
  special: "an address that is reserved",
};

function refused(what: string, why: string): AuthError {
  return new AuthError("refused", `${what} ${why}, so it is not used`);
}
