import type { EntryReader } from "./entry-reader.ts";
import { quote } from "./problems.ts";
import { isCommandValue, isVariableName, type VariableForms } from "./variables.ts";
import { trimHidden } from "./white-space.ts";

/** RFC 9110 section 5.6.2, token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 9110 section 5.5: visible characters, spaces, tabs, and bytes above them; no line break. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The headers of an entry: those written out, those whose values are variables by name (`env_http_headers`), and the
 * `Authorization` that `bearerToken` or `bearerTokenEnv` stands for. A header that is written out wins.
 */
export function readHeaders(reader: EntryReader, forms: VariableForms): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, { field, value: written }] of reader.textMap("headers")) {
    const value = trimHidden(written);
    if (value !== written) reader.warningAt(field, `white space around the header ${quote(name)} was ignored.`);
    if (!HEADER_NAME.test(name)) reader.errorAt(field, `${quote(name)} in "headers" cannot be the name of a header.`);
    if (!HEADER_VALUE.test(value)) {
      reader.errorAt(
        field,
        `the header ${quote(name)} holds a line break or another character that headers cannot carry.`,
      );
    }
    if (isCommandValue(value, forms)) reader.warningAt(field, commandWarning(name));
    headers.set(name, value);
  }
  const has = (name: string) => [...headers.keys()].some((each) => each.toLowerCase() === name.toLowerCase());
  for (const [name, { field, value }] of reader.textMap("env_http_headers")) {
    if (!HEADER_NAME.test(name)) {
      reader.errorAt(field, `${quote(name)} in "env_http_headers" cannot be the name of a header.`);
    } else if (!isVariableName(value)) {
      reader.errorAt(field, `the value of ${quote(name)} in "env_http_headers" must be the name of a variable.`);
    } else if (!has(name)) headers.set(name, `\${${value}}`);
  }
  const bearer = readBearer(reader, forms);
  if (bearer === undefined) return Object.fromEntries(headers);
  if (has("authorization")) {
    reader.warning(bearer.field, `"${bearer.field}" is not used, because there is a header "Authorization" as well.`);
  } else headers.set("Authorization", bearer.value);
  return Object.fromEntries(headers);
}

/** The `Authorization` (RFC 6750 section 2.1); of the two fields the token itself wins. */
function readBearer(reader: EntryReader, forms: VariableForms): { field: string; value: string } | undefined {
  const token = reader.text("bearerToken");
  const variable = reader.text("bearerTokenEnv");
  if (variable !== undefined && !isVariableName(variable)) {
    // Not quoted: it may be the token itself.
    reader.error("bearerTokenEnv", '"bearerTokenEnv" must be the name of a variable, without a dollar sign.');
  }
  if (token !== undefined) {
    if (!HEADER_VALUE.test(token)) {
      reader.error("bearerToken", '"bearerToken" holds a line break or another character that headers cannot carry.');
    }
    // A command stays one, so that it is refused when the server is started.
    if (isCommandValue(token, forms)) {
      reader.warning("bearerToken", commandWarning("bearerToken"));
      return { field: "bearerToken", value: token };
    }
    return { field: "bearerToken", value: `Bearer ${token}` };
  }
  return variable === undefined ? undefined : { field: "bearerTokenEnv", value: `Bearer \${${variable}}` };
}

/** For a value that begins with `!`, where that means a command. */
export function commandWarning(name: string): string {
  return `the value of ${quote(name)} is a command, and commands are not run, so this server cannot be started. Name a variable instead ("\${NAME}"), or write "$!" for an exclamation mark.`;
}
