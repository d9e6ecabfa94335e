import { mkdirSync } from "node:fs";
import { getNodeValue } from "jsonc-parser";
import { afterEach, describe, expect, it } from "vitest";
import { brief, documentOf, removeHomes, testHome } from "./config.fixture.ts";
import { parseJson, positionOf, readJsonFile } from "./json-file.ts";
import type { ConfigProblem } from "./record.ts";

afterEach(removeHomes);

function problemOf(text: string) {
  const problems: ConfigProblem[] = [];
  expect(parseJson("/f.json", text, problems)).toBeUndefined();
  const [problem, ...more] = problems;
  if (problem === undefined || more.length > 0) throw new Error(`not one problem: ${JSON.stringify(problems)}`);
  return problem;
}

describe("parseJson", () => {
  it("reads comments and trailing commas", () => {
    const document = documentOf('// one\n{ /* two */ "a": [1, 2,], }\n');
    expect(getNodeValue(document.root)).toEqual({ a: [1, 2] });
  });

  it("takes a blank file for none", () => {
    const problems: ConfigProblem[] = [];
    for (const text of ["", "  \n\t", "// nothing\n", "/* nothing */"]) {
      expect(parseJson("/f.json", text, problems)).toBeUndefined();
    }
    expect(problems).toEqual([]);
  });

  it("places a syntax error, and says what it is", () => {
    const cases: [string, number, number, RegExp][] = [
      ['{\n  "a": 1\n  "b": 2\n}', 3, 3, /comma is missing/],
      ['{\n  "a" 1 }', 2, 7, /colon is missing/],
      ["{ a: 1 }", 1, 3, /double quotes/],
      ["{ 'a': 1 }", 1, 3, /double quotes/],
      ['{ "a": [1 }', 1, 11, /\]|comma/],
      ['{ "a": 1', 1, 9, /closing \}/],
      ["{} x", 1, 4, /not allowed/],
      ['{ "a": }', 1, 8, /value is expected/],
      ['{ "a": "x }', 1, 8, /not closed/],
      ["/* x", 1, 1, /comment is not closed/],
      ['{"c":\r\n  "C:\\Users\\me"}', 2, 3, /hexadecimal|written twice/],
      ['{"c": "D:\\qrs"}', 1, 7, /written twice/],
    ];
    for (const [text, line, column, message] of cases) {
      const problem = problemOf(text);
      expect([text, problem.line, problem.column, problem.severity]).toEqual([text, line, column, "error"]);
      expect(problem.message).toMatch(message);
    }
  });

  it("survives a document that is nested without end", () => {
    expect(problemOf("[".repeat(200_000)).message).toMatch(/nested too deeply/);
  });

  it("counts lines and columns from one", () => {
    const document = documentOf('{\n "a": 1,\r\n\n   "b": 2 }', "/f.json");
    const keys = (document.root.children ?? []).map((property) => positionOf(document, property));
    expect(keys).toEqual([
      { file: "/f.json", line: 2, column: 2 },
      { file: "/f.json", line: 4, column: 4 },
    ]);
  });
});

describe("positionOf", () => {
  it("is what counting gives, at every place of a text", () => {
    for (const text of ["[1]", "\n[1,\n\n2 ,3\n]\n", "\r\n[\r\n1]\r\n\n", " [\n1,2,\n3]"]) {
      const document = documentOf(text);
      for (const node of [document.root, ...(document.root.children ?? [])]) {
        const lines = text.slice(0, node.offset).split("\n");
        const { line, column } = positionOf(document, node);
        expect([line, column], text).toEqual([lines.length, (lines.at(-1) ?? "").length + 1]);
      }
    }
  });

  it("costs little at the end of a large file", () => {
    const document = documentOf(`[${"\n1,".repeat(200_000)}]`);
    const positions = (document.root.children ?? []).map((node) => positionOf(document, node));
    expect(positions.at(-1)).toEqual({ file: "/mcp.json", line: 200_001, column: 1 });
  }, 10_000);
});

describe("readJsonFile", () => {
  it("takes a missing file and a missing folder for none", () => {
    const { home, write } = testHome();
    const file = write("file", "{}");
    const problems: ConfigProblem[] = [];
    for (const path of [`${home}/none.json`, `${home}/none/none.json`, `${file}/none.json`]) {
      expect(readJsonFile(path, problems)).toBeUndefined();
    }
    expect(problems).toEqual([]);
  });

  it("skips a byte order mark, without a column for it", () => {
    const { write } = testHome();
    const utf8 = readJsonFile(write("a.json", '\ufeff{"a": 1}'), []);
    const utf16 = readJsonFile(write("b.json", Buffer.from('\ufeff{"ä": 1}', "utf16le")), []);
    expect([utf8?.root.offset, utf16?.root.offset]).toEqual([0, 0]);
  });

  it("reports what is not a file or not text", () => {
    const { home, write } = testHome();
    mkdirSync(`${home}/folder.json`);
    const latin1 = write("latin1.json", Buffer.from('{"ä": 1}', "latin1"));
    const problems: ConfigProblem[] = [];
    expect(readJsonFile(`${home}/folder.json`, problems)).toBeUndefined();
    expect(readJsonFile(latin1, problems)).toBeUndefined();
    expect(brief(problems)).toEqual([
      "1:1 error This is not a regular file, so it was not read.",
      "1:1 error This file could not be read: it is not UTF-8 text.",
    ]);
  });
});
