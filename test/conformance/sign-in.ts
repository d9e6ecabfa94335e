import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ORIGINS } from "../../src/config/origins.ts";
import type { HttpTarget, OAuthSettings } from "../../src/config/record.ts";
import { Authorization } from "../../src/server/authorization.ts";
import type { HttpAuth } from "../../src/transport/http-auth.ts";

/** What the suite tells of a scenario, as far as it is about signing in. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
  readonly valid_jwt?: string;
}

/** Scenarios in which signing in must not succeed. */
const REFUSALS = new Set([
  "auth/resource-mismatch",
  "auth/metadata-issuer-mismatch",
  "auth/iss-supported-missing",
  "auth/iss-wrong-issuer",
  "auth/iss-unexpected",
  "auth/iss-normalized",
  "auth/scope-retry-limit",
]);

export function mustRefuse(scenario: string): boolean {
  return REFUSALS.has(scenario);
}

/** Published where no scenario looks: it stands for the address a person would configure. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";

/** The `oauth` a person would write for the scenario. */
function settingsOf(scenario: string, context: Context): OAuthSettings {
  const client = {
    ...(context.client_id !== undefined && { clientId: context.client_id }),
    ...(context.client_secret !== undefined && { clientSecret: context.client_secret }),
  };
  if (scenario.startsWith("auth/client-credentials")) {
    return {
      ...client,
      grantType: "client_credentials",
      ...(context.private_key_pem !== undefined && { privateKey: context.private_key_pem }),
      ...(context.signing_algorithm !== undefined && { signingAlgorithm: context.signing_algorithm }),
    };
  }
  if (context.idp_id_token !== undefined) {
    return {
      ...client,
      grantType: "id-jag",
      idpIdToken: context.idp_id_token,
      idpClientId: context.idp_client_id ?? "",
      idpTokenEndpoint: context.idp_token_endpoint ?? "",
    };
  }
  if (context.valid_jwt !== undefined) return { ...client, grantType: "jwt-bearer", assertion: context.valid_jwt };
  return { ...client, ...(scenario === "auth/basic-cimd" && { clientMetadataUrl: CLIENT_METADATA_URL }) };
}

/** A person who signs in as soon as the server wants it, in a browser without a window. */
export function signsIn(target: HttpTarget, scenario: string): { auth: HttpAuth | undefined; end(): void } {
  const home = mkdtempSync(join(tmpdir(), "pi-mcp-conformance-"));
  const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Context;
  const config = {
    name: "suite",
    origin: "mcpjson",
    source: { file: "suite", line: 1, column: 1 },
    target,
    policy: ORIGINS.mcpjson,
    exposure: "gateway",
    fields: {},
    oauth: settingsOf(scenario, context),
  } as const;
  const authorization = new Authorization(config, { ...process.env, HOME: home }, (flow) => {
    browse(flow.url).catch(() => flow.cancel("the browser met an error"));
  });
  return { auth: authorization.httpAuth(target), end: () => rmSync(home, { recursive: true, force: true }) };
}

/** Goes where it is sent, until it is sent no further. */
async function browse(url: string): Promise<void> {
  const response = await fetch(url);
  await response.text();
}
