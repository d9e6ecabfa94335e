import { checkFields } from "./check-fields.ts";
import { checkLiterals } from "./check-literals.ts";
import { type Entry, type Field, isDisabled } from "./entries.ts";
import { createEntryReader } from "./entry-reader.ts";
import { readExposure } from "./exposure.ts";
import { positionOf } from "./json-file.ts";
import { readOAuth } from "./oauth.ts";
import { ORIGINS } from "./origins.ts";
import { readLimits, readPolicy } from "./policy.ts";
import type { ConfigProblem, FieldSource, Origin, ServerConfig, Surface } from "./record.ts";
import { readTarget } from "./target.ts";
import { readToolFilter } from "./tool-filter.ts";

/**
 * One entry as a server, or `undefined` when it is switched off (silently) or wrong (with located problems, all that
 * are found). Fields that are not known cost it nothing but a warning. `surface` is what the person has set for all servers.
 */
export function readServer(
  entry: Entry,
  origin: Origin,
  problems: ConfigProblem[],
  surface?: Surface,
): ServerConfig | undefined {
  if (entry.fields === undefined || isDisabled(entry.fields)) return undefined;
  const reader = createEntryReader(entry, problems);
  const target = readTarget(reader, ORIGINS[origin].variableForms);
  const limits = readLimits(reader);
  const policy = readPolicy(reader, ORIGINS[origin], target, limits, surface);
  const exposure = readExposure(reader, policy.surface);
  const tools = readToolFilter(reader);
  checkFields(entry.fields, reader);
  const oauth = readOAuth(reader, entry.fields);
  if (policy.variableForms === "plain") checkLiterals(entry.fields, reader);
  // Neither switches the server off here, but `"disabled": "yes"` must not pass for a server that is meant to be on.
  reader.boolean("disabled");
  reader.boolean("enabled");
  const isRequired = reader.boolean("required");
  const hidesResources = reader.boolean("exposeResources") === false;
  const autoAuth = reader.boolean("autoAuth");
  if (target === undefined || reader.failed) return undefined;
  const fields = fieldSources(entry.fields);
  const { start, call } = limits;
  const limitFields = { ...(start && { start: start.field }), ...(call && { call: call.field }) };
  return {
    name: entry.name,
    origin,
    source: entry.source,
    target,
    policy,
    ...exposure,
    ...(isRequired && { isRequired }),
    ...(autoAuth && { autoAuth }),
    ...(tools && { tools }),
    ...(hidesResources && { hidesResources }),
    ...(oauth !== undefined && { oauth }),
    fields,
    ...((start || call) && { limitFields }),
  };
}

function fieldSources(fields: ReadonlyMap<string, Field>): Record<string, FieldSource> {
  return Object.fromEntries(
    [...fields].map(([name, { document, key }]) => [
      name,
      { layer: document.layer ?? "own", ...positionOf(document, key) },
    ]),
  );
}
