import { getNodeValue } from "jsonc-parser";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";
import { isReference, MASK, maskArg, maskUrl, maskValues } from "./display.ts";
import type { JsonNode } from "./json-file.ts";
import { looksSecret, mapAddresses } from "./secrets.ts";
import { holdsVariable } from "./variables.ts";

/**
 * An entry as written, fit to be shown: values of the environment and of headers are masked unless they only name a
 * variable, and so is what is a secret by its name or its looks in any other field, however deep.
 */
export function maskEntry(entry: JsonNode): JsonObject {
  const value: unknown = getNodeValue(entry);
  if (!isObject(value)) return {};
  const values = Object.fromEntries(
    [value.env, value.headers]
      .filter(isObject)
      .flatMap((map) => Object.entries(map))
      .filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isObject(each) && /env|headers/i.test(key) ? mapValues(each, maskWhole) : maskField(key, each, values),
    ]),
  );
}

/** Values in a form they should not have are values still. */
function maskField(key: string, value: unknown, secrets: Readonly<Record<string, string>>): unknown {
  return /^(?:env|envs|environment|headers|http_headers)$/.test(key) ? maskWhole(value) : mask(key, value, secrets);
}

function mask(key: string, value: unknown, secrets: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") {
    // `key` is the path of a file.
    if (looksSecret(key) && key !== "key") return maskWhole(value);
    return maskValues(maskArg(mapAddresses(value, maskUrl), undefined), secrets);
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      if (typeof item !== "string") return mask(key, item, secrets);
      const before: unknown = value[index - 1];
      return maskValues(maskArg(mapAddresses(item, maskUrl), typeof before === "string" ? before : undefined), secrets);
    });
  }
  return isObject(value) ? mapValues(value, (each, name) => mask(name, each, secrets)) : value;
}

/** `${TOKEN}` and `Bearer ${TOKEN}` give nothing away; `false` and `8080` as texts neither do, but nobody can tell. */
function maskWhole(value: unknown): unknown {
  if (isObject(value)) return mapValues(value, maskWhole);
  if (value === "" || (typeof value === "string" && isReference(value) && holdsVariable(value, "all"))) return value;
  return MASK;
}

function mapValues(object: JsonObject, change: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}
