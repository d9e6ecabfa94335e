import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { shortText, stringsOf } from "./json-value.ts";
import { shownNames } from "./property-names.ts";
import {
  MAX_ALL_DESCRIPTION_CHARS,
  MAX_ALL_ENUM_VALUES,
  MAX_DESCRIPTION_CHARS,
  MAX_ENUM_VALUES,
  MAX_LEVELS,
  MAX_NAME_CHARS,
  MAX_NODES,
  MAX_NOTE_CHARS,
  MAX_REPEATS,
} from "./provider-limits.ts";
import { countBounds, numberBounds, tupleOf } from "./schema-bounds.ts";
import { type Branch, SchemaBranches } from "./schema-branches.ts";
import type { JsonType } from "./schema-types.ts";
import { choiceInWords, joinProperties, objectSchema, unionOf, withWord } from "./schema-union.ts";
import { constraintsInWords, otherFieldsInWords, valuesInWords } from "./schema-words.ts";

export interface ProviderSchema {
  /** `{type: "object", properties, required?}`, and nothing else at its root. */
  readonly schema: JsonObject;
  /** What the root of the original says and a root may not: sentences for the tool's description. */
  readonly notes: readonly string[];
}

/** An item of a list that says nothing of its items: a list of lists is too odd a guess. */
const ANY_ITEM: JsonObject = { type: ["string", "number", "boolean", "object"] };

/**
 * The schema of a tool's arguments as every model provider takes it: the part of JSON Schema their documented rules have
 * in common. One type for each schema, unions as `anyOf` with nothing beside it and never at the root, references
 * written out, enumerations of strings alone, no keyword that one of them refuses. What cannot be said in that becomes
 * words in descriptions, or is left out: the result allows more than the original, never less that matters, and the
 * server has the last word. A property whose name is refused is shown by another one; `repairArguments` gives it back.
 * Never throws, whatever the schema; the result is bounded in depth, number and length, and is its own result.
 */
export function providerSchema(original: JsonObject): ProviderSchema {
  const full = new Shaper(original, MAX_REPEATS);
  const shaped = full.root();
  return full.exhausted ? new Shaper(original, 1).root() : shaped;
}

/** Where in the schema: how many objects and lists around it, and which references led here. */
interface Place {
  readonly level: number;
  readonly refs: readonly string[];
}

class Shaper {
  readonly #root: JsonObject;
  readonly #branches: SchemaBranches;
  #nodes = 0;
  #enumValues = 0;
  #nameChars = 0;
  #descriptionChars = 0;

  constructor(root: JsonObject, maxRepeats: number) {
    this.#root = root;
    this.#branches = new SchemaBranches(root, maxRepeats);
  }

  get exhausted(): boolean {
    return this.#nodes > MAX_NODES || this.#branches.exhausted;
  }

