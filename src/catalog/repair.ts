import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { ArgumentCheck } from "./argument-check.ts";
import { stringsOf } from "./json-value.ts";
import { isShownAsIs, nameBehind } from "./property-names.ts";
import { isOfType, type JsonType, statedTypes, typeOfValue } from "./schema-types.ts";

export interface RepairedArguments {
  readonly args: JsonObject;
  /** What was changed, one sentence each; empty when nothing was. */
  readonly repairs: readonly string[];
}

/** Of values looked at; arguments of an honest call have fewer that are wrong. */
const MAX_STEPS = 2_000;
/** Of values looked at for names; all of them, where any name differs. */
const MAX_NAMED = 50_000;
const MAX_DEPTH = 24;
const MAX_BRANCHES = 12;
const MAX_SCHEMA_DEPTH = 400;
/** Longer texts are data, whatever they look like. */
const MAX_JSON_CHARS = 1_000_000;

/** Where models put a call's arguments once more. */
const WRAPPERS: ReadonlySet<string> = new Set(["arguments", "args", "input", "params", "parameters"]);

/**
 * Arguments as the schema wants them, where a model meant the right thing and wrote it in another form: JSON text for a
 * list, an object, a number or a boolean; a number or boolean for a text; one value for a list of such; `null` for what
 * may be left out, and nothing for what must be `null`; a property by the name it is shown under; all of it inside
 * `arguments`. What the schema takes is never touched, nor anything read into it that the schema does not say: a text
 * stays a text wherever a text is allowed. Needs no fitting outcome: each value is mended for itself.
 */
export function repairArguments(args: JsonObject, check: ArgumentCheck): RepairedArguments {
  const repairer = new Repairer(check);
  const named = repairer.named(args);
  if (check.accepts(named)) return { args: named, repairs: repairer.repairs };
  const unwrapped = unwrap(named, check);
  if (unwrapped !== undefined) {
    const inner = new Repairer(check);
    const mended = inner.value(inner.named(unwrapped.inner), check.schema, "", 0);
    if (isObject(mended) && check.accepts(mended)) {
      return { args: mended, repairs: [`arguments taken out of \`${unwrapped.key}\``, ...inner.repairs] };
    }
  }
  const mended = repairer.value(named, check.schema, "", 0);
  return isObject(mended) ? { args: mended, repairs: repairer.repairs } : { args, repairs: [] };
}

class Repairer {
  readonly #check: ArgumentCheck;
  #repairs: string[] = [];
  #steps = 0;
  #named = 0;

  constructor(check: ArgumentCheck) {
    this.#check = check;
  }

