import type { ConfigLayer, ServerConfig, ServerTarget } from "./record.ts";
import { argSecrets, isKeyInPath, looksSecret, mapAddresses, queryItems, splitUrl } from "./secrets.ts";
import { isVariable } from "./variables.ts";

/** Stands for what is not shown. */
export const MASK = "***";

export const LAYER_NAMES: Readonly<Record<ConfigLayer, string>> = {
  own: "your file",
  project: "file of the project",
  environment: "variable",
  editor: "editor",
  flag: "command line",
  extension: "extension",
};

/** Of a server whose fields come from more than one place, a line for each place: which of them stands where. */
export function describePlaces(fields: ServerConfig["fields"]): string[] {
  const places = new Map<string, string[]>();
  for (const [field, { layer, file, line, column }] of Object.entries(fields)) {
    const place = `${file} (${LAYER_NAMES[layer]})`;
    places.set(place, [...(places.get(place) ?? []), `${field} ${line}:${column}`]);
  }
  return places.size < 2 ? [] : [...places].map(([place, names]) => `from ${place}: ${names.join(", ")}`);
}

/** `stdio: npx -y server`, `http: https://host/mcp`, or the transport alone where the target is not to be shown. */
export function displayServer({ target, policy }: Pick<ServerConfig, "target" | "policy">): string {
  return policy.showTarget ? `${target.kind}: ${displayTarget(target)}` : target.kind;
}

/**
 * A server's command line or address for people, as configured: variables are shown by name, not by value. Masked are
 * an address' user and query values, arguments that are secrets by their name or their looks, and whatever equals a
 * configured environment or header value. It is one line only if the configuration is; a terminal gets it sanitised.
 */
export function displayTarget(target: ServerTarget): string {
  if (target.kind !== "stdio") return maskValues(maskUrl(target.url), target.headers);
  // A whole command line in `command` is a common slip.
  const words = [target.command, ...target.args].map((word, index, all) =>
    maskArg(mapAddresses(word, maskUrl), index > 1 ? all[index - 1] : undefined),
  );
  return words.map((word) => quoteWord(maskValues(word, target.env))).join(" ");
}

export function maskArg(arg: string, before: string | undefined): string {
  let masked = "";
  let at = 0;
  for (const { start, end } of argSecrets(arg, before)) {
    if (start < at || isReference(arg.slice(start, end))) continue;
    masked += arg.slice(at, start) + MASK;
    at = end;
  }
  return masked + arg.slice(at);
}

/** A secret that is only named here is not given away. */
export function isReference(text: string): boolean {
  return isVariable(text.replace(/^bearer\s+/i, ""));
}

export function maskUrl(text: string): string {
  const parts = splitUrl(text);
  if (parts === undefined) return text;
  const user = parts.userinfo === undefined ? "" : `${MASK}@`;
  const query = parts.query === undefined ? "" : `?${maskQuery(parts.query)}`;
  const fragment = parts.fragment === undefined ? "" : `#${MASK}`;
  return (
    parts.start +
    user +
    parts.hostAndPath
      .split("/")
      .map((segment) => (isKeyInPath(segment) ? MASK : segment))
      .join("/") +
    query +
    fragment
  );
}

function maskQuery(query: string): string {
  return queryItems(query)
    .map(({ name, value }) => (name === undefined ? (value === "" ? "" : MASK) : `${name}=${value === "" ? "" : MASK}`))
    .join("&");
}

/** Long values and those of secrets are masked wherever they occur; short ones (`node`, `true`) only as a whole. */
export function maskValues(text: string, values: Readonly<Record<string, string>>): string {
  let masked = text;
  const longestFirst = Object.entries(values).sort(([, a], [, b]) => b.length - a.length);
  for (const [name, value] of longestFirst) {
    if (isReference(value)) continue;
    if (value.length >= 8 || (value !== "" && looksSecret(name))) masked = masked.replaceAll(value, MASK);
    else if (value.length >= 4 && (masked === value || masked.endsWith(`=${value}`))) {
      masked = masked.slice(0, -value.length) + MASK;
    }
  }
  return masked;
}

/** Words with blanks or quotes in them are quoted, so that one argument is seen to be one. */
function quoteWord(word: string): string {
  return /^[^\s"'`\\\p{Cc}]+$/u.test(word) ? word : JSON.stringify(word);
}
