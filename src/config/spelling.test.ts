import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Dialect, type Note, spell, spellText } from "./spelling.ts";
import { replaceVariables } from "./variables.ts";

const TEXT_ONLY: Dialect = { forms: [], isStrict: true };

/** What a text becomes when a server is started, with `<NAME>` for the value of a variable. */
function filledIn(text: string): string {
  return replaceVariables(text, "all", ({ name, fallback }) => `<${name}${fallback ?? ""}>`);
}

function spelled(text: string, dialect: Dialect): { text: string; notes: Note[] } {
  const notes: Note[] = [];
  return { text: spell(text, dialect, notes), notes };
}

/** Texts full of what could mean something. */
const odd = fc
  .array(fc.constantFrom("$", "{", "}", "A", "env:", ":-", "!", "5", "_", "a b", "${A}", "{env:A}", "$$"), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

describe("another program's spelling", () => {
  it("of text comes out as that text, whatever it looks like", () => {
    fc.assert(
      fc.property(odd, (text) => {
        const { text: ours, notes } = spelled(text, TEXT_ONLY);
        if (notes.length > 0) expect(text).toContain("{env:A");
        else expect(filledIn(ours)).toBe(text);
      }),
    );
    fc.assert(
      fc.property(odd, (text) => {
        if (!text.includes("{env:")) expect(filledIn(spellText(text))).toBe(text);
      }),
    );
  });

  it("of a variable names that variable, whatever stands around it", () => {
    fc.assert(
      fc.property(
        odd,
        odd,
        fc.constantFrom<[Dialect["forms"], string]>(
          [["env"], "${env:X}"],
          [["braced"], "${X}"],
          [["shell"], "$env:X"],
          [["inner"], "{env:X}"],
        ),
        (before, after, [forms, variable]) => {
          const { text, notes } = spelled(`${before}-${variable}-${after}`, { forms, isStrict: true });
          if (notes.length > 0) return;
          expect(filledIn(text)).toContain("-<X>-");
        },
      ),
    );
  });

  it.each<[string, Dialect["forms"], string]>([
    ["$${env:X}", ["env"], "$$${X}"],
    ["${env:X}", ["inner"], "$$${X}"],
    ["${X:-a b}", ["braced", "fallback"], "${X:-a b}"],
    ["${X:-a b}", ["braced"], "$${X:-a b}"],
    ["$X.$Y", ["bare"], "${X}.${Y}"],
    ["$5 and 5$", [], "$5 and 5$"],
    ["$!x", [], "$$!x"],
    ["plain", ["env"], "plain"],
  ])("%s where it knows %j is %s", (text, forms, ours) => {
    expect(spelled(text, { forms, isStrict: true })).toEqual({ text: ours, notes: [] });
  });

  it("is not escaped where nobody knows what the program fills in", () => {
    expect(spelled("$A ${B} {env:C}", { forms: ["inner"], isStrict: false }).text).toBe("$A ${B} ${C}");
  });

  it("of an editor's folders is filled in, or said to be unknown", () => {
    const editor = (folder?: string): Dialect => ({
      forms: ["env"],
      isStrict: true,
      editor: { platform: "linux", ...(folder !== undefined && { folder }) },
    });
    expect(spelled("${workspaceFolder}/a", editor("/p$X")).text).toBe("/p$$X/a");
    expect(spelled("${workspaceFolder}/a", editor()).text).toBe("./a");
    expect(spelled("${workspaceFolder:other}/a", editor()).notes).toHaveLength(0);
    expect(spelled("--dir=${workspaceFolder}", editor()).notes).toMatchObject([{ blocks: true }]);
    expect(spelled("${file}", editor("/p")).notes).toMatchObject([{ blocks: true }]);
    expect(spelled("${userHome}${/}x", { ...editor(), editor: { platform: "win32" } }).text).toBe("${USERPROFILE}\\x");
  });

  it("takes time in proportion to the text", () => {
    const long = "$".repeat(100_000);
    expect(filledIn(spelled(long, TEXT_ONLY).text)).toBe(long);
    expect(spelled("{env:A".repeat(20_000), TEXT_ONLY).notes).toEqual([]);
    expect(spelled("${".repeat(50_000), { forms: ["env", "braced", "fallback"], isStrict: true }).notes).toEqual([]);
  });
});
