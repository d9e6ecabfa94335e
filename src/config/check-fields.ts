import { type Field, fieldsOf } from "./entries.ts";
import { type EntryReader, kindOf } from "./entry-reader.ts";
import { FIELD_ALIASES, KNOWN_FIELDS, OAUTH_FIELDS, SUGGESTED_FIELDS } from "./known-fields.ts";
import { nearest } from "./nearest.ts";
import { quote } from "./problems.ts";

/** An entry with more of them is no server, and nobody reads on. */
const MAX_UNKNOWN = 8;

/** How people keep notes in JSON. */
const NOTE = /^(?:[_$#]|\/\/|x-)/;

/**
 * Warns about fields that have no effect where a person may count on one: unknown ones, those that are there under two
 * names, and some of other programs. None of these costs the server.
 */
export function checkFields(fields: ReadonlyMap<string, Field>, reader: EntryReader): void {
  const unknown: [string, Field][] = [];
  for (const [name, field] of fields) {
    const known = KNOWN_FIELDS.get(name);
    const usual = FIELD_ALIASES.get(name);
    if (usual !== undefined) reader.warningAtKey(field, `"${name}" is not used, because "${usual}" is there as well.`);
    else if (known === undefined) unknown.push([name, field]);
    else if (known.use === "foreign" && known.instead !== undefined) {
      reader.warningAtKey(field, `"${name}" has no effect here; ${known.instead}.`);
    } else if (known.use === "tolerated" && !known.kinds.includes(field.value.type)) {
      reader.warningAt(field, `"${name}" should not be ${kindOf(field.value)}; it has no effect.`);
    }
  }
  reportUnknown(unknown, "", SUGGESTED_FIELDS, reader);
  const oauth = fields.get("oauth");
  if (oauth?.value.type === "object") {
    const within = [...fieldsOf(oauth.document, oauth.value)].filter(([name]) => !OAUTH_FIELDS.includes(name));
    reportUnknown(within, ' in "oauth"', OAUTH_FIELDS, reader);
  }
}

function reportUnknown(
  unknown: readonly [string, Field][],
  where: string,
  candidates: readonly string[],
  reader: EntryReader,
): void {
  const reported = unknown.filter(([name]) => !NOTE.test(name));
  for (const [name, field] of reported.slice(0, MAX_UNKNOWN)) {
    const meant = nearest(name, candidates);
    const rest = meant === undefined ? "and has no effect." : `and has no effect; did you mean "${meant}"?`;
    reader.warningAtKey(field, `${quote(name)}${where} is not known ${rest}`);
  }
  const left = reported[MAX_UNKNOWN];
  if (left !== undefined) {
    const count = reported.length - MAX_UNKNOWN;
    reader.warningAtKey(left[1], `${count} more ${count === 1 ? "field is" : "fields are"} not known.`);
  }
}
