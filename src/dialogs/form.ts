import { sanitizeLine } from "../content/sanitize.ts";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";

/**
 * The fields of a form a server asks for: the primitive kinds that the protocol allows, in all spellings of its revisions
 * (2025-06-18 to 2026-07-28, client/elicitation).
 */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** What the server gets when the person leaves it as it is. */
  readonly fallback?: unknown;
  readonly kind: FieldKind;
}

export type FieldKind =
  | { readonly type: "text"; readonly min?: number; readonly max?: number; readonly format?: string }
  | { readonly type: "number"; readonly isWhole: boolean; readonly min?: number; readonly max?: number }
  | { readonly type: "yes-no" }
  | { readonly type: "choice"; readonly options: readonly Option[] }
  | { readonly type: "choices"; readonly options: readonly Option[]; readonly min?: number; readonly max?: number };

export interface Option {
  readonly value: string;
  /** Unlike all others of its field. */
  readonly label: string;
}

/** More of either is no form for a dialog. */
const MAX_FIELDS = 30;
const MAX_OPTIONS = 100;
const LABEL_CHARS = 60;
const DESCRIPTION_CHARS = 300;

/** The fields in their order, or, as a text, what of it cannot be asked for. */
export function readForm(schema: JsonObject): readonly Field[] | string {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length > MAX_FIELDS) return `${properties.length} fields, which is more than ${MAX_FIELDS}`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: Field[] = [];
  for (const [name, property] of properties) {
    const kind = isObject(property) ? kindOf(property) : undefined;
    const label = sanitizeLine(
      isObject(property) && typeof property.title === "string" ? property.title : name,
      LABEL_CHARS,
    );
    if (kind === undefined || !isObject(property)) return `the field "${label}", which is none of the kinds of a form`;
    fields.push({
      name,
      label: label === "" ? "(without a name)" : label,
      description:
        typeof property.description === "string" ? sanitizeLine(property.description, DESCRIPTION_CHARS) : "",
      isRequired: required.includes(name),
      ...(property.default !== undefined && { fallback: property.default }),
      kind,
    });
  }
  return fields;
}

function kindOf(property: JsonObject): FieldKind | undefined {
  const { type } = property;
  if (type === "boolean") return { type: "yes-no" };
  if (type === "number" || type === "integer") {
    return {
      type: "number",
      isWhole: type === "integer",
      ...limit("min", property.minimum),
      ...limit("max", property.maximum),
    };
  }
  if (type === "array") {
    const items = isObject(property.items) ? property.items : {};
    const options = optionsOf(items.enum, items.enumNames, items.anyOf ?? items.oneOf);
    if (options === undefined) return undefined;
    return { type: "choices", options, ...limit("min", property.minItems), ...limit("max", property.maxItems) };
  }
  if (type !== "string" && type !== undefined) return undefined;
  const options = optionsOf(property.enum, property.enumNames, property.oneOf ?? property.anyOf);
  if (options !== undefined) return { type: "choice", options };
  if (property.enum !== undefined || property.oneOf !== undefined || type === undefined) return undefined;
  return {
    type: "text",
    ...limit("min", property.minLength),
    ...limit("max", property.maxLength),
    ...(typeof property.format === "string" && { format: property.format }),
  };
}

function limit<K extends "min" | "max">(key: K, value: unknown): { readonly [P in K]?: number } {
  return (typeof value === "number" ? { [key]: value } : {}) as { readonly [P in K]?: number };
}

/** `enum`, alone or with names beside it, or constants with titles. */
function optionsOf(values: unknown, names: unknown, titled: unknown): readonly Option[] | undefined {
  const pairs: [unknown, unknown][] = Array.isArray(values)
    ? values.map((value, index) => [value, Array.isArray(names) ? names[index] : undefined])
    : Array.isArray(titled)
      ? titled.map((each) => (isObject(each) ? [each.const, each.title] : [undefined, undefined]))
      : [];
  if (pairs.length === 0 || pairs.length > MAX_OPTIONS) return undefined;
  const options: Option[] = [];
  const labels = new Set<string>();
  for (const [value, title] of pairs) {
    if (typeof value !== "string") return undefined;
    const text = sanitizeLine(typeof title === "string" ? title : value, LABEL_CHARS);
    // Two that look alike are told apart by their number.
    const label = text === "" || labels.has(text) ? `${text} (${options.length + 1})`.trim() : text;
    labels.add(label);
    options.push({ value, label });
  }
  return options;
}

/** What was typed, as the value it means, or why it is none. */
export type Checked = { readonly value: unknown } | { readonly problem: string };

/** Of a field that is typed. A pattern is a program of the server's in a dialect it does not name: none is run. */
export function checkTyped(kind: FieldKind & { type: "text" | "number" }, typed: string): Checked {
  if (kind.type === "text") return checkText(kind, typed);
  const { isWhole, min, max } = kind;
  const value = Number(typed.trim());
  if (typed.trim() === "" || !Number.isFinite(value)) return { problem: "It must be a number." };
  if (isWhole && !Number.isSafeInteger(value)) return { problem: "It must be a whole number." };
  if (min !== undefined && value < min) return { problem: `It must not be less than ${min}.` };
  if (max !== undefined && value > max) return { problem: `It must not be more than ${max}.` };
  return { value };
}

function checkText({ min, max, format }: FieldKind & { type: "text" }, typed: string): Checked {
  const length = [...typed].length;
  if (min !== undefined && length < min) return { problem: `It must have at least ${min} characters, not ${length}.` };
  if (max !== undefined && length > max) return { problem: `It must have at most ${max} characters, not ${length}.` };
  const form = format === undefined ? undefined : FORMATS[format];
  return form === undefined || form.fits(typed) ? { value: typed } : { problem: `It must be ${form.words}.` };
}

interface Format {
  readonly words: string;
  fits(text: string): boolean;
}

/** The four that the protocol names; any other is the server's affair. */
const FORMATS: Readonly<Record<string, Format>> = Object.assign(Object.create(null), {
  email: { words: "an e-mail address", fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { words: "a complete address, such as https://example.com/", fits: (text) => URL.canParse(text) },
  date: { words: "a date, such as 2026-01-31", fits: isDate },
  "date-time": {
    words: "a date with a time, such as 2026-01-31T12:00:00Z",
    fits: (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i.test(text) &&
      isDate(text.slice(0, 10)) &&
      !Number.isNaN(Date.parse(text)),
  },
} satisfies Record<string, Format>);

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
}

/** How many of the options may be chosen. */
export function checkChosen({ min, max }: FieldKind & { type: "choices" }, count: number): string | undefined {
  if (min !== undefined && count < min) return `Choose at least ${min}.`;
  if (max !== undefined && count > max) return `Choose at most ${max}.`;
  return undefined;
}

/** What is expected, for the one who types. */
export function describeKind(kind: FieldKind): string {
  const bounds = (unit: string, min?: number, max?: number) =>
    [
      ...(min === undefined ? [] : [`at least ${min}${unit}`]),
      ...(max === undefined ? [] : [`at most ${max}${unit}`]),
    ].join(", ");
  switch (kind.type) {
    case "number":
      return [kind.isWhole ? "a whole number" : "a number", bounds("", kind.min, kind.max)].filter(Boolean).join(", ");
    case "text":
      return [FORMATS[kind.format ?? ""]?.words ?? "", bounds(" characters", kind.min, kind.max)]
        .filter(Boolean)
        .join(", ");
    case "choices":
      return bounds("", kind.min, kind.max);
    default:
      return "";
  }
}
