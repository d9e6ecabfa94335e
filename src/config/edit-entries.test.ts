import fc from "fast-check";
import { getNodeValue } from "jsonc-parser";
import { expect, it } from "vitest";
import { documentOf } from "./config.fixture.ts";
import { type EntryEdit, editEntries } from "./edit-entries.ts";

const space = fc.constantFrom(
  "",
  " ",
  "\n",
  "\n  ",
  "\n\t",
  " // a comment\n",
  " /* one */ ",
  "\n/* over\nlines */\n",
  "\r\n  ",
);
const name = fc.constantFrom("a", "b", "c", "d e");
const scalar = fc.constantFrom("1", "true", '"x // no comment"', '"}"', "[]", "{}", "[1, /* two */ 2]");

/** Members between brackets, with anything that may stand around them, and perhaps a comma behind the last. */
function between(open: string, close: string, members: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(space, members, space), { maxLength: 4 }), space, fc.boolean())
    .map(([items, end, isTrailing]) => {
      const text = items.map((parts) => parts.join("")).join(",");
      return `${open}${text}${isTrailing && items.length > 0 ? "," : ""}${end}${close}`;
    });
}

const fields = between(
  "{",
  "}",
  fc.oneof(
    fc
      .tuple(fc.constantFrom("command", "url", "x"), space, scalar)
      .map(([key, gap, value]) => `"${key}"${gap}:${value}`),
    fc.constantFrom('"disabled": true', '"disabled" :false', '"enabled": true', '"enabled":false'),
  ),
);
const map = between(
  "{",
  "}",
  fc.tuple(name, space, fields).map(([key, gap, value]) => `"${key}":${gap}${value}`),
);
const root = between(
  "{",
  "}",
  fc.oneof(
    map.map((value) => `"mcpServers": ${value}`),
    scalar.map((value) => `"other": ${value}`),
  ),
);
const text = fc.tuple(space, root, space).map((parts) => parts.join(""));

const edit: fc.Arbitrary<EntryEdit> = fc.oneof(
  name.map((each) => ({ kind: "put" as const, name: each, entry: { command: "new", args: ["1"] }, replace: true })),
  name.map((each) => ({ kind: "remove" as const, name: each })),
  fc.tuple(name, fc.boolean()).map(([each, on]) => ({ kind: "switch" as const, name: each, on })),
);

function serversOf(written: string): Record<string, { disabled?: boolean; enabled?: boolean }> {
  return (getNodeValue(documentOf(written).root) as { mcpServers?: Record<string, object> }).mcpServers ?? {};
}

it("does what is asked and nothing else to any layout", () => {
  fc.assert(
    fc.property(text, edit, (before, asked) => {
      const old = serversOf(before);
      if (asked.kind !== "put" && !(asked.name in old)) {
        expect(() => editEntries("f", before, [asked])).toThrow("has no server");
        return;
      }
      // Throws, too, if anything else would change.
      const after = editEntries("f", before, [asked]);
      const server = serversOf(after)[asked.name];
      if (asked.kind === "put") expect(server).toEqual(asked.entry);
      else if (asked.kind === "remove") expect(server).toBeUndefined();
      else expect(server?.disabled !== true && server?.enabled !== false).toBe(asked.on);
      // Only an entry that is replaced or removed takes its comments along.
      const comments = (written: string) => written.match(/\/\/ a comment|\/\* one \*\/|\/\* over/g)?.length ?? 0;
      if (asked.kind === "switch" || !(asked.name in old)) expect(comments(after)).toBe(comments(before));
    }),
    { numRuns: 2000 },
  );
});
