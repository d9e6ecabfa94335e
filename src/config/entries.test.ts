import { describe, expect, it } from "vitest";
import { brief, documentOf } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import type { ConfigProblem } from "./record.ts";

function read(text: string): { names: string[]; problems: string[] } {
  const problems: ConfigProblem[] = [];
  const names = [...readEntries(documentOf(text), problems).keys()];
  return { names, problems: brief(problems) };
}

describe("readEntries", () => {
  it("reads an object by its keys and an array by its names", () => {
    expect(read('{"mcpServers": {"a": {}, "b": {}}}')).toEqual({ names: ["a", "b"], problems: [] });
    expect(read('{"mcpServers": [{"name": "a"}, {"name": "b"}]}')).toEqual({ names: ["a", "b"], problems: [] });
    expect(read('{"theme": "dark"}')).toEqual({ names: [], problems: [] });
  });

  it("reports what cannot hold servers", () => {
    expect(read("[]").problems).toEqual(['1:1 error This file must hold an object with the key "mcpServers".']);
    for (const value of ["5", "null", '"x"']) {
      expect(read(`{"mcpServers": ${value}}`).problems).toEqual([
        expect.stringMatching(/^1:16 error "mcpServers" must be /),
      ]);
    }
  });

  it("reports an entry without a usable name and reads the others", () => {
    const { names, problems } = read(
      '{"mcpServers": [5,\n{"command": "x"},\n{"name": 5},\n{"name": " "},\n{"name": "a\\u202eb"},\n{"name": "ok"}]}',
    );
    expect(names).toEqual(["ok"]);
    expect(problems.map((problem) => problem.split(" ", 2).join(" "))).toEqual([
      "1:17 error",
      "2:1 error",
      "3:10 error",
      "4:10 error",
      "5:10 error",
    ]);
  });

  it("trims a name with a warning", () => {
    expect(read('{"mcpServers": {"a\\n": {}}}')).toEqual({
      names: ["a"],
      problems: ['1:17 warning White space around the server name "a" was ignored.'],
    });
  });

  it("uses the later of two equal keys and says so", () => {
    const { names, problems } = read('{"mcpServers": {"a": {},\n"a": {}}}');
    expect(names).toEqual(["a"]);
    expect(problems).toEqual(['2:1 warning Server "a" is also on line 1; this later entry is used.']);
  });

  it("keeps the first of two items with one name", () => {
    const { names, problems } = read('{"mcpServers": [{"name": "a"},\n{"name": "a"}]}');
    expect(names).toEqual(["a"]);
    expect(problems).toEqual([expect.stringMatching(/^2:10 error The name "a" is taken by the server on line 1;/)]);
  });

  it("lets a switched-off item share the name of another", () => {
    const off = '{"name": "a", "disabled": true, "command": "off"}';
    const on = '{"name": "a", "command": "on"}';
    for (const items of [`${off},${on}`, `${on},${off}`, `${off},${off},${on}`]) {
      const problems: ConfigProblem[] = [];
      const entry = readEntries(documentOf(`{"mcpServers": [${items}]}`), problems).get("a");
      expect(entry?.fields?.get("command")?.value.value).toBe("on");
      expect(problems).toEqual([]);
    }
    expect(read('{"mcpServers": [{"disabled": true}, {"enabled": false, "name": "x"}]}').problems).toEqual([]);
  });

  it("keeps the place of an entry that is not an object", () => {
    const problems: ConfigProblem[] = [];
    const entry = readEntries(documentOf('{"mcpServers": {"a": 5}}'), problems).get("a");
    expect(entry).toEqual({ name: "a", source: { file: "/mcp.json", line: 1, column: 17 } });
    expect(problems).toMatchObject([{ line: 1, column: 22, severity: "error", server: "a" }]);
  });
});
