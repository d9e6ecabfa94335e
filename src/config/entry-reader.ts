import type { Entry, Field } from "./entries.ts";
import { fieldsOf } from "./entries.ts";
import { type JsonNode, positionOf } from "./json-file.ts";
import { FIELD_ALIASES } from "./known-fields.ts";
import { quote } from "./problems.ts";
import type { ConfigProblem } from "./record.ts";
import { trimHidden } from "./white-space.ts";

/**
 * Reads one entry's fields by kind. A field of the wrong kind is reported at its place and read as absent; `failed`
 * tells afterwards whether the entry may be used. Messages name fields, never their values.
 */
export interface EntryReader {
  readonly failed: boolean;
  has(field: string): boolean;
  /** The field as it is, for a reader that judges its kind itself. */
  field(field: string): Field | undefined;
  /** A string without the white space around it, which is reported; `undefined` when absent or blank. */
  text(field: string): string | undefined;
  /** A string as `text` gives it, or a list of strings whose first one must not be blank; empty when absent or blank. */
  words(field: string): readonly string[];
  /** A list of strings, taken to the letter. */
  texts(field: string): readonly string[];
  /** An object of strings; numbers and booleans count as the text they are written as. Values are taken to the letter. */
  textMap(field: string): ReadonlyMap<string, MapItem>;
  boolean(field: string): boolean | undefined;
  isBoolean(field: string): boolean;
  isList(field: string): boolean;
  /** Whether the field is that very value; anything else is no. */
  is(field: string, value: boolean | string): boolean;
  /** A number above zero. */
  positive(field: string): number | undefined;
  /** A field's name as the person wrote it, which may be another spelling of it. */
  written(field: string): string;
  /** Reports at the field, or at the entry when it has none of that name. */
  error(field: string | undefined, message: string): void;
  errorAt(field: Field, message: string): void;
  warning(field: string | undefined, message: string): void;
  warningAt(field: Field, message: string): void;
  /** Reports at the name of the field instead of its value. */
  warningAtKey(field: Field, message: string): void;
}

export interface MapItem {
  readonly field: Field;
  readonly value: string;
}

export function createEntryReader(entry: Entry, problems: ConfigProblem[]): EntryReader {
  const fields: ReadonlyMap<string, Field> = entry.fields ?? new Map();
  let failed = entry.fields === undefined;

  function report(severity: ConfigProblem["severity"], field: Field | undefined, message: string): void {
    if (severity === "error") failed = true;
    const position = field === undefined ? entry.source : positionOf(field.document, field.value);
    problems.push({ ...position, severity, server: entry.name, message: `Server ${quote(entry.name)}: ${message}` });
  }

  /** The field, if its value is of that kind. */
  function typed(name: string, type: JsonNode["type"], wanted: string): Field | undefined {
    const field = fields.get(name);
    if (field === undefined || field.value.type === type) return field;
    report("error", field, `"${nameIn(field, name)}" must be ${wanted}, not ${kindOf(field.value)}.`);
    return undefined;
  }

  function text(name: string): string | undefined {
    const field = typed(name, "string", "a string");
    if (field === undefined) return undefined;
    const written = String(field.value.value);
    const text = trimHidden(written);
    if (text === "") return undefined;
    if (text !== written) report("warning", field, `white space around "${nameIn(field, name)}" was ignored.`);
    return text;
  }

  function texts(name: string): string[] {
    const field = typed(name, "array", "an array of strings");
    const texts: string[] = [];
    for (const [index, item] of (field?.value.children ?? []).entries()) {
      if (item.type === "string") texts.push(String(item.value));
      else if (field !== undefined) {
        const place = `${nameIn(field, name)}[${index}]`;
        report("error", { ...field, value: item }, `"${place}" must be a string, not ${kindOf(item)}.`);
      }
    }
    return texts;
  }

  return {
    get failed() {
      return failed;
    },
    has: (name) => fields.has(name),
    field: (name) => fields.get(name),
    text,
    words(name) {
      const field = fields.get(name);
      if (field?.value.type !== "array") {
        const word = text(name);
        return word === undefined ? [] : [word];
      }
      const words = texts(name);
      const first = trimHidden(words[0] ?? "");
      if (first === "" && !failed) report("error", field, `"${nameIn(field, name)}" names no program.`);
      return first === "" ? [] : [first, ...words.slice(1)];
    },
    texts,
    textMap(name) {
      const map = new Map<string, MapItem>();
      const object = typed(name, "object", "an object of strings");
      if (object === undefined) return map;
      for (const [written, field] of fieldsOf(object.document, object.value)) {
        const key = trimHidden(written);
        const value = textOf(field);
        if (value === undefined) {
          report(
            "error",
            field,
            `the value of ${quote(key)} in "${name}" must be a string, not ${kindOf(field.value)}.`,
          );
          continue;
        }
        if (key !== written)
          report("warning", field, `white space around the name ${quote(key)} in "${name}" was ignored.`);
        map.set(key, { field, value });
      }
      return map;
    },
    boolean(name) {
      return typed(name, "boolean", "true or false")?.value.value;
    },
    isBoolean: (name) => fields.get(name)?.value.type === "boolean",
    isList: (name) => fields.get(name)?.value.type === "array",
    is: (name, value) => fields.get(name)?.value.value === value,
    positive(name) {
      const field = typed(name, "number", "a number");
      if (field === undefined) return undefined;
      const value = Number(field.value.value);
      if (value > 0 && Number.isFinite(value)) return value;
      report("error", field, `"${name}" must be a number above zero.`);
      return undefined;
    },
    written: (name) => {
      const field = fields.get(name);
      return field === undefined ? name : nameIn(field, name);
    },
    error: (name, message) => report("error", name === undefined ? undefined : fields.get(name), message),
    errorAt: (field, message) => report("error", field, message),
    warning: (name, message) => report("warning", name === undefined ? undefined : fields.get(name), message),
    warningAt: (field, message) => report("warning", field, message),
    warningAtKey: (field, message) => report("warning", { ...field, value: field.key }, message),
  };
}

/** A field's name as the person wrote it, which may be another spelling of it. */
function nameIn(field: Field, name: string): string {
  const written = String(field.key.value);
  return FIELD_ALIASES.has(written) ? written : name;
}

/** A scalar as the person wrote it: `1.10` stays `1.10`. A file that is no JSON has no such text. */
function textOf({ document, value }: Field): string | undefined {
  if (value.type === "string") return String(value.value);
  if (value.type !== "number" && value.type !== "boolean") return undefined;
  return value.length === 0 ? String(value.value) : document.text.slice(value.offset, value.offset + value.length);
}

export function kindOf(node: JsonNode): string {
  switch (node.type) {
    case "array":
      return "an array";
    case "object":
      return "an object";
    case "null":
      return "null";
    case "boolean":
      return "true or false";
    default:
      return `a ${node.type}`;
  }
}
