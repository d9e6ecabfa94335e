import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { stringsOf } from "./json-value.ts";
import { createResolver, type ResolveRef, statedTypes } from "./schema-types.ts";

/** More than an honest schema has; beyond it nothing is checked. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 100;

const SCHEMA_MAPS: ReadonlySet<string> = new Set(["properties", "dependentSchemas"]);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
const SCHEMAS: ReadonlySet<string> = new Set([
  "additionalProperties",
  "propertyNames",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
  "not",
  "if",
  "then",
  "else",
]);
const BOUNDS: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);
const COUNTS: ReadonlySet<string> = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minContains",
  "maxContains",
  "minProperties",
  "maxProperties",
]);

/**
 * Not checked here. A pattern is a program of the server's in a dialect nobody names, and some run for hours; a format is
 * an annotation unless a server says otherwise; comparing all items with all takes long. The server checks them.
 */
const UNCHECKED: ReadonlySet<string> = new Set([
  "pattern",
  "format",
  "uniqueItems",
  "$dynamicRef",
  "$recursiveRef",
  "dependencies",
]);

/** Keywords that allow less when a schema inside them allows more: these go as soon as anything was left unchecked. */
const INVERTING: readonly string[] = [
  "not",
  "if",
  "then",
  "else",
  "maxContains",
  "unevaluatedProperties",
  "unevaluatedItems",
];

/** A schema is too large, or too deep. */
class TooMuch extends Error {}

export interface WeakenOptions {
  /** What is done with each finished part. */
  readonly finish: (part: JsonObject) => JsonObject;
}

/**
 * A copy of a schema in the dialect of 2020-12 that refuses nothing the original allows, whatever the original's
 * dialect and mistakes: what is wrong in it or cannot be checked safely is left out, and with it whatever would turn
 * that into a refusal. References point into `$defs` of the copy. `undefined` when it is too large to be checked.
 */
export function weakenSchema(original: JsonObject, { finish }: WeakenOptions): JsonObject | undefined {
  try {
    const exact = new Weakener(original, finish, false);
    const copy = exact.root();
    return exact.isLossy ? new Weakener(original, finish, true).root() : copy;
  } catch (error) {
    if (error instanceof TooMuch || error instanceof RangeError) return undefined;
    throw error;
  }
}

class Weakener {
  isLossy = false;
  readonly #original: JsonObject;
  readonly #finish: (part: JsonObject) => JsonObject;
  /** Something in it is not checked, so nothing may depend on a refusal. */
  readonly #lenient: boolean;
  readonly #resolve: ResolveRef;
  /** Up to draft 7, what stands beside a `$ref` counts for nothing. */
  readonly #refStandsAlone: boolean;
  readonly #definitions = new Map<unknown, string>();
  readonly #waiting: unknown[] = [];
  #nodes = 0;

  constructor(original: JsonObject, finish: (part: JsonObject) => JsonObject, lenient: boolean) {
    this.#original = original;
    this.#finish = finish;
    this.#lenient = lenient;
    this.#resolve = createResolver(original);
    this.#refStandsAlone = /draft-0[3467]/.test(String(original.$schema));
  }

