import { type Entry, readEntries } from "./entries.ts";
import { type JsonDocument, readJsonFile } from "./json-file.ts";
import type { ConfigProblem, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";
import { readTomlFile } from "./toml-file.ts";

/**
 * The servers under `mcpServers` of files that are given from low to high; all other keys are somebody else's business. An
 * entry of a higher file replaces the lower one whole, so a new address never gets the old one's credentials; only an entry
 * that names no transport at all (no `command`, `url` or `type`) changes just the fields it has: `{"disabled": true}`
 * switches a server off. What a file is, its name says.
 */
export function readServerFiles(files: readonly string[], origin: Origin, problems: ConfigProblem[]): ServerConfig[] {
  const merged = new Map<string, Entry>();
  for (const file of files) {
    const document = readFile(file, problems);
    if (document === undefined) continue;
    for (const [name, entry] of readEntries(document, problems, file.endsWith("mcp.json"))) {
      const lower = merged.get(name);
      merged.set(name, lower !== undefined && isOverride(entry) ? override(lower, entry) : entry);
    }
  }
  return [...merged.values()]
    .map((entry) => readServer(entry, origin, problems))
    .filter((server) => server !== undefined);
}

/** A file's content, which its name says the kind of; `undefined` when there is none, or after reporting why not. */
export function readFile(file: string, problems: ConfigProblem[]): JsonDocument | undefined {
  return file.endsWith(".toml") ? readTomlFile(file, problems) : readJsonFile(file, problems);
}

function isOverride({ fields }: Entry): boolean {
  return fields !== undefined && !["command", "url", "type"].some((field) => fields.has(field));
}

/** The result stands where the lower entry does: that is the one that says what runs. */
function override(lower: Entry, higher: Entry): Entry {
  if (lower.fields === undefined || higher.fields === undefined) return lower;
  return { ...lower, fields: new Map([...lower.fields, ...higher.fields]) };
}
