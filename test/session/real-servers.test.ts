import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REAL } from "../e2e/real-servers.ts";
import { temporaryHome } from "../ground/home.ts";
import { sessionOf } from "./open.ts";

// What the real servers of the field do with this client, one call each.
test("server-filesystem reads a file of the folder it was given", async () => {
  await using home = await temporaryHome({ files: { "project/note.txt": "the word is ámbar" } });
  home.write({ settings: { mcpServers: [REAL.filesystem("files", home.cwd)] } });
  await using session = sessionOf(home);
  const result = await session.callTool("files", "read_text_file", { path: join(home.cwd, "note.txt") });
  expect(result.content[0]).toEqual({ type: "text", text: "the word is ámbar" });
});

test("server-memory keeps a graph in its file", async () => {
  await using home = await temporaryHome();
  const file = home.path("memory.jsonl");
  writeFileSync(file, "");
  home.write({ settings: { mcpServers: [{ ...REAL.memory("memory"), env: { MEMORY_FILE_PATH: file } }] } });
  await using session = sessionOf(home);
  const entities = [{ name: "pi", entityType: "agent", observations: ["small"] }];
  await session.callTool("memory", "create_entities", { entities });
  const graph = await session.callTool("memory", "read_graph", undefined);
  expect(JSON.stringify(graph.raw)).toContain("small");
});

test("server-sequential-thinking takes a thought", async () => {
  await using home = await temporaryHome();
  home.write({ settings: { mcpServers: [REAL.sequentialThinking("thinking")] } });
  await using session = sessionOf(home);
  const thought = { thought: "first", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  const result = await session.callTool("thinking", "sequentialthinking", thought);
  expect(result.isError).toBe(false);
  expect(JSON.stringify(result.raw)).toContain("thoughtHistoryLength");
});

test("a server of the newest revision is spoken to in it", async () => {
  await using home = await temporaryHome();
  const { name, ...entry } = REAL.context7("context7");
  home.write({ mcp: { mcpServers: { [name]: entry } } });
  await using session = sessionOf(home);
  expect((await session.listTools("context7")).map((tool) => tool.name)).toContain("resolve-library-id");
  expect(session.status("context7")).toMatchObject({ state: "ready", protocolVersion: "2026-07-28" });
});

test("[E001] a server that prints a banner on stdout works", async () => {
  await using home = await temporaryHome();
  home.write({ settings: { mcpServers: [REAL.codeRunner("runner")] } });
  await using session = sessionOf(home);
  const result = await session.callTool("runner", "run-code", { languageId: "shellscript", code: "echo $((6*7))" });
  expect(result.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("42") });
});
