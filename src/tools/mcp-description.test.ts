import { expect, it } from "vitest";
import { MCP_ACTIONS, MCP_TOOL } from "./mcp-description.ts";

/** Tokenizers of models give three and a half bytes or more to a token of such text. */
const BYTES_PER_TOKEN = 3.5;

it("the `mcp` tool costs a request at most 300 tokens, its schema included", () => {
  const { name, description, parameters } = MCP_TOOL;
  const bytes = Buffer.byteLength(JSON.stringify({ name, description, parameters }));
  expect(bytes / BYTES_PER_TOKEN).toBeLessThanOrEqual(300);
});

it("names every action where a model looks for it", () => {
  for (const action of MCP_ACTIONS) {
    expect(MCP_TOOL.description).toContain(action);
    expect(JSON.stringify(MCP_TOOL.parameters)).toContain(action);
  }
});
