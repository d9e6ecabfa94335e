import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomUUID,
  sign,
} from "node:crypto";

/** Proofs that we hold the key tokens are bound to (RFC 9449). */
export interface Dpop {
  /** The private key, to be stored with the tokens. */
  readonly key: JsonWebKey;
  /** A proof for one request, never used again. */
  proof(method: string, url: URL, accessToken?: string): string;
  /** Remembers the nonce a server has given, for that server. Whether it is another one than before. */
  takeNonce(url: URL, nonce: string | undefined): boolean;
}

/** With a stored key, or a new one. ES256, which every implementation has. */
export function createDpop(stored?: JsonWebKey): Dpop {
  const privateKey = stored
    ? createPrivateKey({ key: stored, format: "jwk" })
    : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: "jwk" });
  const nonces = new Map<string, string>();
  return {
    key: stored ?? privateKey.export({ format: "jwk" }),
    proof(method, url, accessToken) {
      const nonce = nonces.get(url.origin);
      const header = { typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } };
      const payload = {
        jti: randomUUID(),
        htm: method,
        htu: `${url.origin}${url.pathname}`,
        iat: Math.floor(Date.now() / 1000),
        ...(nonce !== undefined && { nonce }),
        ...(accessToken !== undefined && { ath: createHash("sha256").update(accessToken).digest("base64url") }),
      };
      const text = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    },
    takeNonce(url, nonce) {
      if (!nonce || nonces.get(url.origin) === nonce) return false;
      nonces.set(url.origin, nonce);
      return true;
    },
  };
}
