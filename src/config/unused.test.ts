import { describe, expect, it } from "vitest";
import { describeUnused } from "./unused.ts";

const source = { file: "/a/mcp.json", line: 2, column: 3 };

describe("describeUnused", () => {
  it("says where it is switched off, and how to switch it on where that can be said", () => {
    const off = { reason: "disabled", name: "a", source } as const;
    expect(describeUnused({ ...off, remedy: "pi-mcp enable a" })).toBe(
      "is disabled at /a/mcp.json:2; `pi-mcp enable a` switches it on",
    );
    expect(describeUnused(off)).toBe("is disabled at /a/mcp.json:2; take that out to use it");
  });

  it("says what is wrong and where, and lets no file speak to the terminal", () => {
    const file = "/a\u001b[2J/mcp.json";
    expect(
      describeUnused({ reason: "wrong", name: "a", source: { ...source, file }, message: "It is\u001b odd." }),
    ).toBe("is left out because of a mistake at /a?[2J/mcp.json:2:3: It is? odd");
  });
});
