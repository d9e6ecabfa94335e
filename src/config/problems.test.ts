import { describe, expect, it } from "vitest";
import { formatProblem, quote } from "./problems.ts";

describe("formatProblem", () => {
  it("is one line an editor can follow", () => {
    const problem = { file: "/a b/mcp.json", line: 3, column: 7, severity: "error", message: "It is wrong." } as const;
    expect(formatProblem(problem)).toBe("/a b/mcp.json:3:7: error: It is wrong.");
    expect(formatProblem({ ...problem, severity: "warning" })).toBe("/a b/mcp.json:3:7: warning: It is wrong.");
  });

  it("shows nothing a terminal would obey", () => {
    const problem = { file: "/a\x1b[2J\n", line: 1, column: 1, severity: "error", message: "x\u202ey\nz" } as const;
    expect(formatProblem(problem)).toBe("/a?[2J?:1:1: error: x?y?z");
  });
});

describe("quote", () => {
  it("cuts a long name", () => {
    expect(quote("name")).toBe('"name"');
    expect(quote("x".repeat(100))).toBe(`"${"x".repeat(60)}…"`);
  });
});
