import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { directToolName, MAX_TOOL_NAME_LENGTH, ToolNames } from "./names.ts";

const NONE: ReadonlySet<string> = new Set();

describe("directToolName", () => {
  it("joins server and tool behind the mcp prefix", () => {
    expect(directToolName("github", "list_issues", NONE)).toBe("mcp__github__list_issues");
  });

  it("replaces every character a provider may refuse", () => {
    expect(directToolName("Google Sheets", "coding.start/now", NONE)).toBe("mcp__Google_Sheets__coding_start_now");
    expect(directToolName("a-b", "größe\u{1f600}", NONE)).toBe("mcp__a_b__gr__e__");
  });

  it("leaves a name of exactly 64 characters alone", () => {
    const tool = "t".repeat(MAX_TOOL_NAME_LENGTH - "mcp__s__".length);
    expect(directToolName("s", tool, NONE)).toBe(`mcp__s__${tool}`);
  });

  it("[S2-19] cuts a longer name and ends it with a stable hash of server and tool", () => {
    const tool = "x".repeat(100);
    const digits = createHash("sha256").update(`server\0${tool}`).digest("hex").slice(0, 8);
    const name = directToolName("server", tool, NONE);
    expect(name).toBe(`mcp__server__${"x".repeat(42)}_${digits}`);
    expect(name).toHaveLength(64);
    expect(directToolName("server", tool, NONE)).toBe(name);
    expect(directToolName("server", `${tool}y`, NONE)).not.toBe(name);
  });

  it("tells apart two tools that fold into one name", () => {
    const first = directToolName("s", "a_b", NONE);
    const second = directToolName("s", "a.b", new Set([first]));
    expect(first).toBe("mcp__s__a_b");
    expect(second).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
  });

  it("tells apart pairs whose joined names are equal", () => {
    const first = directToolName("a__b", "c", NONE);
    const second = directToolName("a", "b__c", new Set([first]));
    expect(second).not.toBe(first);
  });

  it("never returns a taken name, whatever the input", () => {
    const taken = new Set<string>();
    const pieces = ["", "a", "a.b", "a_b", "a b", "é", "_", "__", "x".repeat(30), "x".repeat(70), "\0", "\u{1f600}"];
    for (let round = 0; round < 3; round++) {
      for (const server of pieces) {
        for (const tool of pieces) {
          const name = directToolName(server, tool, taken);
          expect(name).toMatch(/^mcp__[A-Za-z0-9_]{0,59}$/);
          expect(taken.has(name)).toBe(false);
          taken.add(name);
        }
      }
    }
    expect(taken.size).toBe(3 * pieces.length ** 2);
  });
});

describe("ToolNames", () => {
  it("gives each tool a name of its own, and the same one again", () => {
    const names = new ToolNames();
    const first = names.nameOf("s", "a.b");
    expect(first).toBe("mcp__s__a_b");
    expect(names.nameOf("s", "a_b")).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
    expect(names.nameOf("s", "a.b")).toBe(first);
  });
});
