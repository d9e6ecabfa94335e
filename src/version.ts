import packageJson from "../package.json" with { type: "json" };

/** The product as servers see it in `clientInfo`. */
export const CLIENT_INFO = { name: packageJson.name, version: packageJson.version } as const;

/** Revisions of the protocol with the `initialize` handshake, newest first. 2024-10-07 is what the first SDKs still offer. */
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** Those without one. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];
