import type { ServerConfig } from "./record.ts";

/** Whether a 401 of the server means that one has to sign in [S3-32, S3-33, S3-63]. */
export function maySignIn(config: ServerConfig): boolean {
  return config.target.kind !== "stdio" && config.oauth !== false && !hasOwnAuthorization(config);
}

/** Whether its entry says what its `Authorization` header is; a program that writes headers may, unless `oauth` is there too. */
export function hasOwnAuthorization({ target, oauth }: ServerConfig): boolean {
  if (target.kind === "stdio") return false;
  if (target.headersCommand && !oauth) return true;
  const names = Object.keys(target.headers).map((name) => name.toLowerCase());
  const hasUser = /^[a-z]+:\/\/[^/?#]*@/i.test(target.url);
  return names.includes("authorization") || target.bearerCommand !== undefined || hasUser;
}
