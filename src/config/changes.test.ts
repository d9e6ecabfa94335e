import { afterEach, describe, expect, it } from "vitest";
import { changesBetween, describeChanges } from "./changes.ts";
import { MCP_JSON, removeHomes, testHome } from "./config.fixture.ts";

afterEach(removeHomes);

describe("changesBetween", () => {
  it("a server is the same wherever it stands in its file, and another with any field of another value", () => {
    const home = testHome();
    const load = (mcpServers: object) => {
      home.write(MCP_JSON, JSON.stringify({ mcpServers }, null, 2));
      return home.load().servers;
    };
    const a = { command: "x", args: ["1"], env: { TOKEN: "$TOKEN" } };
    const before = load({ a, b: { url: "https://example.com/mcp" }, gone: { command: "y" } });
    const none = { added: [], replaced: [], removed: [] };
    expect(changesBetween(before, before)).toEqual(none);
    const { command, ...rest } = a;
    expect(
      changesBetween(
        before,
        load({ gone: { command: "y" }, b: { url: "https://example.com/mcp" }, a: { ...rest, command } }),
      ),
    ).toEqual(none);
    for (const change of [
      { command: "z" },
      { args: ["2"] },
      { args: [] },
      { env: {} },
      { env: { TOKEN: "$OTHER" } },
      { exposure: "direct" },
      { requestTimeoutMs: 5_000 },
      { maxResultLines: 3 },
      { inheritEnv: "safe" },
      { cwd: "/tmp" },
    ]) {
      const after = load({ a: { ...a, ...change }, b: { url: "https://example.com/mcp" }, new: { command: "x" } });
      expect(changesBetween(before, after)).toEqual({ added: ["new"], replaced: ["a"], removed: ["gone"] });
    }
  });

  it("tells them in one line, with few and short names and nothing a terminal would obey", () => {
    const none = { added: [], replaced: [], removed: [] };
    expect(describeChanges(none)).toBeUndefined();
    expect(describeChanges({ ...none, added: ["a", "b"], removed: ["c"] })).toBe(
      "MCP configuration changed: added a, b; removed c.",
    );
    const many = Array.from({ length: 12 }, (_, index) => `${index}\u001b${"x".repeat(100)}`);
    const line = describeChanges({ ...none, replaced: many }) ?? "";
    expect(line).toMatch(/ and 2 more\.$/);
    expect(line).not.toContain("\u001b");
    expect(line.length).toBeLessThan(600);
  });
});
