import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate and its key, in PEM form. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** What must be trusted for its identities to be. */
  readonly cert: string;
  /** An identity for these host names and IPv4 addresses. */
  issue(...names: string[]): Identity;
}

/** An authority nobody knows but the test that made it. */
export function certificateAuthority(): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = `Test authority ${randomBytes(4).toString("hex")}`;
  const certify = (subject: string, key: KeyObject, extensions: Buffer[]): string =>
    certificate({ issuer: name, subject, publicKey: key, extensions, signer: privateKey });
  return {
    cert: certify(name, publicKey, [extension(BASIC_CONSTRAINTS, sequence(tlv(0x01, Buffer.from([0xff]))))]),
    issue: (...names) => {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const cert = certify(names[0] ?? "nobody", own.publicKey, [extension(SUBJECT_ALT_NAME, alternatives(names))]);
      return { cert, key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    },
  };
}

/** X.509 version 3 (RFC 5280), signed with ECDSA and SHA-256; valid for decades. */
function certificate(of: {
  issuer: string;
  subject: string;
  publicKey: KeyObject;
  extensions: Buffer[];
  signer: KeyObject;
}): string {
  const key = of.publicKey.export({ type: "spki", format: "der" });
  const serial = Buffer.concat([Buffer.from([1]), createHash("sha256").update(key).digest().subarray(0, 8)]);
  const validity = sequence(tlv(0x17, Buffer.from("200101000000Z")), tlv(0x17, Buffer.from("491231235959Z")));
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    ECDSA_SHA256,
    nameOf(of.issuer),
    validity,
    nameOf(of.subject),
    key,
    tlv(0xa3, sequence(...of.extensions)),
  );
  const signature = tlv(0x03, Buffer.from([0]), sign("sha256", body, of.signer));
  const lines =
    sequence(body, ECDSA_SHA256, signature)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Tag, length, value: DER. */
function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const size = value.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, ...parts);
}

function identifier(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, "hex"));
}

const ECDSA_SHA256 = sequence(identifier("2a8648ce3d040302"));
const COMMON_NAME = identifier("550403");
const SUBJECT_ALT_NAME = identifier("551d11");
const BASIC_CONSTRAINTS = identifier("551d13");

function extension(id: Buffer, value: Buffer): Buffer {
  return sequence(id, tlv(0x04, value));
}

function nameOf(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(commonName)))));
}

function alternatives(names: string[]): Buffer {
  const entries = names.map((name) =>
    isIP(name) ? tlv(0x87, Buffer.from(name.split(".").map(Number))) : tlv(0x82, Buffer.from(name)),
  );
  return sequence(...entries);
}
