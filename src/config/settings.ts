import { type Entry, isDisabled, readEntries } from "./entries.ts";
import { type JsonFile, readJsonFile } from "./json-file.ts";
import { shadowed } from "./problems.ts";
import type { ConfigProblem, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";
import { readTomlFile } from "./toml-file.ts";

/**
 * The servers of the agent's settings file (S1-07) and of the TOML file beside it (S1-08), whose entries win. All other
 * keys in them are the agent's business.
 */
export function readSettingsFiles(json: string, toml: string, problems: ConfigProblem[]): ServerConfig[] {
  const entries = entriesOf(readJsonFile(json), problems);
  for (const [name, entry] of entriesOf(readTomlFile(toml), problems)) {
    const lower = entries.get(name);
    const bothOn = lower !== undefined && isOn(lower) && isOn(entry);
    if (bothOn) problems.push(shadowed(lower, entry.source));
    entries.set(name, entry);
  }
  return [...entries.values()]
    .map((entry) => readServer(entry, "settings", problems))
    .filter((server) => server !== undefined);
}

function entriesOf(read: JsonFile, problems: ConfigProblem[]): Map<string, Entry> {
  if (read.kind === "broken") problems.push(read.problem);
  return read.kind === "document" ? readEntries(read.document, problems) : new Map();
}

function isOn({ fields }: Entry): boolean {
  return fields !== undefined && !isDisabled(fields);
}
