/**
 * What model providers document of the schemas they take for a tool's arguments, or answer to those they do not take, as
 * data, with a validator that refuses whatever the rules do not name. Written from the providers' side: nothing here
 * comes from the product.
 */
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

export type Schema = { readonly [keyword: string]: unknown };

export interface Provider {
  readonly name: string;
  /** Where the rules are from. */
  readonly source: string;
  readonly rules: Rules;
}

interface Rules {
  /** The only keywords there may be; without it, all that JSON Schema has. */
  readonly keywords?: readonly string[];
  readonly forbidden?: readonly string[];
  /** The only keywords at the root. */
  readonly rootKeywords?: readonly string[];
  readonly rootForbidden?: readonly string[];
  readonly propertyName?: RegExp;
  /** Each schema has one type as a string, or is a union. */
  readonly oneType?: true;
  /** Nothing stands beside `anyOf`. */
  readonly anyOfAlone?: true;
  /** Enumerations are lists of texts that are not empty, and belong to strings. */
  readonly stringEnums?: true;
  readonly formats?: Readonly<Record<string, readonly string[]>>;
  /** `required` names properties that are there. */
  readonly requiredIsDefined?: true;
  /** All properties required, nothing else allowed. */
  readonly closed?: true;
  /** Patterns a grammar can be made of. */
  readonly grammarPatterns?: true;
  /** Of `minItems`, `maxLength` and the like. */
  readonly maxRepeat?: number;
  readonly maxLevels?: number;
  readonly maxProperties?: number;
  readonly maxEnumValues?: number;
  readonly maxNameChars?: number;
}

const EVERYWHERE_TYPED = ["type", "description", "title", "enum", "properties", "required", "items", "anyOf"];

export const PROVIDERS: readonly Provider[] = [
  {
    name: "OpenAI functions",
    source: "function calling guide; answers 400 invalid_function_parameters",
    rules: {
      rootForbidden: ["oneOf", "anyOf", "allOf", "enum", "not"],
      forbidden: ["allOf"],
    },
  },
  {
    name: "OpenAI strict",
    source: "structured outputs guide, supported schemas (2026-02)",
    rules: {
      keywords: [
        ...EVERYWHERE_TYPED,
        "additionalProperties",
        "const",
        "$ref",
        "$defs",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
      ],
      rootForbidden: ["anyOf"],
      formats: {
        string: ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
        number: [],
        integer: [],
      },
      closed: true,
      requiredIsDefined: true,
      maxLevels: 10,
      maxProperties: 5_000,
      maxEnumValues: 1_000,
      maxNameChars: 120_000,
    },
  },
  {
    name: "Anthropic",
    source: "tool use guide; custom tools of managed agents; answers 400 input_schema",
    rules: {
      rootForbidden: ["oneOf", "anyOf", "allOf"],
      forbidden: ["$ref", "$dynamicRef", "$recursiveRef"],
      propertyName: /^[a-zA-Z0-9_.-]{1,64}$/,
    },
  },
  {
    name: "Gemini",
    source: "API reference of Schema; answers 400 GenerateContentRequest.tools",
    rules: {
      keywords: [
        ...EVERYWHERE_TYPED,
        "format",
        "nullable",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "example",
        "propertyOrdering",
        "default",
        "minimum",
        "maximum",
      ],
      oneType: true,
      anyOfAlone: true,
      stringEnums: true,
      formats: { string: ["enum", "date-time"], number: ["float", "double"], integer: ["int32", "int64"] },
      requiredIsDefined: true,
    },
  },
  {
    name: "Bedrock",
    source: "Amazon Nova user guide, tool use: three fields at the top level; Converse answers for Claude and Nova",
    rules: {
      rootKeywords: ["type", "properties", "required"],
      forbidden: ["$ref", "oneOf"],
      propertyName: /^[a-zA-Z0-9_.-]{1,64}$/,
    },
  },
  {
    name: "OpenAI-compatible local servers",
    source: "llama.cpp json-schema-to-grammar, vLLM with xgrammar: unsupported keywords, answers 400",
    rules: {
      keywords: [
        ...EVERYWHERE_TYPED,
        "format",
        "const",
        "pattern",
        "additionalProperties",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
      ],
      oneType: true,
      formats: { string: ["date", "time", "date-time", "uuid"], number: [], integer: [] },
      grammarPatterns: true,
      maxRepeat: 2_000,
    },
  },
];

/** How a host asks for strict mode: it closes every object and makes what was optional nullable, as the guide says. */
function strictForm(schema: Schema): Schema {
  if (!isSchema(schema)) return schema;
  const closed: Record<string, unknown> = { ...schema };
  if (Array.isArray(schema.anyOf)) closed.anyOf = schema.anyOf.map((branch) => strictForm(branch as Schema));
  if (isSchema(schema.items)) closed.items = strictForm(schema.items);
  if (schema.type !== "object") return closed;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = (schema.required ?? []) as string[];
  if (schema.properties === undefined) return closed;
  closed.properties = Object.fromEntries(
    properties.map(([name, part]) => {
      const strict = strictForm(part);
      return [name, required.includes(name) ? strict : { anyOf: [strict, { type: "null" }] }];
    }),
  );
  return { ...closed, required: properties.map(([name]) => name), additionalProperties: false };
}

const META = [
  new Ajv2020({ strict: false, validateFormats: false }),
  new Ajv({ strict: false, validateFormats: false }),
];

