import fc from "fast-check";
import { expect, test } from "vitest";
import { planImport } from "../../../src/config/import/plan.ts";
import { fixture, importHome } from "./home.ts";

const PLACES: readonly (readonly [client: string, place: string, fixture: string])[] = [
  ["claude-code", "~/.claude.json", "claude-code.json"],
  ["vscode", "~/.config/Code/User/mcp.json", "vscode.json"],
  ["codex", "~/.codex/config.toml", "codex.toml"],
  ["opencode", "~/.config/opencode/opencode.jsonc", "opencode-v2.json"],
  ["zed", "~/.config/zed/settings.json", "zed.json"],
  ["goose", "~/.config/goose/config.yaml", "goose.yaml"],
  ["mcporter", "~/.mcporter/mcporter.json", "mcporter.jsonc"],
];

const ODD = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "null",
  "5",
  "${",
  "$",
  "\n",
  "  ",
  "&a ",
  "*a",
  "- ",
  "!!x ",
  "\u0000",
  "true",
];

interface Mutation {
  readonly at: number;
  readonly length: number;
  readonly insert: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(12),
  insert: fc.constantFrom("", ...ODD),
});

function mutated(text: string, mutations: readonly Mutation[]): string {
  return mutations.reduce((current, { at, length, insert }) => {
    const start = Math.floor(at * current.length);
    return current.slice(0, start) + insert + current.slice(start + length);
  }, text);
}

test("whatever is done to a program's file gives servers that can be written, or located messages", () => {
  using home = importHome();
  const file = home.path("~/mcp.json");
  fc.assert(
    fc.property(fc.constantFrom(...PLACES), fc.array(mutation, { minLength: 1, maxLength: 4 }), (place, mutations) => {
      const [client, path, name] = place;
      home.put(path, mutated(fixture(name), mutations));
      const scanned = home.scan(client);
      for (const problem of scanned.problems) {
        expect(problem.file).toBe(home.path(path));
        expect([problem.line, problem.column].every((at) => Number.isInteger(at) && at > 0)).toBe(true);
      }
      const { edits, change } = planImport([scanned], { file, fromProject: true, force: false });
      expect(change.length > 0).toBe(edits.length > 0);
      expect(change.join("")).not.toMatch(/\p{Cc}/u);
    }),
    { numRuns: 700 },
  );
});
