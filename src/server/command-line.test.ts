// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitWords } from "./command-line.ts";

const posix = (line: string) => splitWords(line, "posix");
const windows = (line: string) => splitWords(line, "windows");

describe("a command line", () => {
  it("of words and quotes is split into them", () => {
    expect(posix("pass  show\ta/b-c.d_e@f:1,2")).toEqual(["pass", "show", "a/b-c.d_e@f:1,2"]);
    expect(posix(" op read 'a b' \"c d\" e'f g'\"h\" '' --x=1 ")).toEqual([
      "op",
      "read",
      "a b",
      "c d",
      "ef gh",
      "",
      "--x=1",
    ]);
    expect(posix(`sh -c 'echo "$X" | cat; \\n' "it's"`)).toEqual(["sh", "-c", 'echo "$X" | cat; \\n', "it's"]);
  });

  it("of anything else takes a shell", () => {
    for (const line of [
      ...["a | b", "a && b", "a; b", "a > b", "a < b", "a &", "(a)", "a `b`", "a $(b)", "a $B", "a ${B}", 'a "$B"'],
      ...["a *", "a ?", "a [b]", "a {b,c}", "~/a", "a ~", "A=1 b", "! a", "a #b", "a \\b", 'a "\\b"', "a\nb"],
      ...["a 'b", 'a "b', "", "  ", "''", "'' a"],
    ]) {
      expect(posix(line), line).toBeUndefined();
    }
  });

  it("is what Windows has for one there", () => {
    expect(windows('C:\\tools\\get.exe "a b" c\\d $X {e}')).toEqual(["C:\\tools\\get.exe", "a b", "c\\d", "$X", "{e}"]);
    for (const line of ["a | b", "a & b", "a > b", "a ^b", "%A%", 'a "%A%"', "a 'b'", 'a "b', 'a "b\\"'])
      expect(windows(line), line).toBeUndefined();
  });

  it("has the words the shell would have found", () => {
    const unit = fc.constantFrom(..."ab -/.='\"\t\n $*é\u00a0\\");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (rest) => {
        const words = posix(`printf ${rest}`);
        fc.pre(words !== undefined);
        const { stdout } = spawnSync("/bin/sh", ["-c", `set -- ${rest}\nfor word; do printf '%s\\0' "$word"; done`], {
          encoding: "utf8",
        });
        expect(words?.slice(1)).toEqual(stdout.split("\0").slice(0, -1));
      }),
      { numRuns: 200 },
    );
  });
});
