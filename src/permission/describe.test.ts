import { expect, it } from "vitest";
import type { PermissionRule, PermissionSettings } from "../config/record.ts";
import { describePermission, permissionChange, permissionLine } from "./describe.ts";

const SOURCE = { layer: "own", file: "/home/me/mcp.json", line: 3, column: 5 } as const;
const patterns = [{ server: "a", kind: "any", name: "*" }] as const;
const RULE: PermissionRule = { effect: "deny", patterns, written: '"a"', source: SOURCE };
const ASK: PermissionSettings = {
  mode: "ask",
  modeSource: SOURCE,
  rules: [RULE],
  kept: [{ server: "s\u001b", identity: "1", kind: "tool", name: "t" }],
};

it("is said in a line where anything is asked or denied, and in full", () => {
  expect(permissionLine({ mode: "yolo", rules: [], kept: [] })).toBeUndefined();
  expect(permissionLine(ASK)).toBe("Permission: mode ask (/home/me/mcp.json:3), 1 rule, 1 lasting answer");
  expect(describePermission(ASK)).toEqual([
    "mode ask (/home/me/mcp.json:3)",
    'deny  "a" of `permission.deny` in /home/me/mcp.json:3',
    "always  s?: tool t",
  ]);
});

it("a change is said, and a lasting answer or another place is none", () => {
  expect(permissionChange(undefined, { mode: "yolo", rules: [], kept: [] })).toBeUndefined();
  expect(permissionChange(ASK, { ...ASK, kept: [], modeSource: { ...SOURCE, line: 9 } })).toBeUndefined();
  expect(permissionChange(undefined, ASK)).toBe("Permission: mode ask (/home/me/mcp.json:3), 1 rule.");
  expect(permissionChange(ASK, undefined)).toBe("Permission: nothing is asked.");
  expect(permissionChange(ASK, { ...ASK, rules: [{ ...RULE, effect: "ask" }] })).toContain("1 rule");
});
