import { readEntries } from "./entries.ts";
import { readJsonFile } from "./json-file.ts";
import type { ConfigProblem, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";

/** The servers under `mcpServers` of the agent's settings file (S1-07). All other keys are the agent's business. */
export function readSettingsFile(file: string, problems: ConfigProblem[]): ServerConfig[] {
  const read = readJsonFile(file);
  if (read.kind === "broken") problems.push(read.problem);
  if (read.kind !== "document") return [];
  return [...readEntries(read.document, problems).values()]
    .map((entry) => readServer(entry, "settings", problems))
    .filter((server) => server !== undefined);
}
