import { encode } from "gpt-tokenizer";
import { expect, it } from "vitest";
import { MCP_CALL_TOOL, mcpLoadTool } from "./split-description.ts";

const tokensOf = (servers: readonly string[]) =>
  [mcpLoadTool(servers), MCP_CALL_TOOL]
    .map(({ name, description, parameters }) => encode(JSON.stringify({ name, description, parameters })).length)
    .reduce((sum, tokens) => sum + tokens);

it("each server that is named costs a request at most 20 tokens", () => {
  const none = tokensOf([]);
  expect(none).toBeGreaterThan(100);
  const names = Array.from({ length: 20 }, (_, index) => `a-server-called-${index}`);
  expect(tokensOf(names) - none).toBeLessThanOrEqual(20 * names.length);
});

it("names the first twenty servers, how many more there are and how to see them, in one line without hidden characters", () => {
  const names = Array.from({ length: 200 }, (_, index) => `s${index}`);
  expect(mcpLoadTool(names).description).toContain("Servers: s0, s1, ");
  expect(mcpLoadTool(names).description).toContain("s19 and 180 more. Without arguments it lists all.");
  expect(mcpLoadTool([`a\u202e\n${"x".repeat(500)}`]).description).toMatch(/Servers: a\?\?x{37}\.$/);
  expect(mcpLoadTool(["a"]).description).toMatch(/Servers: a\.$/);
});
