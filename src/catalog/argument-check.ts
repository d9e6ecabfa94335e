import type { OutputUnit } from "@cfworker/json-schema";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { shortText } from "./json-value.ts";
import { weakenSchema } from "./weaken-schema.ts";

/** Keywords looked at in one check: about a tenth of a second. Schemas can be written that need for ever. */
const MAX_READS = 3_000_000;
const MAX_PROBLEMS = 8;
const MAX_PROBLEM_CHARS = 200;

/** What a server's schema says of arguments. Both may be unable to tell: then arguments count as right. */
export interface ArgumentCheck {
  /** The original without what is not checked, in the dialect of 2020-12; its parts are what `accepts` takes. */
  readonly schema: JsonObject;
  /** Whether a value fits the whole schema or a part of it. */
  accepts(value: unknown, part?: unknown): boolean;
  /** The part a `$ref` of a part leads to, or the part itself. */
  follow(part: unknown): unknown;
  /** What is wrong, each with its place: `limit: …`. Empty when nothing is, or it cannot be told. */
  problems(value: unknown): readonly string[];
}

interface Kept {
  readonly check: ArgumentCheck;
  /** Before the arguments of another call. */
  restart(): void;
}

const kept = new WeakMap<JsonObject, Promise<Kept | undefined>>();

/**
 * Made once for each schema, and asked for once for each call: what it may cost is counted from here. `undefined` for a
 * schema that cannot be checked, which is no failure of a call. Nothing of a server's is ever compiled.
 */
export async function argumentCheck(schema: JsonObject): Promise<ArgumentCheck | undefined> {
  let made = kept.get(schema);
  if (made === undefined) {
    made = createCheck(schema).catch(() => undefined);
    kept.set(schema, made);
  }
  const found = await made;
  found?.restart();
  return found?.check;
}

async function createCheck(original: JsonObject): Promise<Kept | undefined> {
  const { dereference, validate } = await import("@cfworker/json-schema");
  let reads = 0;
  // A check has no clock; it is ended from inside, where it reads its schema.
  const counted = (part: JsonObject): JsonObject =>
    new Proxy(part, {
      get(target, keyword) {
        if (++reads > MAX_READS) throw new RangeError("the check takes too long");
        return Reflect.get(target, keyword);
      },
    });
  const schema = weakenSchema(original, { finish: counted });
  if (schema === undefined) return undefined;
  const lookup = dereference(schema);
  const run = (value: unknown, part: unknown, shortCircuit: boolean) => {
    try {
      return validate(value, part as JsonObject | boolean, "2020-12", lookup, shortCircuit);
    } catch {
      return undefined;
    }
  };
  const check: ArgumentCheck = {
    schema,
    accepts(value, part = schema) {
      return run(value, part, true)?.valid ?? true;
    },
    follow(part) {
      let found = part;
      for (let step = 0; step < 20 && isObject(found) && typeof found.$ref === "string"; step++) {
        const name = found.$ref;
        found = name === "#" ? schema : (schema.$defs as JsonObject | undefined)?.[name.slice("#/$defs/".length)];
      }
      return found;
    },
    problems(value) {
      const result = run(value, schema, false);
      if (result === undefined || result.valid) return [];
      const leaves = result.errors.filter(({ keyword }) => !CONTAINERS.has(keyword));
      return [...new Set((leaves.length === 0 ? result.errors : leaves).map(problemOf))].slice(0, MAX_PROBLEMS);
    },
  };
  return {
    check,
    restart: () => {
      reads = 0;
    },
  };
}

/** These say that something inside is wrong, and that is said, too. */
const CONTAINERS: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "$ref",
  "allOf",
  "additionalProperties",
]);

function problemOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = placeOf(instanceLocation);
  return shortText(`${place === "" ? "" : `${place}: `}${inWords(keyword, error)}`, MAX_PROBLEM_CHARS);
}

/** The common mistakes in short; others as the validator says them. */
function inWords(keyword: string, error: string): string {
  const quoted = error.slice(error.indexOf('"') + 1, error.lastIndexOf('"'));
  if (keyword === "required") return `"${quoted}" is missing`;
  const [actual, expected] = quoted.split('" is invalid. Expected "');
  if (keyword === "type" && expected !== undefined)
    return `must be ${expected.replaceAll('", "', " or ")}, not ${actual}`;
  return keyword === "false" ? "is not among the parameters" : error;
}

/** `#/a/0/b` as people write it: `a[0].b`. */
function placeOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`), "");
}