/** Every breach of a provider's rules, each with its place. Empty: the provider takes the schema. */
export function breaches({ name, rules }: Provider, given: Schema): string[] {
  const schema = rules.closed ? strictForm(given) : given;
  const found: string[] = [];
  for (const meta of META) if (!meta.validateSchema(schema)) found.push(`no schema: ${meta.errorsText(meta.errors)}`);
  const totals = { properties: 0, enumValues: 0, nameChars: 0 };
  const say = (place: string, what: string) => found.push(`${name}: ${place}: ${what}`);
  if (schema.type !== "object") say("root", "is no object");
  for (const keyword of Object.keys(schema)) {
    if (rules.rootForbidden?.includes(keyword)) say("root", `${keyword} at the top level`);
    if (rules.rootKeywords && !rules.rootKeywords.includes(keyword)) say("root", `${keyword} at the top level`);
  }
  visit(schema, "root", 1);
  if (totals.properties > (rules.maxProperties ?? Infinity)) say("all", `${totals.properties} properties`);
  if (totals.enumValues > (rules.maxEnumValues ?? Infinity)) say("all", `${totals.enumValues} values`);
  if (totals.nameChars > (rules.maxNameChars ?? Infinity)) say("all", `${totals.nameChars} characters of names`);
  return found;

  function visit(part: unknown, place: string, level: number): void {
    if (!isSchema(part)) return void say(place, "is no object");
    for (const keyword of Object.keys(part)) {
      if (rules.keywords && !rules.keywords.includes(keyword)) say(place, `unknown keyword ${keyword}`);
      if (rules.forbidden?.includes(keyword)) say(place, `${keyword} is not supported`);
    }
    checkType(part, place);
    checkValues(part, place);
    if (level > (rules.maxLevels ?? Infinity)) say(place, `level ${level}`);
    if (part.type === "object") checkObject(part, place, level);
    else {
      for (const keyword of ["properties", "required"]) {
        if (part[keyword] !== undefined) say(place, `${keyword}: only allowed for OBJECT type`);
      }
    }
    if (part.type === "array") {
      if (part.items === undefined) say(place, "array schema missing items");
      else visit(part.items, `${place}[]`, level + 1);
    } else if (part.items !== undefined) say(place, "items: only allowed for ARRAY type");
    if (Array.isArray(part.anyOf)) {
      if (rules.anyOfAlone && Object.keys(part).length > 1) say(place, "other fields alongside any_of");
      for (const [index, branch] of part.anyOf.entries()) visit(branch, `${place}|${index}`, level);
    }
  }

  function checkType(part: Schema, place: string): void {
    const typed = part.type !== undefined || part.anyOf !== undefined;
    if (!typed) say(place, "without a type");
    if (rules.oneType && part.type !== undefined && typeof part.type !== "string") say(place, "type is a list");
    for (const keyword of ["minItems", "maxItems", "minLength", "maxLength"]) {
      const value = part[keyword];
      if (value !== undefined && (!Number.isInteger(value) || (value as number) < 0)) say(place, `${keyword} ${value}`);
      if ((value as number) > (rules.maxRepeat ?? Infinity)) say(place, `${keyword}: number of repetitions`);
    }
  }

  function checkValues(part: Schema, place: string): void {
    if (part.enum !== undefined) {
      const values = part.enum as unknown[];
      if (values.length === 0) say(place, "enum is empty");
      if (new Set(values.map((value) => JSON.stringify(value))).size < values.length) say(place, "enum has duplicates");
      if (rules.stringEnums && part.type !== "string") say(place, "enum: only allowed for STRING type");
      if (rules.stringEnums && values.some((value) => typeof value !== "string" || value === ""))
        say(place, "enum: cannot be empty");
      const chars = values.reduce<number>((sum, value) => sum + String(value).length, 0);
      if (rules.maxEnumValues && values.length > 250 && chars > 15_000) say(place, "enum is too long");
      totals.enumValues += values.length;
      totals.nameChars += chars;
    }
    const formats = rules.formats?.[String(part.type)];
    if (part.format !== undefined && formats && !formats.includes(String(part.format)))
      say(place, `format ${part.format}`);
    if (typeof part.pattern === "string") checkPattern(part.pattern, place);
  }

  function checkPattern(pattern: string, place: string): void {
    try {
      new RegExp(pattern, "u");
    } catch {
      say(place, `'${pattern}' is not a 'regex'`);
    }
    if (!rules.grammarPatterns) return;
    if (!(pattern.startsWith("^") && pattern.endsWith("$"))) say(place, "Pattern must start with '^' and end with '$'");
    if (/\\[dDwWsSbB]|\(\?/.test(pattern)) say(place, "pattern cannot be a grammar");
  }

  function checkObject(part: Schema, place: string, level: number): void {
    if (!isSchema(part.properties)) return void say(place, "object schema missing properties");
    const names = Object.keys(part.properties);
    const required = (part.required ?? []) as unknown[];
    if (!Array.isArray(required)) return void say(place, "required is no list");
    if (new Set(required).size < required.length) say(place, "required has duplicates");
    for (const name of required) {
      if (rules.requiredIsDefined && !names.includes(String(name)))
        say(place, `required ${name}: property is not defined`);
    }
    for (const name of names) {
      if (rules.propertyName && !rules.propertyName.test(name)) say(place, `property name ${JSON.stringify(name)}`);
      if (rules.closed && !required.includes(name)) say(place, `${name} is not required`);
      totals.nameChars += name.length;
      visit(part.properties[name], `${place}.${name}`, isContainer(part.properties[name]) ? level + 1 : level);
    }
    if (rules.closed && part.additionalProperties !== false) say(place, "additionalProperties is required to be false");
    totals.properties += names.length;
  }
}

function isContainer(part: unknown): boolean {
  if (!isSchema(part)) return false;
  const branches = (part.anyOf ?? []) as unknown[];
  return part.type === "object" || part.type === "array" || branches.some(isContainer);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
