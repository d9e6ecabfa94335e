import { type Entry, readEntries } from "./entries.ts";
import type { JsonDocument } from "./json-file.ts";
import { isOverride, type Layer, onto } from "./layers.ts";
import { quote } from "./problems.ts";
import type { ConfigProblem } from "./record.ts";
import { documentOfValue } from "./toml-file.ts";

/** A server that another extension of the agent registers, as pi 1.x tells of it (`pi.getMcpServers()`). */
export interface RegisteredServer {
  readonly name: string;
  /** An entry as in an mcp.json. */
  readonly config: unknown;
  /** Path of the extension. */
  readonly extensionPath: string;
}

/** Their entries, which stand nowhere but in the extension as a whole. */
export function readRegistered(servers: readonly RegisteredServer[], problems: ConfigProblem[]): Layer {
  const entries = new Map<string, Entry>();
  for (const { name, config, extensionPath } of servers) {
    const document = treeOf(extensionPath, { mcpServers: { [name]: config } });
    if (document === undefined) {
      const message = `Server ${quote(name)}: what the extension registers is nested too deeply to be read.`;
      problems.push({ file: extensionPath, line: 1, column: 1, severity: "error", server: name, message });
      continue;
    }
    const read = readEntries({ ...document, layer: "extension" }, problems);
    for (const entry of read.values()) entries.set(entry.name, entry);
  }
  return entries;
}

/** `undefined` for what is nested beyond the stack. */
function treeOf(file: string, value: unknown): JsonDocument | undefined {
  try {
    return documentOfValue(file, value);
  } catch {
    return undefined;
  }
}

/**
 * What an extension registers lies beneath all files: an entry of the person's own replaces it, or changes fields of it.
 * A project's file may replace it, too, which a person has then been shown, but not change it: they were shown nothing of
 * what it would change.
 */
export function aboveRegistered(
  registered: Layer,
  own: Layer,
  merged: ReadonlyMap<string, Entry>,
  problems: ConfigProblem[],
): Map<string, Entry> {
  const result = new Map(merged);
  for (const [name, lower] of registered) {
    const entry = merged.get(name);
    if (entry !== undefined && isOverride(entry) && own.get(name) !== entry) {
      const message = `Server ${quote(name)} comes from an extension, so a project's file cannot change it; this entry is not used. Name a "command" or a "url" to replace it.`;
      problems.push({ ...entry.source, severity: "warning", server: name, message });
      // What the person has made of it themselves stays: it may be what switches it off.
      result.set(name, onto(lower, own.get(name) ?? lower));
    } else result.set(name, entry === undefined ? lower : onto(lower, entry));
  }
  return result;
}
