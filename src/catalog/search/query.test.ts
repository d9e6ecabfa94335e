import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameKey, parseQuery, type Query } from "./query.ts";
import { WEIGHTS } from "./weights.ts";

function parse(query: string): Query {
  return parseQuery(query, WEIGHTS);
}

function weightOf(query: string, surface: string): number | undefined {
  return parse(query).words.find((word) => word.surface === surface)?.weight;
}

describe("a request taken apart", () => {
  it("leaves out what says nothing, unless there is nothing else", () => {
    expect(parse("Can you please show me the weather?").words.map(({ surface }) => surface)).toEqual([
      "show",
      "weather",
    ]);
    expect(parse("what is it").words.map(({ surface }) => surface)).toEqual(["what", "is", "it"]);
  });

  it("counts the first words more and words that narrow nothing down less", () => {
    const query = "send mail about the budget and the latest plan";
    expect(weightOf(query, "mail")).toBe(1 + WEIGHTS.early);
    expect(weightOf(query, "plan")).toBe(1);
    expect(weightOf(query, "latest")).toBe(WEIGHTS.weak);
  });

  it.each([
    ["in quotes", 'write "delete all rows" into it'],
    ["in single quotes", "write 'delete all rows' into it"],
    ["in other quotes", "write “delete all rows” into it"],
    ["in an address", "open https://example.com/delete/all.html"],
    ["in a path", "open /home/me/delete/all.txt please"],
    ["in a selector", "press #delete now"],
  ])("counts a value hardly: %s", (_, query) => {
    expect(weightOf(query, "delete")).toBe(WEIGHTS.value);
  });

  it("takes no apostrophe and no lonely quote for the beginning of a value", () => {
    expect(weightOf("today's big delete of the user's files", "delete")).toBeGreaterThanOrEqual(1);
    expect(weightOf('a 5" screen to delete', "delete")).toBeGreaterThanOrEqual(1);
    expect(weightOf("'tis time to delete", "delete")).toBeGreaterThanOrEqual(1);
  });

  it("hears from a path that files are spoken of, and of which kind", () => {
    const query = "open the numbers in ~/work/sales.csv";
    expect(weightOf(query, "csv")).toBe(WEIGHTS.extension);
    expect(weightOf(query, "file")).toBe(WEIGHTS.implied);
    expect(weightOf("look at https://example.com", "url")).toBe(WEIGHTS.implied);
    expect(weightOf("look at https://example.com/a.csv", "file")).toBeUndefined();
  });

  it("tells the things apart that are asked for", () => {
    const query = parse("Read the sales numbers, draw a bar chart and send it by mail. Thanks!");
    const clausesOf = (surface: string) => query.words.find((word) => word.surface === surface)?.clauses;
    expect([clausesOf("sales"), clausesOf("chart"), clausesOf("mail")]).toEqual([[0], [1], [2]]);
    expect(parse("open bugs").clauses).toBe(1);
    expect(parse("read, write and list files").clauses).toBe(2);
    expect(parse("").clauses).toBe(1);
  });

  it("hears from the first verb whether something is to change", () => {
    expect(parse("please delete what you find").intent).toBe("changing");
    expect(parse("find what was deleted").intent).toBe("reading");
    expect(parse("weather").intent).toBeUndefined();
  });

  it("keeps what may be a name, the whole query first", () => {
    expect(parse("read_file").names).toEqual(["readfile"]);
    expect(parse("use read_file of disk/list-all").names).toEqual([
      "usereadfileofdisklistall",
      "readfile",
      "disklistall",
    ]);
    for (const name of ["read_file", "readFile", "Read File", "READ-FILE"]) expect(nameKey(name)).toBe("readfile");
  });

  it("looks at no more than it needs of an endless request, and takes any text", () => {
    const long = Array.from({ length: 10_000 }, (_, at) => `word${at}, `).join("");
    expect(parse(long).words.length).toBeLessThan(50);
    expect(parse(long).clauses).toBeLessThan(10);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const { words, clauses } = parse(text);
        for (const word of words) {
          expect(word.weight).toBeGreaterThan(0);
          for (const clause of word.clauses) expect(clause).toBeLessThan(clauses);
        }
      }),
    );
  });
});
