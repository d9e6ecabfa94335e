import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { mergeSchemas } from "./merge-schema.ts";
import {
  createResolver,
  impliedType,
  isOfType,
  type JsonType,
  type ResolveRef,
  statedTypes,
  typeOfValue,
} from "./schema-types.ts";

/** Work in all, whatever becomes of it: unions of unions are tried out and thrown away. */
const MAX_STEPS = 20_000;
const MAX_BRANCHES = 12;
/** Of unions inside unions. */
const MAX_UNION_DEPTH = 32;
/** Of `allOf` inside `allOf`. */
const MAX_ALL_OF = 8;

const ANY: JsonObject = { type: ["string", "number", "boolean", "object", "array"] };

export interface Branch {
  readonly type: JsonType;
  readonly schema: JsonObject;
  /** The values it is limited to, those of its type. */
  readonly values: readonly unknown[] | undefined;
  readonly refs: readonly string[];
  readonly isOutline: boolean;
}

/** Takes schemas of one document apart. */
export class SchemaBranches {
  readonly #resolve: ResolveRef;
  readonly #maxRepeats: number;
  #steps = 0;

  /** A schema inside itself is followed `maxRepeats` times, then it is an outline. */
  constructor(root: JsonObject, maxRepeats: number) {
    this.#resolve = createResolver(root);
    this.#maxRepeats = maxRepeats;
  }

  /** There was more to take apart than any honest schema has; what comes now is empty. */
  get exhausted(): boolean {
    return this.#steps > MAX_STEPS;
  }

  /** A schema taken apart: each branch has one type and is no union, no reference and no `allOf`. Without `null`. */
  find(schema: unknown, refs: readonly string[], depth = 0): readonly Branch[] {
    if (schema === false || depth > MAX_UNION_DEPTH || ++this.#steps > MAX_STEPS) return [];
    const { found, refs: through } = this.#dereference(isObject(schema) ? schema : ANY, refs);
    const whole = this.#withoutAllOf(found, through);
    const { anyOf, oneOf, ...rest } = whole.schema;
    const union = [anyOf, oneOf].find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
    if (union === undefined) return typedBranches(rest, whole.refs);
    const branches = union.flatMap((branch) => {
      if (branch === false) return [];
      const target = this.#dereference(isObject(branch) ? branch : {}, whole.refs);
      const own = this.#withoutAllOf(target.found, target.refs);
      return this.find(mergeBranch(own.schema, rest), own.refs, depth + 1);
    });
    return branches.length <= MAX_BRANCHES ? branches : firstOfEachType(branches);
  }

  #dereference(schema: JsonObject, refs: readonly string[]): { found: JsonObject; refs: readonly string[] } {
    let found = schema;
    let through = refs;
    while (typeof found.$ref === "string" && ++this.#steps <= MAX_STEPS) {
      const { $ref: ref, ...beside } = found;
      const target = this.#resolve(ref);
      if (target === false) return { found: { enum: [] }, refs: through };
      if (!isObject(target)) return { found: beside, refs: through };
      const repeats = through.filter((seen) => seen === ref).length;
      through = [...through, ref];
      if (repeats >= this.#maxRepeats) return { found: outline(mergeSchemas(beside, target)), refs: through };
      found = mergeSchemas(beside, target);
    }
    return { found, refs: through };
  }

  #withoutAllOf(schema: JsonObject, before: readonly string[]): { schema: JsonObject; refs: readonly string[] } {
    let merged = schema;
    let refs = before;
    for (let round = 0; Array.isArray(merged.allOf) && round < MAX_ALL_OF; round++) {
      const { allOf, ...rest } = merged;
      merged = rest;
      for (const part of (allOf as unknown[]).filter(isObject).slice(0, MAX_BRANCHES)) {
        if (++this.#steps > MAX_STEPS) break;
        const target = this.#dereference(part, refs);
        refs = target.refs;
        const { allOf: inner, ...own } = target.found;
        const waiting = merged.allOf;
        merged = mergeSchemas(merged, own);
        if (Array.isArray(inner)) merged = { ...merged, allOf: [...(Array.isArray(waiting) ? waiting : []), ...inner] };
      }
    }
    const { allOf: _, ...plain } = merged;
    return { schema: plain, refs };
  }

  /** Whether `null` fits: then the property may be left out here, and `null` is sent where the server demands it. */
  takesNull(schema: unknown, refs: readonly string[], depth = 0): boolean {
    if (!isObject(schema) || depth > MAX_UNION_DEPTH || ++this.#steps > MAX_STEPS) return false;
    const { found, refs: through } = this.#dereference(schema, refs);
    if (found.nullable === true || found.const === null) return true;
    if (Array.isArray(found.enum)) return found.enum.includes(null);
    if (statedTypes(found)?.includes("null")) return true;
    const union = [found.anyOf, found.oneOf].find(Array.isArray) as unknown[] | undefined;
    return union?.slice(0, MAX_BRANCHES).some((branch) => this.takesNull(branch, through, depth + 1)) ?? false;
  }
}

/** Marks a schema whose fields are not written out: it stands inside itself too often. No server can write a symbol. */
const OUTLINE = Symbol("outline");

function outline(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, items, $ref, ...rest } = schema;
  const type = statedTypes(schema) ?? impliedType(schema) ?? "object";
  return Object.assign(rest, { type, [OUTLINE]: true });
}

function typedBranches(schema: JsonObject, refs: readonly string[]): readonly Branch[] {
  const values = schema.const !== undefined ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined;
  const given = values?.filter((value) => value !== null);
  // An empty enumeration allows nothing; it is a mistake, and the property worth more than it.
  const limited = given !== undefined && values !== undefined && values.length > 0;
  if (limited && given.length === 0) return [];
  const isOutline = OUTLINE in schema;
  return typesOf(schema, limited ? given : undefined).map((type, index) => ({
    type,
    schema: index === 0 ? schema : withoutTexts(schema),
    values: limited ? given.filter((value) => isOfType(typeOfValue(value), type)) : undefined,
    refs,
    isOutline,
  }));
}

/** The types a value may be of, without `null`; whole numbers are numbers. */
function typesOf(schema: JsonObject, values: readonly unknown[] | undefined): readonly JsonType[] {
  const stated = statedTypes(schema);
  const ofValues = values && [...new Set(values.map(typeOfValue))];
  const implied = impliedType(schema);
  const types = ofValues
    ? ofValues.filter((type) => stated?.some((other) => isOfType(type, other)) ?? true)
    : (stated ?? (implied === undefined ? (ANY.type as JsonType[]) : [implied]));
  const chosen = (types.length === 0 ? (stated ?? []) : types).filter((type) => type !== "null");
  return chosen.includes("number") ? chosen.filter((type) => type !== "integer") : chosen;
}

function withoutTexts({ description: _, title: __, default: ___, examples: ____, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** What stands beside a union goes into each branch; of the two descriptions the branch's own is nearer. */
function mergeBranch(branch: JsonObject, { description, title, default: preset, ...rest }: JsonObject): JsonObject {
  const merged = mergeSchemas(branch, rest);
  const texts = [description, branch.description ?? branch.title].filter(
    (text) => typeof text === "string" && text !== "",
  );
  if (texts.length === 0) return merged;
  return { ...merged, description: [...new Set(texts)].join(" – ") };
}

function firstOfEachType(branches: readonly Branch[]): readonly Branch[] {
  return branches
    .filter(({ type }, index) => branches.findIndex((other) => other.type === type) === index)
    .map((branch) => (branch.type === "object" ? { ...branch, isOutline: true } : { ...branch, values: undefined }));
}
