import { fieldsOf } from "./entries.ts";
import type { EntryReader } from "./entry-reader.ts";
import { matchesAny, matchesName } from "./name-pattern.ts";
import { quote } from "./problems.ts";
import type { Exposure, ServerConfig, Surface } from "./record.ts";

/** The words of an entry: those of pi's own client, an older one of its, and ours for the tools of a surface. */
const WORDS: ReadonlyMap<string, Exposure> = new Map([
  ["gateway", "gateway"],
  ["direct", "direct"],
  ["deferred", "deferred"],
  ["codemode", "codemode"],
  ["codemode-deferred", "codemode"],
  ["hidden", "hidden"],
]);

type Exposing = Pick<ServerConfig, "exposure" | "toolExposure" | "directTools">;

/**
 * `exposure` for all tools, `toolExposure` for some (pi's own client), and `directTools` (its adapter): true is
 * `"exposure": "direct"`, a list names tools. Without any of them the tools are what the surface makes of them.
 */
export function readExposure(reader: EntryReader, surface: Surface): Exposing {
  const written = reader.text("exposure");
  const word = written === undefined ? undefined : WORDS.get(written.toLowerCase());
  const directTools = readDirectTools(reader);
  const some = directTools === "all" ? [] : directTools;
  const usual = directTools === "all" ? "direct" : some.length > 0 ? "gateway" : usualExposure(surface);
  if (written !== undefined && word === undefined) {
    reader.warning("exposure", `"exposure" should be one of ${words()}; "${usual}" is used.`);
  }
  const exposure = word ?? usual;
  const toolExposure = readToolExposure(reader);
  if (exposure === "direct" && some.length > 0) {
    reader.warning("directTools", '"directTools" is not used, because "exposure" is "direct", which means all tools.');
  }
  return {
    exposure,
    ...(toolExposure && { toolExposure }),
    ...(exposure !== "direct" && some.length > 0 && { directTools: some }),
  };
}

/** What a server's tools are that says nothing of it. */
export function usualExposure(surface: Surface): Exposure {
  return surface === "direct" ? "direct" : "gateway";
}

function readDirectTools(reader: EntryReader): readonly string[] | "all" {
  if (reader.isList("directTools")) return reader.texts("directTools");
  const isKnown = reader.isBoolean("directTools") || reader.is("directTools", "search");
  if (reader.has("directTools") && !isKnown) {
    reader.error("directTools", '"directTools" must be true, false or an array of strings.');
  }
  return reader.is("directTools", true) ? "all" : [];
}

/** A word that is not known may have been meant to hide a tool, so the server is not used. */
function readToolExposure(reader: EntryReader): ServerConfig["toolExposure"] {
  const field = reader.field("toolExposure");
  if (field === undefined) return undefined;
  if (field.value.type !== "object") {
    reader.error("toolExposure", `"toolExposure" must be an object of tools, each with one of ${words()}.`);
    return undefined;
  }
  const exposures: [string, Exposure][] = [];
  for (const [tool, item] of fieldsOf(field.document, field.value)) {
    const word = WORDS.get(String(item.value.value).toLowerCase());
    if (word !== undefined) exposures.push([tool, word]);
    else reader.errorAt(item, `${quote(tool)} in "toolExposure" must be one of ${words()}.`);
  }
  return exposures.length === 0 ? undefined : Object.fromEntries(exposures);
}

function words(): string {
  return [...new Set(WORDS.values())].map((word) => `"${word}"`).join(", ");
}

/** How a model has a tool of a server. */
export function exposureOf({ exposure, toolExposure = {}, directTools = [] }: Exposing, tool: string): Exposure {
  if (Object.hasOwn(toolExposure, tool)) return toolExposure[tool] ?? exposure;
  const pattern = Object.keys(toolExposure).find((each) => each.includes("*") && matchesName(each, tool));
  if (pattern !== undefined) return toolExposure[pattern] ?? exposure;
  return matchesAny(directTools, tool) ? "direct" : exposure;
}

/** Every exposure that a tool of the server may have. */
export function possibleExposures({ exposure, toolExposure = {}, directTools = [] }: Exposing): ReadonlySet<Exposure> {
  return new Set([exposure, ...Object.values(toolExposure), ...(directTools.length > 0 ? (["direct"] as const) : [])]);
}
