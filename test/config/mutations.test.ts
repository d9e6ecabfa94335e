import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml, stringify as stringifyToml } from "smol-toml";
import { expect, test } from "vitest";
import { KNOWN_FIELDS } from "../../src/config/known-fields.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { LoadedConfig } from "../../src/config/record.ts";
import { temporaryHome } from "../ground/home.ts";
import { EXPECTED } from "./expected.ts";

const CORPUS = fileURLToPath(new URL("./corpus", import.meta.url));

/** Files that give servers and nothing to complain of. */
const VALID = readdirSync(CORPUS)
  .filter((file) => EXPECTED[file]?.length !== 0 && EXPECTED[file]?.every((line) => !/^\d+:\d+ /.test(line)))
  .map((file) => ({ file, text: readFileSync(join(CORPUS, file), file === "utf-16.json" ? "utf16le" : "utf8") }));

/** Pieces that matter to one of the parsers or readers. */
const PIECES = [
  ..."{}[]\",:'\\/#=.-$!~ \n\r\t\0\u00a0\u202e\ud800é5",
  ...["//", "/*", "*/", '"""', "'''", "null", "true", "1e999", "{}", "[]", '""', "${", "\\u", "\\n", "__proto__"],
  ...["mcpServers", "mcp_servers", "command", "url", "type", "env", "args", "headers", "disabled", "enabled", "\ufeff"],
];

/** Takes some characters out at a place, and puts a piece or a part of the text itself in. */
const EDIT = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.oneof({ weight: 4, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(80) }),
  insert: fc.oneof(
    { weight: 1, arbitrary: fc.constant("") },
    { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 1, arbitrary: fc.record({ from: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(60) }) },
  ),
});

const TEXT_EDITS = fc.array(EDIT, { minLength: 1, maxLength: 3 });

type TextEdit = typeof EDIT extends fc.Arbitrary<infer Edit> ? Edit : never;

function mutate(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((now, { at, remove, insert }) => {
    const start = Math.floor(at * now.length);
    const from = typeof insert === "string" ? 0 : Math.floor(insert.from * now.length);
    const piece = typeof insert === "string" ? insert : now.slice(from, from + insert.length);
    return now.slice(0, start) + piece + now.slice(start + remove);
  }, text);
}

/** Values a person, or somebody worse, might put in the place of another. */
const VALUE = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    5,
    1e300,
    "",
    " ",
    "x",
    "!x",
    "${A",
    "a\nb",
    "\0",
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<unknown>(
    "https://h.example/",
    "sse",
    "stdio",
    "direct",
    ["x", "y"],
    { A: "b" },
    { mode: "lazy" },
    [5],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Changes one node of the tree: another value, another key, or none at all. */
const TREE_EDIT = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  change: fc.oneof(
    fc.record({ value: VALUE }),
    fc.record({
      key: fc.oneof(fc.constantFrom(...KNOWN_FIELDS.keys(), "name", "__proto__"), fc.string({ maxLength: 12 })),
    }),
    fc.constant({ gone: true as const }),
  ),
});

type TreeEdit = typeof TREE_EDIT extends fc.Arbitrary<infer Edit> ? Edit : never;

const MUTATION = fc.oneof(
  fc.record({ source: fc.constantFrom(...VALID), edits: TEXT_EDITS }).map(({ source: { file, text }, edits }) => ({
    file,
    text: mutate(text, edits),
  })),
  fc
    .record({ source: fc.constantFrom(...VALID), edits: fc.array(TREE_EDIT, { minLength: 1, maxLength: 4 }) })
    .map(({ source: { file, text }, edits }) => {
      const isToml = extname(file) === ".toml";
      const root: unknown = isToml ? parseToml(text) : parseJsonc(text, [], { allowTrailingComma: true });
      for (const edit of edits) mutateTree(root, edit);
      return { file, text: isToml ? tomlOf(root, text) : JSON.stringify(root, null, 1) };
    }),
);

/** Not every tree can be written in TOML; what cannot is left as it was. */
function tomlOf(root: unknown, otherwise: string): string {
  try {
    return stringifyToml(root);
  } catch {
    return otherwise;
  }
}

