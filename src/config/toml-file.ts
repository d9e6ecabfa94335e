import { createRequire } from "node:module";
import type { TomlError } from "smol-toml";
import { type JsonDocument, type JsonNode, lineStartsOf, readFile, report } from "./json-file.ts";
import type { ConfigProblem } from "./record.ts";
import { type KeyPositions, keyPositions, pathOf } from "./toml-positions.ts";

/**
 * Reads a TOML file as the same tree a JSON file gives, so that everything behind it is one code. The parser is loaded
 * only when there is such a file, and by `require`, because reading a configuration waits for nothing.
 */
export function readTomlFile(file: string, problems: ConfigProblem[]): JsonDocument | undefined {
  return readFile(file, problems, parseToml);
}

/** The parsing half of `readTomlFile`. */
export function parseToml(file: string, text: string, problems: ConfigProblem[]): JsonDocument | undefined {
  const start = { file, line: 1, column: 1 };
  let parse: typeof import("smol-toml").parse;
  try {
    ({ parse } = createRequire(import.meta.url)("smol-toml"));
  } catch {
    return report(problems, start, "This file was not read: the package smol-toml, which reads TOML, is missing.");
  }
  try {
    const root = nodeOf(parse(text), [], 0, keyPositions(text));
    return { file, text, root, lineStarts: lineStartsOf(text) };
  } catch (thrown) {
    const { message, line, column }: Partial<TomlError> = thrown instanceof Error ? thrown : {};
    if (line === undefined || column === undefined) {
      return report(problems, start, "This file is nested too deeply to be read.");
    }
    // Nothing but the first line: below it stand lines of the file.
    const what = message?.split("\n")[0]?.replace(/^Invalid TOML document: |\.$/g, "") ?? "it is not valid TOML here";
    return report(
      problems,
      { file, line, column },
      `This file is not used because of a mistake in its syntax: ${what}.`,
    );
  }
}

/** A value that stands in no file, as the tree that the text of a file gives; all of it has the one place. */
export function documentOfValue(file: string, value: unknown): JsonDocument {
  return { file, text: "", root: nodeOf(value, [], 0, new Map()), lineStarts: [0] };
}

/** What has no place of its own, such as a value in an inline table, stands where its owner does. */
function nodeOf(value: unknown, path: readonly string[], offset: number, positions: KeyPositions): JsonNode {
  if (Array.isArray(value)) {
    const children = value.map((item, index) => {
      const at = [...path, String(index)];
      return nodeOf(item, at, positions.get(pathOf(at))?.value ?? offset, positions);
    });
    return { type: "array", offset, length: 0, children };
  }
  // TOML has dates of its own, which nothing here asks for: they count as they are written.
  if (value instanceof Date) return { type: "string", offset, length: 0, value: value.toISOString() };
  if (typeof value === "object" && value !== null) {
    const children = Object.entries(value).map(([key, item]): JsonNode => {
      const at = [...path, key];
      const place = positions.get(pathOf(at)) ?? { key: offset, value: offset };
      const name: JsonNode = { type: "string", offset: place.key, length: 0, value: key };
      return {
        type: "property",
        offset: place.key,
        length: 0,
        children: [name, nodeOf(item, at, place.value, positions)],
      };
    });
    return { type: "object", offset, length: 0, children };
  }
  const type = typeof value === "number" ? "number" : typeof value === "boolean" ? "boolean" : "string";
  return { type, offset, length: 0, value };
}
