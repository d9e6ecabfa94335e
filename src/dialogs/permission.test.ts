import { describe, expect, it } from "vitest";
import type { PermissionRequest } from "../permission/port.ts";
import { answering, NEVER } from "./asker.fixture.ts";
import { askPermission } from "./permission.ts";

const REQUEST: PermissionRequest = {
  server: "files",
  kind: "tool",
  name: "write_file",
  args: { path: "notes.md", content: "one\ntwo" },
  annotations: { destructiveHint: true },
  why: "mode `ask` (/home/me/mcp.json:3)",
};

describe("the question", () => {
  it("shows server, tool, arguments, what the tool says and why; the first answer is the harmless one", async () => {
    const { asker, shown } = answering(undefined);
    await askPermission(asker, REQUEST, NEVER);
    expect(shown).toEqual([
      {
        text: [
          "Use tool `write_file` of MCP server `files`?",
          '  path: "notes.md"',
          '  content: "one\\ntwo"',
          "",
          "It says that it may change or remove things.",
          "You are asked because of mode `ask` (/home/me/mcp.json:3).",
        ].join("\n"),
        options: [
          "Deny",
          "Allow once",
          "Allow tool write_file for this session",
          "Allow all of server files for this session",
          "Always allow tool write_file",
        ],
      },
    ]);
  });

  it.each([
    ["Deny", "deny"],
    ["Allow once", "once"],
    ["Allow tool write_file for this session", "thing"],
    ["Allow all of server files for this session", "server"],
    ["Always allow tool write_file", "always"],
    [undefined, "deny"],
    ["something else", "deny"],
  ])("takes %s for %s", async (said, answer) => {
    expect(await askPermission(answering(said).asker, REQUEST, NEVER)).toBe(answer);
  });

  it("shows all of what it has cut, as often as wanted", async () => {
    const content = Array.from({ length: 60 }, (_, n) => `line ${n} ${"x".repeat(70)}`);
    const { asker, shown } = answering(
      "Show all arguments",
      "Next page",
      "Back to the question",
      "Show all arguments",
      undefined,
      "Allow once",
    );
    expect(await askPermission(asker, { ...REQUEST, args: { content } }, NEVER)).toBe("once");
    expect(shown[0]?.text).toMatch(/ {2}content: \["line 0 x+","line 1 .*…/);
    expect(shown[1]?.text).toMatch(/^Page 1 of 4:\n\{\n {2}"content": \[\n {4}"line 0 x+",/);
    expect(shown[2]?.text).toContain("Page 2 of 4");
  });

  it("shows many arguments in part, and more than fits in no name, line or screen", async () => {
    const args = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`key ${n} ${"k".repeat(n)}`, "v".repeat(n)]),
    );
    const { asker, shown } = answering("Deny");
    const name = "n".repeat(500);
    await askPermission(asker, { ...REQUEST, name, server: name, args }, NEVER);
    const { text = "", options = [] } = shown[0] ?? {};
    expect(text).toContain("… and 190 more");
    expect(text.split("\n").length).toBeLessThan(20);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(320);
    expect(Math.max(...options.map((option) => option.length))).toBeLessThan(100);
    expect(options).toContain("Show all arguments");
  });

  it("shows what nobody could see by its number, and nothing a terminal would obey", async () => {
    const { asker, shown } = answering("Show all arguments", undefined, "Deny");
    const evil = `rm\u202e\u001b]52;c;x\u0007\u200b\u{e0041}`;
    await askPermission(
      asker,
      { ...REQUEST, name: evil, server: evil, args: { a: evil, [evil]: 1, long: "x".repeat(300) }, why: evil },
      NEVER,
    );
    const all = JSON.stringify(shown.map(({ text, options }) => [text, options]));
    expect(all).toContain("\\\\u{202e}");
    expect(shown.map(({ text, options = [] }) => text + options.join("")).join("")).not.toMatch(/[^\P{C}\n]/u);
  });

  it("asks about resources and prompts in their words", async () => {
    const { asker, shown } = answering("Deny");
    await askPermission(asker, { server: "s", kind: "resource", name: "file:///x", annotations: {}, why: "w" }, NEVER);
    expect(shown[0]?.text).toMatch(/^Use resource `file:\/\/\/x` of MCP server `s`\?\n\nYou are asked/);
    expect(shown[0]?.options).toContain("Always allow resource file:///x");
  });
});
