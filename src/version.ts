import packageJson from "../package.json" with { type: "json" };

/** The product as servers see it in `clientInfo`. */
export const CLIENT_INFO = { name: packageJson.name, version: packageJson.version } as const;
