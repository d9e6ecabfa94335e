import { isObject } from "../../is-object.ts";
import type { JsonObject } from "../../protocol/types.ts";
import { argSecrets, credentialsOf, looksSecret, queryItems, splitUrl } from "../secrets.ts";
import { holdsVariable, isVariableName, replaceVariables } from "../variables.ts";

/** The names of the variables that are set, by value. */
export type NamesByValue = ReadonlyMap<string, readonly string[]>;

/** A shorter value equals a secret by chance. */
const MIN_LENGTH = 8;

export function namesByValue(env: NodeJS.ProcessEnv): NamesByValue {
  const names = new Map<string, string[]>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.length < MIN_LENGTH || !isVariableName(name)) continue;
    names.set(value, [...(names.get(value) ?? []), name]);
  }
  return names;
}

export interface Referring {
  readonly entry: JsonObject;
  /** One sentence for each secret that was replaced. */
  readonly notes: readonly string[];
}

/**
 * An entry, already in our spelling, in which each secret that a variable has as its value is written as that variable:
 * so that it is not copied. Secrets are told by the name of their place or by their looks.
 */
export function referToVariables(entry: JsonObject, names: NamesByValue): Referring {
  const notes: string[] = [];
  const result: Record<string, unknown> = { ...entry };

  /** Replaces the ranges, which may overlap, from the end on. */
  function refer(text: string, where: string, preferred: string, ranges: readonly Range[]): string {
    let referred = text;
    let before = text.length;
    for (const { start, end } of [...ranges].sort((a, b) => b.start - a.start)) {
      const written = text.slice(start, end);
      // A sign before it would make an escape of the reference.
      if (end > before || holdsVariable(written, "all") || text[start - 1] === "$") continue;
      const raw = replaceVariables(written, "all", ({ written: variable }) => variable);
      const name = nameFor(names.get(raw) ?? [], preferred);
      if (name === undefined) continue;
      referred = `${referred.slice(0, start)}\${${name}}${referred.slice(end)}`;
      before = start;
      notes.push(`${where} is taken from the variable ${name}, which has the same value`);
    }
    return referred;
  }

  for (const field of ["env", "headers"] as const) {
    const map = entry[field];
    if (!isObject(map)) continue;
    result[field] = Object.fromEntries(
      Object.entries(map).map(([key, value]) => {
        if (typeof value !== "string") return [key, value];
        const ranges = looksSecret(key)
          ? [{ start: value.length - credentialsOf(value).length, end: value.length }]
          : [];
        return [key, refer(value, `${field}.${key}`, key, [...ranges, ...rangesIn(value)])];
      }),
    );
  }
  const { args, url, bearerToken } = entry;
  if (Array.isArray(args)) {
    result.args = args.map((arg: unknown, index) => {
      const flag: unknown = args[index - 1];
      return typeof arg === "string" ? refer(arg, "an argument", "", rangesIn(arg, flag)) : arg;
    });
  }
  if (typeof url === "string") result.url = refer(url, "a part of the address", "", rangesIn(url));
  if (typeof bearerToken === "string") {
    result.bearerToken = refer(bearerToken, "bearerToken", "", [{ start: 0, end: bearerToken.length }]);
  }
  return { entry: result as JsonObject, notes };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function rangesIn(text: string, flag?: unknown): Range[] {
  return [...argSecrets(text, typeof flag === "string" ? flag : undefined), ...addressRanges(text)];
}

/** The password and the query values of an address. */
function addressRanges(text: string): Range[] {
  const parts = splitUrl(text);
  if (parts === undefined) return [];
  const ranges: Range[] = [];
  if (parts.userinfo !== undefined) {
    const start = parts.start.length + parts.userinfo.indexOf(":") + 1;
    ranges.push({ start, end: parts.start.length + parts.userinfo.length });
  }
  let at = text.indexOf("?") + 1;
  for (const { name, value } of parts.query === undefined ? [] : queryItems(parts.query)) {
    const start = at + (name === undefined ? 0 : name.length + 1);
    if (value !== "") ranges.push({ start, end: start + value.length });
    at = start + value.length + 1;
  }
  return ranges;
}

/** Of several the one that is called as its place is, then one that is called like a secret. */
function nameFor(names: readonly string[], preferred: string): string | undefined {
  const sorted = [...names].sort();
  return sorted.find((name) => name === preferred) ?? sorted.find(looksSecret) ?? sorted[0];
}
