import type { EntryReader, MapItem } from "./entry-reader.ts";
import { quote } from "./problems.ts";
import type { HttpTarget } from "./record.ts";
import { isToken } from "./secrets.ts";
import { commandOf, isVariableName, type VariableForms } from "./variables.ts";
import { trimHidden } from "./white-space.ts";

/** RFC 9110 section 5.6.2, token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 9110 section 5.5: visible characters, spaces, tabs, and bytes above them; no line break. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether a header can carry the text. */
export function isHeaderValue(text: string): boolean {
  return HEADER_VALUE.test(text);
}

/**
 * The headers of an entry: those written out, those whose values are variables by name (`env_http_headers`), and the
 * `Authorization` that `bearerToken` or `bearerTokenEnv` stands for. A header that is written out wins.
 */
export function readHeaders(reader: EntryReader, forms: VariableForms): Pick<HttpTarget, "headers" | "bearerCommand"> {
  const headers = new Map<string, string>();
  for (const [name, { field, value: written }] of reader.textMap("headers")) {
    const value = trimHidden(written);
    if (value !== written) reader.warningAt(field, `white space around the header ${quote(name)} was ignored.`);
    if (!HEADER_NAME.test(name)) reader.errorAt(field, `${quote(name)} in "headers" cannot be the name of a header.`);
    if (!isHeaderValue(value)) {
      reader.errorAt(
        field,
        `the header ${quote(name)} holds a line break or another character that headers cannot carry.`,
      );
    }
    reportEmptyCommand(reader, forms, name, { field, value });
    headers.set(name, value);
  }
  const has = (name: string) => [...headers.keys()].some((each) => each.toLowerCase() === name.toLowerCase());
  for (const [name, { field, value }] of reader.textMap("env_http_headers")) {
    if (!HEADER_NAME.test(name)) {
      reader.errorAt(field, `${quote(name)} in "env_http_headers" cannot be the name of a header.`);
    } else if (!isVariableName(value) || isToken(value)) {
      reader.errorAt(field, `the value of ${quote(name)} in "env_http_headers" must be the name of a variable.`);
    } else if (!has(name)) headers.set(name, `\${${value}}`);
  }
  const bearer = readBearer(reader, forms);
  if (bearer === undefined) return { headers: Object.fromEntries(headers) };
  if (has("authorization")) {
    reader.warning(bearer.field, `"${bearer.field}" is not used, because there is a header "Authorization" as well.`);
  } else if ("command" in bearer) return { headers: Object.fromEntries(headers), bearerCommand: bearer.command };
  else headers.set("Authorization", bearer.value);
  return { headers: Object.fromEntries(headers) };
}

type Bearer = { readonly field: string } & ({ readonly value: string } | { readonly command: string });

/** The `Authorization` (RFC 6750 section 2.1); of the two fields the token itself wins. */
function readBearer(reader: EntryReader, forms: VariableForms): Bearer | undefined {
  const token = reader.text("bearerToken");
  const variable = reader.text("bearerTokenEnv");
  if (variable !== undefined && (!isVariableName(variable) || isToken(variable))) {
    // Not quoted: it may be the token itself.
    reader.error("bearerTokenEnv", '"bearerTokenEnv" must be the name of a variable, without a dollar sign.');
  }
  if (token !== undefined) {
    if (!isHeaderValue(token)) {
      reader.error("bearerToken", '"bearerToken" holds a line break or another character that headers cannot carry.');
    }
    const command = commandOf(token, forms);
    if (command === "") reader.error("bearerToken", `"bearerToken" ${EMPTY_COMMAND}`);
    if (command !== undefined) return { field: "bearerToken", command };
    const written = forms === "all" && token.startsWith("!!") ? token.slice(1) : token;
    return { field: "bearerToken", value: `Bearer ${written}` };
  }
  return variable === undefined ? undefined : { field: "bearerTokenEnv", value: `Bearer \${${variable}}` };
}

const EMPTY_COMMAND = 'begins like a command ("!") and names none; write "$!" for an exclamation mark.';

/** A value of `env` or `headers` that is to be a command names one. */
export function reportEmptyCommand(
  reader: EntryReader,
  forms: VariableForms,
  name: string,
  { field, value }: MapItem,
): void {
  if (commandOf(value, forms) === "") reader.errorAt(field, `the value of ${quote(name)} ${EMPTY_COMMAND}`);
}
