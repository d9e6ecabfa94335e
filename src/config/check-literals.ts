import { type Field, fieldsOf } from "./entries.ts";
import type { EntryReader } from "./entry-reader.ts";
import type { JsonNode } from "./json-file.ts";
import { quote } from "./problems.ts";
import { commandOf, variablesNotIn } from "./variables.ts";

/** Fields in whose values variables are filled in. */
const FIELDS = ["command", "args", "cwd", "env", "url", "headers", "bearerToken", "ca", "cert", "key"];

/** Those whose values may be commands, in files that have such. */
const COMMAND_FIELDS: ReadonlySet<string> = new Set(["env", "headers", "bearerToken"]);

/**
 * Warns where a file that knows `$NAME` and `${NAME}` alone has what an mcp.json would replace: there it is text, which is
 * rarely meant. Names the form and no more, since the rest may be a secret.
 */
export function checkLiterals(fields: ReadonlyMap<string, Field>, reader: EntryReader): void {
  for (const name of FIELDS) {
    const field = fields.get(name);
    for (const { value, label } of field === undefined ? [] : textsIn(field, name)) {
      const at = { ...field, value } as Field;
      const text = String(value.value);
      if (COMMAND_FIELDS.has(name) && commandOf(text, "all") !== undefined) {
        reader.warningAt(
          at,
          `${label} begins with "!", which means a command in an mcp.json alone; here it is sent as it is. Name a variable instead ("\${NAME}").`,
        );
      }
      const [written] = variablesNotIn(text, "plain");
      if (written !== undefined) {
        reader.warningAt(
          at,
          `${label} has ${quote(written)}, which is filled in in an mcp.json alone; here it is text. Write "\${NAME}".`,
        );
      }
    }
  }
}

function textsIn({ document, value }: Field, name: string): { value: JsonNode; label: string }[] {
  if (value.type === "string") return [{ value, label: `"${name}"` }];
  if (value.type === "array") {
    return (value.children ?? []).flatMap((item, index) =>
      item.type === "string" ? [{ value: item, label: `"${name}[${index}]"` }] : [],
    );
  }
  return [...fieldsOf(document, value)].flatMap(([key, { value: item }]) =>
    item.type === "string" ? [{ value: item, label: `the value of ${quote(key)} in "${name}"` }] : [],
  );
}
