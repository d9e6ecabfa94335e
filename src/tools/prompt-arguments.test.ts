import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PromptArgument } from "../protocol/types.ts";
import { argumentUsage, assignWords, missingArguments, splitWords, wordsOf } from "./prompt-arguments.ts";

const ARGS: PromptArgument[] = [
  { name: "city", required: true },
  { name: "state", required: false },
];

const texts = (line: string) => splitWords(line).map(({ text }) => text);
const given = (line: string, args = ARGS) => assignWords(args, splitWords(line)).given;

describe("the words of a line", () => {
  it("are held together by quotes around the whole of one, or of a value", () => {
    expect(texts(`New "York City"  'a b' city="x y" state='z' "say \\"hi\\" \\\\ \\n"`)).toEqual([
      ...["New", "York City", "a b", "city=x y", "state=z", 'say "hi" \\ \\n'],
    ]);
  });

  it("keep quotes that are letters", () => {
    expect(texts(`don't "open a"b 'c`)).toEqual(["don't", '"open', 'a"b', "'c"]);
    expect(texts("  ")).toEqual([]);
  });

  it("lose nothing but quotes and space, of any line, and say where each begins", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", " ", "\n", "=", '"', "'", "\\", "é", "😀") }), (line) => {
        const words = splitWords(line);
        const bare = (text: string) => text.replace(/[\s"'\\]/g, "");
        expect(bare(words.map(({ text }) => text).join(""))).toBe(bare(line));
        for (const { start } of words) expect(line[start]).toMatch(/\S/);
      }),
    );
  });
});

describe("arguments", () => {
  it("are taken in their order, by name in any, and the last one takes the rest with its lines", () => {
    expect(given("Rome")).toEqual({ city: "Rome" });
    expect(given("Rome Lazio")).toEqual({ city: "Rome", state: "Lazio" });
    expect(given("state=Lazio Rome")).toEqual({ city: "Rome", state: "Lazio" });
    expect(given("Rome the  first\n- and second")).toEqual({ city: "Rome", state: "the  first\n- and second" });
    expect(given("city=Rome")).toEqual({ city: "Rome" });
    expect(given("city=")).toEqual({ city: "" });
    expect(given("a=b state=")).toEqual({ city: "a=b", state: "" });
    expect(given("__proto__=x", [{ name: "__proto__", required: true }])).toEqual(JSON.parse('{"__proto__":"x"}'));
  });

  it("say which one comes next, and what no argument takes", () => {
    expect(assignWords(ARGS, splitWords("")).next?.name).toBe("city");
    expect(assignWords(ARGS, splitWords("Rome")).next?.name).toBe("state");
    expect(assignWords(ARGS, splitWords("Rome x y")).next?.name).toBe("state");
    expect(assignWords(ARGS, splitWords("city=Rome state=x")).next).toBeUndefined();
    expect(assignWords(ARGS, splitWords("city=Rome state=x y")).rest).toEqual(["y"]);
    expect(assignWords([], wordsOf(["x", "y=z"])).rest).toEqual(["x", "y=z"]);
    expect(missingArguments(ARGS, { state: "x", city: "" }).map(({ name }) => name)).toEqual(["city"]);
    expect(argumentUsage(ARGS)).toBe("<city> [state]");
  });
});