  root(): JsonObject {
    const root = this.#part(this.#original, 0);
    const definitions: [string, unknown][] = [];
    for (let target = this.#waiting.shift(); target !== undefined; target = this.#waiting.shift()) {
      definitions.push([this.#definitions.get(target) ?? "", this.#schema(target, 0)]);
    }
    const whole = isObject(root) ? root : {};
    return this.#finish({ ...whole, ...(definitions.length > 0 && { $defs: Object.fromEntries(definitions) }) });
  }

  #schema(schema: unknown, depth: number): unknown {
    const part = this.#part(schema, depth);
    return isObject(part) ? this.#finish(part) : part;
  }

  #part(schema: unknown, depth: number): JsonObject | boolean {
    if (typeof schema === "boolean") return schema;
    if (!isObject(schema)) return this.#drop(true);
    if (++this.#nodes > MAX_NODES || depth > MAX_DEPTH) throw new TooMuch();
    const out: Record<string, unknown> = {};
    const ref = this.#reference(schema.$ref);
    if (ref !== undefined) out.$ref = ref;
    if (ref !== undefined && this.#refStandsAlone) return out;
    for (const [keyword, value] of Object.entries(schema)) {
      const kept = this.#keyword(keyword, value, schema, depth);
      if (kept !== undefined) out[keyword] = kept;
    }
    return this.#mended(out, schema, depth);
  }

  #keyword(keyword: string, value: unknown, schema: JsonObject, depth: number): unknown {
    if (UNCHECKED.has(keyword)) return this.#drop(undefined);
    if (BOUNDS.has(keyword)) return typeof value === "number" && Number.isFinite(value) ? value : undefined;
    if (COUNTS.has(keyword)) return Number.isInteger(value) && (value as number) >= 0 ? value : undefined;
    if (SCHEMAS.has(keyword)) return this.#schema(value, depth + 1);
    if (SCHEMA_LISTS.has(keyword)) return this.#list(value, depth);
    if (SCHEMA_MAPS.has(keyword)) return this.#map(value, depth);
    switch (keyword) {
      case "type": {
        const types = statedTypes(schema);
        return types === undefined ? this.#drop(undefined) : types.length === 1 ? types[0] : types;
      }
      case "required":
        return Array.isArray(value) ? stringsOf(value) : undefined;
      case "dependentRequired":
        return isObject(value) ? mapValues(value, stringsOf) : this.#drop(undefined);
      case "enum":
        return Array.isArray(value) && value.length > 0 ? value : this.#drop(undefined);
      case "const":
      case "default":
        return value;
      case "examples":
        return Array.isArray(value) ? value : undefined;
      default:
        return undefined;
    }
  }

  #mended(out: Record<string, unknown>, schema: JsonObject, depth: number): JsonObject {
    this.#mendLists(out, schema, depth);
    // Which names those are is a pattern's word, or a mistake: without it, nothing can be said of any further name.
    if (isObject(schema.patternProperties) || (schema.properties !== undefined && out.properties === undefined)) {
      this.#drop(undefined);
      delete out.additionalProperties;
    }
    // Draft 4 says with `true` that the bound itself does not count.
    if (schema.exclusiveMinimum === true) exclude(out, "minimum", "exclusiveMinimum");
    if (schema.exclusiveMaximum === true) exclude(out, "maximum", "exclusiveMaximum");
    if (schema.nullable === true) {
      if (out.type !== undefined) out.type = [...new Set([out.type, "null"].flat())];
      if (Array.isArray(out.enum)) out.enum = [...out.enum, null];
    }
    if (!this.#lenient) return out;
    for (const keyword of INVERTING) delete out[keyword];
    if (out.oneOf !== undefined) {
      if (out.anyOf === undefined) out.anyOf = out.oneOf;
      delete out.oneOf;
    }
    return out;
  }

  /** Lists with a schema for each place, as every draft writes them. */
  #mendLists(out: Record<string, unknown>, schema: JsonObject, depth: number): void {
    const { items, prefixItems, additionalItems } = schema;
    const places = [prefixItems, items].find((list): list is unknown[] => Array.isArray(list));
    const rest = places === undefined || places === prefixItems ? items : additionalItems;
    if (places !== undefined && places.length > 0)
      out.prefixItems = places.map((place) => this.#schema(place, depth + 1));
    if (rest !== undefined && !Array.isArray(rest)) out.items = this.#schema(rest, depth + 1);
  }

  #list(value: unknown, depth: number): unknown {
    if (!Array.isArray(value) || value.length === 0) return this.#drop(undefined);
    return value.map((item) => this.#schema(item, depth + 1));
  }

  #map(value: unknown, depth: number): unknown {
    if (!isObject(value)) return this.#drop(undefined);
    return mapValues(value, (item) => this.#schema(item, depth + 1));
  }

  #reference(ref: unknown): string | undefined {
    if (ref === undefined) return undefined;
    const target = typeof ref === "string" ? this.#resolve(ref) : undefined;
    if (target === this.#original) return "#";
    if (!isObject(target) && typeof target !== "boolean") return this.#drop(undefined);
    let name = this.#definitions.get(target);
    if (name === undefined) {
      name = `d${this.#definitions.size}`;
      this.#definitions.set(target, name);
      this.#waiting.push(target);
    }
    return `#/$defs/${name}`;
  }

  #drop<T>(instead: T): T {
    this.isLossy = true;
    return instead;
  }
}

function mapValues(object: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function exclude(out: Record<string, unknown>, bound: string, exclusive: string): void {
  if (out[bound] === undefined) return;
  out[exclusive] = out[bound];
  delete out[bound];
}