  get repairs(): readonly string[] {
    return [...new Set(this.#repairs)];
  }

  /** Gives properties back the names they have for the server. */
  named(args: JsonObject): JsonObject {
    return hasOtherNames(this.#check) ? (this.#names(args, this.#check.schema, 0) as JsonObject) : args;
  }

  #names(value: unknown, part: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH || ++this.#named > MAX_NAMED) return value;
    const found = this.#check.follow(part);
    if (!isObject(found)) return value;
    let named: unknown = value;
    if (Array.isArray(named)) {
      if (isObject(found.items)) named = mapKeepingSame(named, (item) => this.#names(item, found.items, depth + 1));
    } else if (isObject(named) && isObject(found.properties)) {
      named = this.#namedObject(named, found.properties, depth);
    }
    for (const branch of [...listOf(found.allOf), ...listOf(found.anyOf), ...listOf(found.oneOf)]) {
      named = this.#names(named, branch, depth + 1);
    }
    return named;
  }

  #namedObject(value: JsonObject, properties: JsonObject, depth: number): JsonObject {
    const names = Object.keys(properties);
    return changed(value, (key, item) => {
      const behind = Object.hasOwn(properties, key) ? undefined : nameBehind(key, names);
      const name = behind === undefined || Object.hasOwn(value, behind) ? key : behind;
      return [name, Object.hasOwn(properties, name) ? this.#names(item, properties[name], depth + 1) : item];
    });
  }

  value(value: unknown, part: unknown, path: string, depth: number): unknown {
    if (depth > MAX_DEPTH || ++this.#steps > MAX_STEPS || this.#check.accepts(value, part)) return value;
    const found = this.#check.follow(part);
    if (!isObject(found)) return value;
    const chosen = this.#fromUnion(value, found, path, depth);
    if (chosen !== undefined) return chosen.value;
    let mended = value;
    for (const sub of listOf(found.allOf)) mended = this.value(mended, sub, path, depth + 1);
    mended = this.#converted(mended, found, path, depth);
    if (isObject(mended)) return this.#object(mended, found, path, depth);
    return Array.isArray(mended) ? this.#array(mended, found, path, depth) : mended;
  }

  /** The first branch that a mended value fits, if the whole schema takes it, too. */
  #fromUnion(value: unknown, part: JsonObject, path: string, depth: number): { value: unknown } | undefined {
    const before = this.#repairs;
    for (const branch of [...listOf(part.anyOf), ...listOf(part.oneOf)]) {
      this.#repairs = [...before];
      const mended = this.value(value, branch, path, depth + 1);
      if (mended !== value && this.#check.accepts(mended, part)) return { value: mended };
    }
    this.#repairs = before;
    return undefined;
  }

  #converted(value: unknown, part: JsonObject, path: string, depth: number): unknown {
    const types = typesOf(part);
    if (types === undefined || types.some((type) => isOfType(typeOfValue(value), type))) return value;
    if (typeof value === "string") {
      const read = readText(value, types);
      if (read !== undefined) return this.#note(path, `read as ${typeOfValue(read)}`, read);
    }
    if (types.includes("string") && (typeof value === "number" || typeof value === "boolean")) {
      const text = String(value);
      if (this.#check.accepts(text, part)) return this.#note(path, "written as text", text);
    }
    if (types.includes("array") && value !== null) {
      const before = this.#repairs;
      const list = [isObject(part.items) ? this.value(value, part.items, path, depth + 1) : value];
      if (this.#check.accepts(list, part)) return this.#note(path, "put into a list", list);
      this.#repairs = before;
    }
    return value;
  }

  #object(value: JsonObject, part: JsonObject, path: string, depth: number): JsonObject {
    const properties = isObject(part.properties) ? part.properties : {};
    const required = stringsOf(part.required);
    const others = isObject(part.additionalProperties) ? part.additionalProperties : undefined;
    const mended = changed(value, (key, item) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : others;
      if (own === undefined) return [key, item];
      const place = path === "" ? key : `${path}.${key}`;
      if (item === null && !required.includes(key) && !this.#check.accepts(null, own)) {
        return this.#note(place, "null left out", undefined);
      }
      return [key, this.value(item, own, place, depth + 1)];
    });
    const missing = required.filter((name) => !Object.hasOwn(mended, name) && this.#demandsNull(properties[name]));
    if (missing.length === 0) return mended;
    for (const name of missing) this.#note(path === "" ? name : `${path}.${name}`, "null sent for it", undefined);
    return Object.fromEntries([...Object.entries(mended), ...missing.map((name) => [name, null])]);
  }

  #array(value: readonly unknown[], part: JsonObject, path: string, depth: number): readonly unknown[] {
    const places = Array.isArray(part.prefixItems) ? part.prefixItems : [];
    return mapKeepingSame(value, (item, index) => {
      const own = places[index] ?? part.items;
      return own === undefined ? item : this.value(item, own, `${path}[${index}]`, depth + 1);
    });
  }

  /** Whether the schema names `null`, and not just takes everything. */
  #demandsNull(part: unknown, depth = 0): boolean {
    const found = this.#check.follow(part);
    if (!isObject(found) || depth > 4) return false;
    if (found.const === null || (Array.isArray(found.enum) && found.enum.includes(null))) return true;
    if (statedTypes(found)?.includes("null")) return true;
    return [...listOf(found.anyOf), ...listOf(found.oneOf)].some((branch) => this.#demandsNull(branch, depth + 1));
  }

  #note<T>(path: string, what: string, value: T): T {
    this.#repairs = [...this.#repairs, `${path === "" ? "arguments" : path}: ${what}`];
    return value;
  }
}

const otherNames = new WeakMap<ArgumentCheck, boolean>();

/** Whether a model is shown any property by another name: few schemas have one, and then all values are looked at. */
function hasOtherNames(check: ArgumentCheck): boolean {
  let known = otherNames.get(check);
  if (known === undefined) {
    known = namesOther(check.schema, 0);
    otherNames.set(check, known);
  }
  return known;
}

/** The parts of a check's schema are a tree, no deeper and no larger than what is checked at all. */
function namesOther(part: unknown, depth: number): boolean {
  if (typeof part !== "object" || part === null || depth > MAX_SCHEMA_DEPTH) return false;
  const properties = isObject(part) && isObject(part.properties) ? Object.keys(part.properties) : [];
  return (
    properties.some((name) => !isShownAsIs(name)) || Object.values(part).some((inner) => namesOther(inner, depth + 1))
  );
}

function unwrap(args: JsonObject, { schema }: ArgumentCheck): { key: string; inner: JsonObject } | undefined {
  const [key, ...more] = Object.keys(args);
  if (key === undefined || more.length > 0 || !WRAPPERS.has(key)) return undefined;
  if (isObject(schema.properties) && Object.hasOwn(schema.properties, key)) return undefined;
  const value = args[key];
  const inner = typeof value === "string" ? readText(value, ["object"]) : value;
  return isObject(inner) ? { key, inner } : undefined;
}

/** The value a text stands for, if it is one of a wanted type and nothing is lost by reading it. */
function readText(text: string, types: readonly JsonType[]): unknown {
  if (text.length > MAX_JSON_CHARS) return undefined;
  const trimmed = text.trim();
  if (types.includes("boolean") && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  // So many digits are an id, and a number would not keep them.
  if (/\d{16}/.test(trimmed.replace(/"(?:\\.|[^"\\])*"/g, '""'))) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    return undefined;
  }
  if (typeof value === "number" && !Number.isFinite(value)) return undefined;
  return value !== null && types.some((type) => isOfType(typeOfValue(value), type)) ? value : undefined;
}

/** Types a schema names, or those of the values it is limited to. */
function typesOf(part: JsonObject): readonly JsonType[] | undefined {
  const stated = statedTypes(part);
  if (stated !== undefined) return stated;
  const values = part.const !== undefined ? [part.const] : Array.isArray(part.enum) ? part.enum : undefined;
  return values && [...new Set(values.map(typeOfValue))];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_BRANCHES) : [];
}

/** The same object where no member changes: what is right is passed on as it is. `undefined` leaves a member out. */
function changed(
  value: JsonObject,
  change: (key: string, item: unknown) => readonly [string, unknown] | undefined,
): JsonObject {
  let isSame = true;
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const entry = change(key, item);
    if (entry === undefined || entry[0] !== key || entry[1] !== item) isSame = false;
    return entry === undefined ? [] : [entry];
  });
  return isSame ? value : Object.fromEntries(entries);
}

function mapKeepingSame(
  values: readonly unknown[],
  change: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  const mapped = values.map(change);
  return mapped.some((item, index) => item !== values[index]) ? mapped : values;
}
