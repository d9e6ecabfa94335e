import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../src/is-object.ts";
import type { McpSession } from "../src/session/session.ts";
import { runMcpTool } from "../src/tools/mcp.ts";
import type { ToolAnswer } from "../src/tools/tool.ts";
import { REAL } from "../test/e2e/real-servers.ts";
import type { Home } from "../test/ground/home.ts";
import { tokensOf } from "./token-count.ts";

/** A result of a real server in three forms, tokens. */
export interface ResultCost {
  readonly name: string;
  /** The `result` member of the answer as it came. */
  readonly raw: number;
  /** All texts, and behind them the structured content as JSON on several lines, as pi-mcp-adapter 2.36.0 shows it. */
  readonly both: number;
  readonly ours: number;
}

/** Calls that need no network. */
const CALLS: readonly (readonly [server: string, tool: string, args: (home: Home) => object])[] = [
  ["everything", "get-structured-content", () => ({ location: "New York" })],
  ["everything", "get-resource-links", () => ({ count: 5 })],
  ["everything", "get-tiny-image", () => ({})],
  ["filesystem", "read_text_file", ({ cwd }) => ({ path: join(cwd, "notes.md") })],
  ["filesystem", "directory_tree", ({ cwd }) => ({ path: cwd })],
  ["memory", "read_graph", () => ({})],
  ["thinking", "sequentialthinking", () => ({ ...THOUGHT })],
  ["runner", "run-code", () => ({ languageId: "shellscript", code: "seq 1 40" })],
];

const THOUGHT = { thought: "Which of both is it?", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 3 };

/** Declares the five servers in a home, with something in it to show. */
export function declareRealServers(home: Home): void {
  const notes = Array.from({ length: 60 }, (_, index) => `- note ${index + 1}: the quick brown fox jumps over the dog`);
  const graph = Array.from({ length: 20 }, (_, index) => ({
    type: "entity",
    name: `service-${index + 1}`,
    entityType: "service",
    observations: ["runs on port 8080", `owned by team ${index % 4}`],
  }));
  writeFileSync(join(home.cwd, "notes.md"), `# Notes\n${notes.join("\n")}\n`);
  writeFileSync(home.path("memory.jsonl"), graph.map((entity) => JSON.stringify(entity)).join("\n"));
  const servers = [
    REAL.everything("everything"),
    REAL.filesystem("filesystem", home.cwd),
    { ...REAL.memory("memory"), env: { MEMORY_FILE_PATH: home.path("memory.jsonl") } },
    REAL.sequentialThinking("thinking"),
    REAL.codeRunner("runner"),
  ];
  home.write({ mcp: { mcpServers: Object.fromEntries(servers.map(({ name, ...entry }) => [name, entry])) } });
}

export async function resultCosts(session: McpSession, home: Home): Promise<ResultCost[]> {
  const costs: ResultCost[] = [];
  for (const [server, tool, argsOf] of CALLS) {
    const args = argsOf(home);
    const { raw } = await session.callTool(server, tool, { ...args });
    const answer = await runMcpTool(session, { args: { action: "call", server, tool, args } });
    const { structuredContent } = raw;
    const pretty = structuredContent === undefined ? [] : [JSON.stringify(structuredContent, null, 2)];
    costs.push({
      name: `${server} ${tool}`,
      raw: tokensOf(raw),
      both: tokensOf([...textsOf(raw.content), ...pretty].join("\n")),
      ours: tokensOf(textOf(answer)),
    });
  }
  return costs;
}

/** What one answer of `mcp` costs. */
export async function answerCost(session: McpSession, args: object): Promise<number> {
  return tokensOf(textOf(await runMcpTool(session, { args })));
}

function textOf({ content }: ToolAnswer): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** Those of a result as it came: of blocks without a text nothing, as if they cost nothing. */
function textsOf(content: unknown): string[] {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return blocks.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}