/** Below the list of servers, which is not emptied: an empty one is as good as any and says nothing. */
function mutateTree(root: unknown, { at, change }: TreeEdit): void {
  const places: [Record<string, unknown>, string][] = [];
  const visit = (node: unknown, depth: number): void => {
    if (typeof node !== "object" || node === null) return;
    for (const key of Object.keys(node)) {
      const owner = node as Record<string, unknown>;
      if (depth > ("gone" in change ? 1 : 0)) places.push([owner, key]);
      visit(owner[key], depth + 1);
    }
  };
  visit(root, 0);
  const place = places[Math.min(places.length - 1, Math.floor(at * places.length))];
  if (place === undefined) return;
  const [owner, key] = place;
  const value = owner[key];
  if ("value" in change) owner[key] = change.value;
  else if (Array.isArray(owner)) owner.splice(Number(key), 1);
  else {
    delete owner[key];
    // Defined, since `__proto__` cannot be assigned.
    const more = { value, enumerable: true, configurable: true, writable: true };
    if ("key" in change) Object.defineProperty(owner, change.key, more);
  }
}

/** Whether the text, by another reading of it, names no server that is switched on. */
function isSilent(text: string, isToml: boolean): boolean {
  const root: unknown = isToml ? parseToml(text) : parseJsonc(text, [], { allowTrailingComma: true });
  if (root === undefined) return true;
  if (typeof root !== "object" || root === null) return false;
  const containers = ["mcpServers", "mcp-servers", "mcp_servers"].flatMap((key) =>
    Object.hasOwn(root, key) ? [(root as Record<string, unknown>)[key]] : [],
  );
  // A TOML file may hold settings alone, and a JSON object nothing at all.
  if (containers.length === 0) return isToml || Object.keys(root).every((key) => OWN_KEYS.includes(key));
  const listed = Object.entries(root).flatMap(([key, value]) => (/^disabled/.test(key) ? value : []));
  return containers.every(
    (container) =>
      typeof container === "object" &&
      container !== null &&
      Object.entries(container).every(
        ([name, entry]) =>
          typeof entry === "object" &&
          entry !== null &&
          (entry.disabled === true || entry.enabled === false || listed.includes(name)),
      ),
  );
}

const OWN_KEYS = ["$schema", "imports", "settings", "inputs", "autoEnableCodemode"];

test("of 1,000 mutations of valid files each gives servers or a located message, and none throws", async () => {
  await using home = await temporaryHome();
  const env = home.env();
  mkdirSync(home.agentDir, { recursive: true });
  const tally = { servers: 0, problems: 0, silent: 0 };
  fc.assert(
    fc.property(MUTATION, ({ file: source, text }) => {
      const isToml = extname(source) === ".toml";
      const file = isToml ? "settings.toml" : source.startsWith("settings-") ? "settings.json" : "mcp.json";
      for (const each of ["settings.toml", "settings.json", "mcp.json"])
        rmSync(join(home.agentDir, each), { force: true });
      const path = join(home.agentDir, file);
      writeFileSync(path, text);
      const { servers, problems }: LoadedConfig = loadConfig({ env, home: home.home });
      const lines = text.split("\n");
      for (const { line, column, message, ...problem } of problems) {
        expect(problem.file).toBe(path);
        expect(message).toMatch(/^[^\p{Cc}]+[.?]$/u);
        expect(line >= 1 && line <= lines.length).toBe(true);
        expect(column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 2).toBe(true);
      }
      for (const { name, source: place } of servers) {
        expect(name).not.toBe("");
        expect(place.file).toBe(path);
      }
      if (servers.length > 0) tally.servers++;
      if (problems.length > 0) tally.problems++;
      if (servers.length > 0 || problems.length > 0) return;
      tally.silent++;
      const isSettings = file === "settings.json" && !/mcp.?servers"/i.test(text);
      expect(isSettings || isSilent(text, isToml), JSON.stringify(text)).toBe(true);
    }),
    { numRuns: 1000, seed: 20_260 },
  );
  // Else the mutations would not be worth their name, or most of them prove nothing.
  expect(tally.servers).toBeGreaterThan(200);
  expect(tally.problems).toBeGreaterThan(300);
  expect(tally.silent).toBeLessThan(50);
});
