import { type Entry, readEntries } from "./entries.ts";
import { readJsonFile } from "./json-file.ts";
import type { ConfigProblem, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";

/**
 * The servers under `mcpServers` of files that are given from low to high; all other keys are somebody else's business. An
 * entry of a higher file replaces the lower one whole, so a new address never gets the old one's credentials; only an entry
 * that names no transport at all (no `command`, `url` or `type`) changes just the fields it has: `{"disabled": true}`
 * switches a server off.
 */
export function readServerFiles(files: readonly string[], origin: Origin, problems: ConfigProblem[]): ServerConfig[] {
  const merged = new Map<string, Entry>();
  for (const file of files) {
    const document = readJsonFile(file, problems);
    if (document === undefined) continue;
    for (const [name, entry] of readEntries(document, problems)) {
      const lower = merged.get(name);
      merged.set(name, lower !== undefined && isOverride(entry) ? override(lower, entry) : entry);
    }
  }
  return [...merged.values()]
    .map((entry) => readServer(entry, origin, problems))
    .filter((server) => server !== undefined);
}

function isOverride({ fields }: Entry): boolean {
  return fields !== undefined && !["command", "url", "type"].some((field) => fields.has(field));
}

/** The result stands where the lower entry does: that is the one that says what runs. */
function override(lower: Entry, higher: Entry): Entry {
  if (lower.fields === undefined || higher.fields === undefined) return lower;
  return { ...lower, fields: new Map([...lower.fields, ...higher.fields]) };
}