  root(): ProviderSchema {
    const root = { ...this.#root, type: "object" };
    const branches = this.#branches.find(root, []).filter(({ type }) => type === "object");
    const notes = typeof this.#root.description === "string" ? [shortText(this.#root.description, MAX_NOTE_CHARS)] : [];
    const objects = branches.map((branch) => this.#object(branch, { level: 1, refs: branch.refs }));
    const required = objects
      .map((object) => stringsOf(object.required))
      .reduce((all, names) => all.filter((name) => names.includes(name)), stringsOf(objects[0]?.required));
    const choice = choiceInWords(objects, required);
    if (choice !== undefined) notes.push(choice);
    return { schema: objectSchema(joinProperties(objects), required), notes };
  }

  /** The one schema that stands for another; `undefined` if no value is left that could be given. */
  #shape(schema: unknown, place: Place): JsonObject | undefined {
    this.#nodes++;
    const branches = this.#branches.find(schema, place.refs);
    return unionOf(branches.map((branch) => this.#typed(branch, { ...place, refs: branch.refs })));
  }

  #typed(branch: Branch, place: Place): JsonObject {
    const { type, schema, values } = branch;
    switch (type) {
      case "string":
        return this.#string(schema, values);
      case "object":
        return this.#object(branch, { ...place, level: place.level + 1 });
      case "array":
        return this.#array(schema, { ...place, level: place.level + 1 });
      default:
        return this.#scalar(type, schema, values);
    }
  }

  #string(schema: JsonObject, values: readonly unknown[] | undefined): JsonObject {
    const words = [...constraintsInWords(schema, "string")];
    const texts = stringsOf(values).filter((text) => text !== "");
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    const takesEnum =
      texts.length > 0 &&
      texts.length <= MAX_ENUM_VALUES &&
      this.#enumValues + texts.length <= MAX_ALL_ENUM_VALUES &&
      this.#nameChars + chars <= MAX_NAME_CHARS;
    if (takesEnum) {
      this.#enumValues += texts.length;
      this.#nameChars += chars;
      if (stringsOf(values).includes("")) words.push('or ""');
      return { type: "string", enum: texts, ...this.#description(schema, words) };
    }
    if (values !== undefined && values.length > 0) words.unshift(valuesInWords(values));
    const format = schema.format === "date-time" ? { format: "date-time" } : {};
    return { type: "string", ...format, ...this.#description(schema, words) };
  }

  #scalar(type: JsonType, schema: JsonObject, values: readonly unknown[] | undefined): JsonObject {
    const words = [...constraintsInWords(schema, type)];
    if (values !== undefined && values.length > 0) words.unshift(valuesInWords(values));
    const bounds = type === "boolean" ? {} : numberBounds(schema, type);
    return { type, ...bounds, ...this.#description(schema, words) };
  }

  #array(schema: JsonObject, { level, refs }: Place): JsonObject {
    const words = [...constraintsInWords(schema, "array")];
    const tuple = tupleOf(schema);
    const items = tuple?.items ?? (schema.items === true ? undefined : schema.items) ?? ANY_ITEM;
    if (tuple !== undefined) words.unshift(`${tuple.count} items in a fixed order`);
    // The description goes before those of the items, so that they cannot use up all there is room for.
    const own = this.#description(schema, words);
    const shaped = level >= MAX_LEVELS ? this.#flat(items, { level, refs }) : this.#shape(items, { level, refs });
    return { type: "array", items: shaped ?? { type: "string" }, ...countBounds(schema, tuple?.count), ...own };
  }

  /** What an innermost list holds: scalars, or values as JSON text, which is read again before a call. */
  #flat(items: unknown, place: Place): JsonObject | undefined {
    const branches = this.#branches.find(items, place.refs);
    const areScalars = branches.every(({ type }) => type !== "object" && type !== "array");
    return areScalars
      ? unionOf(branches.map((branch) => this.#typed(branch, place)))
      : { type: "string", description: "as JSON text" };
  }

  #object({ schema, isOutline }: Branch, { level, refs }: Place): JsonObject {
    const words = [...constraintsInWords(schema, "object"), ...otherFieldsInWords(schema)];
    const declared = isObject(schema.properties) ? schema.properties : {};
    const names = [...new Set([...Object.keys(declared), ...stringsOf(schema.required)])];
    const demanded = stringsOf(schema.required).filter((name) => !this.#branches.takesNull(declared[name], refs));
    if ((level >= MAX_LEVELS || isOutline) && names.length > 0) {
      words.unshift(`fields ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", …" : ""}`);
      return { type: "object", properties: {}, ...this.#description(schema, words) };
    }
    // The description goes before those of the fields, so that they cannot use up all there is room for.
    const description = level === 1 ? {} : this.#description(schema, words);
    const shown = shownNames(names);
    const shapes = new Map<string, JsonObject>();
    const required: string[] = [];
    // What must be given comes first when there is not room for all, and keeps its place otherwise.
    for (const name of [...names].sort((a, b) => Number(demanded.includes(b)) - Number(demanded.includes(a)))) {
      const as = shown.get(name);
      if (as === undefined || this.exhausted || this.#nameChars + as.length > MAX_NAME_CHARS) continue;
      const own = Object.hasOwn(declared, name) ? declared[name] : true;
      const shape = this.#shape(own, { level, refs });
      if (shape === undefined) continue;
      this.#nameChars += as.length;
      shapes.set(name, as === name ? shape : withWord(shape, `sent as ${JSON.stringify(shortText(name, 100))}`));
      if (demanded.includes(name)) required.push(as);
    }
    const properties = names.flatMap((name) => {
      const shape = shapes.get(name);
      return shape === undefined ? [] : [[shown.get(name) ?? name, shape] as const];
    });
    return { ...objectSchema(Object.fromEntries(properties), inOrder(properties, required)), ...description };
  }

  #description({ description, title }: JsonObject, words: readonly string[]): { description?: string } {
    const given = typeof description === "string" && description.trim() !== "" ? description.trim() : title;
    const text = typeof given === "string" ? given.trim() : "";
    const note = words.length === 0 ? "" : `(${words.join("; ")})`;
    const all = shortText([text, note].filter((part) => part !== "").join(" "), MAX_DESCRIPTION_CHARS);
    if (all === "" || this.#descriptionChars + all.length > MAX_ALL_DESCRIPTION_CHARS) return {};
    this.#descriptionChars += all.length;
    return { description: all };
  }
}

function inOrder(
  properties: readonly (readonly [string, JsonObject])[],
  required: readonly string[],
): readonly string[] {
  return properties.map(([name]) => name).filter((name) => required.includes(name));
}
