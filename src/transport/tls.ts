import { readFile } from "node:fs/promises";
import tls from "node:tls";
import { codeOf } from "./http-failure.ts";
import { TransportError } from "./transport.ts";

/** Files in PEM form. */
export interface TlsFiles {
  /** Authorities to trust beside the usual ones. */
  readonly ca?: string | undefined;
  /** The certificate that says who we are, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Variables that name a file of more authorities. Node reads the first, but at its own start and in its own environment. */
const CA_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];

/**
 * What connections trust and show, or undefined where that is what Node does by itself [E088]. The usual authorities stay
 * trusted. A file of the configuration that cannot be used is an error; one that only a variable names is passed over, as
 * Node does: the variable was set for all programs and not for this server.
 */
export async function secureContextOf(files: TlsFiles, env: NodeJS.ProcessEnv): Promise<tls.SecureContext | undefined> {
  const named = CA_VARIABLES.flatMap((variable) => env[variable] || []);
  // One after the other, so that of several faults the same one is always told.
  const ca = await readPem(files, "ca");
  const cert = await readPem(files, "cert");
  const key = await readPem(files, "key");
  const inherited = await Promise.all(named.map((file) => readFile(file, "utf8").catch(() => "")));
  const extra = [ca ?? "", ...inherited].filter((text) => text !== "");
  if (extra.length === 0 && cert === undefined && key === undefined) return undefined;
  try {
    return tls.createSecureContext({
      ...(extra.length > 0 && { ca: [...usualAuthorities(), ...extra] }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    });
  } catch (error) {
    throw unusable("its `ca`, `cert` and `key` files do not hold what TLS needs", error);
  }
}

/** Since Node 22.15 one can ask which authorities are trusted; with an option of Node's those of the system are among them. */
function usualAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?(type: "default"): string[] };
  return getCACertificates?.("default") ?? tls.rootCertificates;
}

async function readPem(files: TlsFiles, field: keyof TlsFiles): Promise<string | undefined> {
  const file = files[field];
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw unusable(`its \`${field}\` file cannot be read`, error);
  });
  // Node takes a file without any certificate in silence.
  if (!text.includes("-----BEGIN ")) throw unusable(`its \`${field}\` file is not in PEM form`);
  return text;
}

function unusable(what: string, cause?: unknown): TransportError {
  const code = codeOf(cause);
  return new TransportError("unreachable", code === "" ? what : `${what} (${code})`, "not-sent", { cause });
}
