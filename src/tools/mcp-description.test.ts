import { encode } from "gpt-tokenizer";
import { expect, it } from "vitest";
import { MCP_AUTH_TOOL } from "./mcp-auth-description.ts";
import { MCP_ACTIONS, MCP_TOOL } from "./mcp-description.ts";
import { MCP_CALL_TOOL, mcpLoadTool } from "./split-description.ts";
import type { ToolDescription } from "./tool.ts";

/** What a request holds of tools: their definitions, and their lines in the system prompt. `npm run bench:tokens` asks a real host. */
function tokensOf(...tools: readonly ToolDescription[]): number {
  const texts = tools.flatMap(({ name, description, parameters, promptSnippet, promptGuidelines = [] }) => [
    JSON.stringify({ name, description, parameters }),
    ...(promptSnippet === undefined ? [] : [`- ${name}: ${promptSnippet}`]),
    ...promptGuidelines.map((line) => `- ${line}`),
  ]);
  return encode(texts.join("\n")).length;
}

it("`mcp` costs a request at most 300 tokens", () => {
  expect(tokensOf(MCP_TOOL)).toBeLessThanOrEqual(300);
});

it("the tools of the split surface cost a request at most 450 tokens, the one to sign in included", () => {
  expect(tokensOf(mcpLoadTool([]), MCP_CALL_TOOL, MCP_AUTH_TOOL)).toBeLessThanOrEqual(450);
});

it("names every action where a model looks for it", () => {
  for (const action of MCP_ACTIONS) {
    expect(MCP_TOOL.description).toContain(action);
    expect(JSON.stringify(MCP_TOOL.parameters)).toContain(action);
  }
});
