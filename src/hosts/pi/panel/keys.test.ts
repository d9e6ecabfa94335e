import { describe, expect, test } from "vitest";
import { readKey } from "./keys.ts";

describe("a key is read as terminals send it", () => {
  test.each([
    ["\u001b[A", "up"],
    ["\u001bOB", "down"],
    ["\u001b[1;1:1B", "down"],
    ["\u001b[5~", "pageUp"],
    ["\u001b[6;1~", "pageDown"],
    ["\u001b[H", "home"],
    ["\u001b[4~", "end"],
    ["\r", "enter"],
    ["\u001b[13u", "enter"],
    ["\u001b", "escape"],
    ["\u001b\u001b", "escape"],
    ["\u001b[27;1:1u", "escape"],
    ["\u0003", "escape"],
    ["\u001b[99;5u", "escape"],
    ["\u007f", "backspace"],
    ["j", { text: "j" }],
    ["中", { text: "中" }],
    ["\u001b[106u", { text: "j" }],
    ["\u001b[106:74;2u", { text: "J" }],
    ["\u001b[103;2u", { text: "G" }],
    ["\u001b[200~git\nhub\u001b[201~", { text: "git\nhub", isPasted: true }],
  ])("%j", (data, key) => {
    expect(readKey(data)).toEqual(key);
  });

  test.each(["\u001b[106;5u", "\u001b[99999999999u", "\u0001", "\u001b[Z", "\u001b]52;c;x\u0007", "", "\t"])(
    "%j means nothing",
    (data) => {
      expect(readKey(data)).toBeUndefined();
    },
  );

  test("a person's own keys come first", () => {
    expect(readKey("n", { matches: (data, binding) => data === "n" && binding === "tui.select.down" })).toBe("down");
  });
});
