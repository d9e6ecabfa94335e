import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { readEntries } from "./entries.ts";
import { FileMemory } from "./file-memory.ts";
import { type JsonDocument, parseJson, report } from "./json-file.ts";
import type { Layer } from "./layers.ts";
import { expandHome } from "./paths.ts";
import type { ConfigProblem, Origin, Surface } from "./record.ts";
import { readUsualSurface } from "./surface.ts";

/** What a person named on the command line (`--mcp-config`, `--strict-mcp-config`). */
export interface ConfigFlags {
  /** Paths of files, or texts in JSON, which begin with `{`; from low to high. */
  readonly sources: readonly string[];
  /** Whether these are all there is: no other source is read. */
  readonly isStrict?: boolean;
}

/** What the paths of flags depend on. */
interface FlagPlace {
  readonly home: string;
  /** What a relative path is relative to; the current folder when absent. */
  readonly cwd?: string;
  readonly flags?: ConfigFlags;
}

/** Stands for the file where a text was given. */
const FLAG = "--mcp-config";

/** The files that are named; those given as texts are none. */
export function flagFiles({ home, cwd = "", flags }: FlagPlace): string[] {
  const sources = (flags?.sources ?? []).map((source) => source.trim());
  return sources.filter((source) => !isText(source)).map((source) => resolve(cwd, expandHome(source, home)));
}

/** One source of the command line. */
export interface FlagLayer {
  readonly origin: Exclude<Origin, "acp">;
  readonly document: JsonDocument;
  readonly entries: Layer;
  readonly surface: Surface | "auto" | undefined;
}

/** The entries of each source, from low to high. */
export function readFlagLayers(place: FlagPlace, problems: ConfigProblem[], memory: FileMemory): FlagLayer[] {
  return readFlagDocuments(place, problems, memory).map((document) => {
    const origin = /^settings\.(?:json|toml)$/.test(basename(document.file)) ? "settings" : "mcpjson";
    const named: JsonDocument = { ...document, layer: "flag" };
    const entries = readEntries(named, problems, origin === "mcpjson");
    return { origin, document: named, entries, surface: readUsualSurface(document, problems) };
  });
}

/**
 * Reads what is named. A person who names a file means it to be there, so one that is missing, or is no configuration at
 * all, is an error here; a mistake in one entry costs that entry, as in every file.
 */
export function readFlagDocuments(
  place: FlagPlace,
  problems: ConfigProblem[],
  memory: FileMemory = new FileMemory(),
): JsonDocument[] {
  return (place.flags?.sources ?? []).flatMap((source) => {
    const text = source.trim();
    const document = isText(text)
      ? parseJson(FLAG, text, problems)
      : readNamed(flagFiles(only(place, text)), problems, memory);
    if (document === undefined || document.root.type === "object") return document ?? [];
    report(problems, { file: document.file, line: 1, column: 1 }, NO_OBJECT);
    return [];
  });
}

const NO_OBJECT = 'It must hold an object with the key "mcpServers".';

function isText(source: string): boolean {
  return source.startsWith("{");
}

function only(place: FlagPlace, source: string): FlagPlace {
  return { ...place, flags: { sources: [source] } };
}

function readNamed(
  [file = ""]: readonly string[],
  problems: ConfigProblem[],
  memory: FileMemory,
): JsonDocument | undefined {
  const source = memory.read(file, problems);
  if (source !== undefined || existsSync(file)) return source?.document;
  return report(problems, { file, line: 1, column: 1 }, `There is no such file, which ${FLAG} names.`);
}
