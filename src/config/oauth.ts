import { isObject } from "../is-object.ts";
import { type Field, fieldsOf } from "./entries.ts";
import { type EntryReader, kindOf } from "./entry-reader.ts";
import { expandHome, personOf } from "./paths.ts";
import type { OAuthSettings, ServerPolicy } from "./record.ts";
import { commandOf, isVariableName, replaceVariables } from "./variables.ts";

/** Fields of `oauth` that are texts and are read as they are. */
const TEXTS = [
  ...["clientId", "clientSecret", "clientMetadataUrl", "scope", "clientName", "clientUri", "redirectUri"],
  ...["authServerMetadataUrl", "tokenEndpointAuthMethod", "privateKey", "signingAlgorithm"],
  ...["assertion", "assertionFile", "idpTokenEndpoint", "idpClientId", "idpClientSecret", "idpIdToken"],
] as const satisfies readonly (keyof OAuthSettings)[];

const SWITCHES = ["dpop", "allowMissingPkce", "allowMissingIssuer"] as const satisfies readonly (keyof OAuthSettings)[];

const GRANTS: Readonly<Record<string, OAuthSettings["grantType"]>> = {
  authorization_code: "authorization_code",
  client_credentials: "client_credentials",
  "jwt-bearer": "jwt-bearer",
  "urn:ietf:params:oauth:grant-type:jwt-bearer": "jwt-bearer",
  "id-jag": "id-jag",
};

/**
 * How an entry says that one signs in, in the words of pi's own client and its adapter: `oauth` is an object of settings, or
 * false for none at all, which `auth: false` and `oauth: {"enabled": false}` mean too.
 */
export function readOAuth(reader: EntryReader, fields: ReadonlyMap<string, Field>): OAuthSettings | false | undefined {
  const field = fields.get("oauth");
  const auth = fields.get("auth");
  if (auth && !["object", "string", "boolean"].includes(auth.value.type)) noEffect(reader, "auth", auth);
  if (auth?.value.value === false) return false;
  if (field === undefined || field.value.value === true) return undefined;
  if (field.value.value === false) return false;
  if (field.value.type !== "object") {
    noEffect(reader, "oauth", field);
    return undefined;
  }
  const within = fieldsOf(field.document, field.value);
  if (within.get("enabled")?.value.value === false) return false;
  return readSettings(reader, within);
}

function noEffect(reader: EntryReader, name: string, field: Field): void {
  reader.warningAt(field, `"${name}" should not be ${kindOf(field.value)}; it has no effect.`);
}

function readSettings(reader: EntryReader, fields: ReadonlyMap<string, Field>): OAuthSettings {
  const settings: { -readonly [name in keyof OAuthSettings]?: OAuthSettings[name] | undefined } = {};
  const text = (name: string): string | undefined => {
    const field = fields.get(name);
    if (field === undefined) return undefined;
    if (field.value.type !== "string") {
      reader.errorAt(field, `"${name}" in "oauth" must be a string, not ${kindOf(field.value)}.`);
      return undefined;
    }
    const value = String(field.value.value).trim();
    if (commandOf(value, "all") !== undefined) {
      reader.errorAt(
        field,
        `"${name}" in "oauth" is a command, which is not run here; name a variable instead ("\${NAME}").`,
      );
    }
    return value === "" ? undefined : value;
  };
  for (const name of TEXTS) {
    const value = text(name);
    if (value !== undefined) settings[name] = value;
  }
  for (const name of SWITCHES) {
    const field = fields.get(name);
    if (field === undefined) continue;
    if (field.value.type === "boolean") settings[name] = field.value.value === true;
    else reader.errorAt(field, `"${name}" in "oauth" must be true or false, not ${kindOf(field.value)}.`);
  }
  settings.redirectUri ??= text("callbackUrl");
  settings.scope ??= scopes(reader, fields.get("scopes"));
  const variable = text("clientSecretEnvVar");
  if (variable !== undefined && isVariableName(variable)) settings.clientSecret ??= `\${${variable}}`;
  const grant = text("grantType");
  if (grant !== undefined) {
    settings.grantType = Object.hasOwn(GRANTS, grant) ? GRANTS[grant] : undefined;
    if (settings.grantType === undefined) {
      const known = Object.keys(GRANTS).filter((name) => !name.includes(":"));
      const list = known.map((name) => `"${name}"`).join(", ");
      reader.errorAt(fields.get("grantType") as Field, `"grantType" in "oauth" must be one of ${list}.`);
    }
  }
  const store = text("credentialStore");
  if (store === "file" || store === "keyring") settings.credentialStore = store;
  else if (store !== undefined) {
    reader.errorAt(fields.get("credentialStore") as Field, '"credentialStore" in "oauth" must be "file" or "keyring".');
  }
  settings.callbackPort = port(reader, fields.get("callbackPort"));
  settings.authorizationParams = parameters(reader, fields.get("authorizationParams") ?? fields.get("authParams"));
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as OAuthSettings;
}

function scopes(reader: EntryReader, field: Field | undefined): string | undefined {
  if (field === undefined) return undefined;
  if (field.value.type === "string") return String(field.value.value);
  const items = field.value.type === "array" ? (field.value.children ?? []) : undefined;
  if (items?.every(({ type }) => type === "string")) return items.map(({ value }) => String(value)).join(" ");
  reader.errorAt(field, '"scopes" in "oauth" must be an array of strings.');
  return undefined;
}

function port(reader: EntryReader, field: Field | undefined): number | undefined {
  if (field === undefined) return undefined;
  const value = Number(field.value.type === "number" ? field.value.value : Number.NaN);
  if (Number.isInteger(value) && value > 0 && value < 65_536) return value;
  reader.errorAt(field, '"callbackPort" in "oauth" must be the number of a port.');
  return undefined;
}

function parameters(reader: EntryReader, field: Field | undefined): Record<string, string> | undefined {
  if (field === undefined) return undefined;
  const entries = field.value.type === "object" ? [...fieldsOf(field.document, field.value)] : undefined;
  if (entries?.every(([, each]) => each.value.type === "string")) {
    return Object.fromEntries(entries.map(([name, each]) => [name, String(each.value.value)]));
  }
  reader.errorAt(field, '"authorizationParams" in "oauth" must be an object of strings.');
  return undefined;
}

/** Files, in which a leading `~` is the home. */
const PATHS: ReadonlySet<string> = new Set(["privateKey", "assertionFile"]);

/** The settings with variables filled in, for use and never for showing. A value that only names unset ones is absent. */
export function expandOAuth(
  settings: OAuthSettings,
  policy: Pick<ServerPolicy, "unsetVariable" | "variableForms">,
  env: NodeJS.ProcessEnv,
): OAuthSettings {
  if (policy.unsetVariable === "literal") return settings;
  const expand = (written: string): string =>
    replaceVariables(written, policy.variableForms, ({ name, written: text, isBare, fallback }) => {
      const value = env[name] || fallback;
      return value ?? (policy.unsetVariable === "empty" && !isBare ? "" : text);
    });
  const values = Object.entries(settings).map(([name, value]: [string, unknown]): [string, unknown] => {
    if (typeof value === "string") {
      const expanded = expand(value);
      const { home } = personOf(env);
      return [name, PATHS.has(name) && value.startsWith("~") ? expandHome(expanded, home) : expanded];
    }
    if (!isObject(value)) return [name, value];
    return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expand(String(each))]))];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}
