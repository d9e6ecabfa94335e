import { createRequire } from "node:module";
import type { Node, Pair } from "yaml";
import { type JsonDocument, type JsonNode, lineStartsOf, positionOf, readFile, report } from "./json-file.ts";
import type { ConfigProblem } from "./record.ts";

/** The parser takes its time: a megabyte is a second, and more than any program's configuration has. */
const MAX_CHARS = 1024 * 1024;

/** More than any configuration has; a few lines of references to references can stand for billions. */
const MAX_NODES = 100_000;

/**
 * Reads a YAML file as the same tree a JSON file gives. Other programs alone have such files, so the parser is loaded
 * when there is one, and by `require`, because reading a configuration waits for nothing.
 */
export function readYamlFile(file: string, problems: ConfigProblem[]): JsonDocument | undefined {
  return readFile(file, problems, parseYaml);
}

function parseYaml(file: string, text: string, problems: ConfigProblem[]): JsonDocument | undefined {
  const start = { file, line: 1, column: 1 };
  if (text.length > MAX_CHARS) return report(problems, start, "This file is larger than 1 MiB, so it was not read.");
  let yaml: typeof import("yaml");
  try {
    yaml = createRequire(import.meta.url)("yaml");
  } catch {
    return report(problems, start, "This file was not read: the package yaml, which reads YAML, is missing.");
  }
  const empty: JsonDocument = {
    file,
    text,
    root: { type: "null", offset: 0, length: 0 },
    lineStarts: lineStartsOf(text),
  };
  try {
    // Of two with one key the later counts, as in JSON; to look for them the parser compares each key with each.
    const parsed = yaml.parseDocument(text, { prettyErrors: false, logLevel: "error", uniqueKeys: false });
    const [error] = parsed.errors;
    if (error !== undefined) {
      const position = positionOf(empty, { type: "null", offset: error.pos[0], length: 0 });
      return report(
        problems,
        position,
        "This file is not used because of a mistake in its syntax: it is not valid YAML here.",
      );
    }
    let count = 0;
    /** What references stand for; the parser's own way to find it searches the whole document each time. */
    const anchors = new Map<string, Node>();
    const nodeOf = (node: unknown, offset: number): JsonNode => {
      if (++count > MAX_NODES) throw new RangeError("too many nodes");
      const at = (node as Node | null)?.range?.[0] ?? offset;
      if (yaml.isAlias(node)) return nodeOf(anchors.get(node.source), at);
      if (yaml.isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
      if (yaml.isSeq(node))
        return { type: "array", offset: at, length: 0, children: node.items.map((item) => nodeOf(item, at)) };
      if (yaml.isMap(node))
        return { type: "object", offset: at, length: 0, children: node.items.map((item) => propertyOf(item, at)) };
      return scalar(yaml.isScalar(node) ? node.value : null, at);
    };
    const propertyOf = ({ key, value }: Pair, offset: number): JsonNode => {
      const name = nodeOf(key, offset);
      const at = name.offset;
      const text = typeof name.value === "string" ? name.value : String(name.value ?? "");
      const children = [{ type: "string" as const, offset: at, length: 0, value: text }, nodeOf(value, at)];
      return { type: "property", offset: at, length: 0, children };
    };
    return parsed.contents === null ? undefined : { ...empty, root: nodeOf(parsed.contents, 0) };
  } catch {
    return report(problems, start, "This file is nested too deeply or too large to be read.");
  }
}

function scalar(value: unknown, offset: number): JsonNode {
  if (value === null || value === undefined) return { type: "null", offset, length: 0, value: null };
  const type = typeof value;
  if (type === "number" || type === "boolean" || type === "string")
    return { type, offset, length: 0, value } as JsonNode;
  return { type: "string", offset, length: 0, value: String(value) };
}
