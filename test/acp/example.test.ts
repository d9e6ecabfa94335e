import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { playEditor } from "../ground/acp-editor.ts";
import { fakeHttp, fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";

const AGENT = fileURLToPath(new URL("../../examples/acp-agent/agent.ts", import.meta.url));

test("an agent of one file gives its editor's servers to its sessions, asks, is cancelled, and leaves nothing", async () => {
  await using home = await temporaryHome();
  const local = await fakeStdio(home, {
    tools: [tool("write"), { ...tool("wait"), annotations: { readOnlyHint: true } }],
    on: { "tools/call wait": [{ silent: true }] },
  });
  const web = await fakeHttp();
  const answers = ["deny", "once"];
  await using editor = await playEditor(home, [process.execPath, AGENT], {
    permission: () => ({ outcome: { outcome: "selected", optionId: answers.shift() } }),
  });
  expect(editor.agent).toMatchObject({ agentCapabilities: { mcpCapabilities: { http: true, sse: true } } });
  const session = await editor.open([
    { name: "my files", command: local.command, args: [...local.args], env: [] },
    { name: "broken", command: home.path("nothing"), args: [], env: [] },
  ]);
  const other = await editor.open([{ type: "http", name: "web", url: web.url, headers: [] }]);
  expect(await editor.prompt(session, "what is there?")).toBe("end_turn");
  expect(editor.text(session)).toContain("Tools: mcp__my_files__write, mcp__my_files__wait");
  expect(editor.text(session)).toContain('MCP server "broken" did not start');
  await until("the command", () => (editor.commands(session).includes("mcp") ? true : undefined));
  await editor.prompt(other, "tools?");
  expect(editor.text(other)).toBe("Tools: mcp__web__echo");

  for (const path of ["a", "b"]) await editor.prompt(session, `mcp__my_files__write {"path": "${path}"}`);
  expect(local.params("tools/call")).toMatchObject([{ name: "write", arguments: { path: "b" } }]);
  const calls = editor.updates.flatMap(({ update }) => (update.sessionUpdate === "tool_call" ? [update] : []));
  expect(editor.asked.map(({ params }) => params.toolCall)).toMatchObject(
    calls.map(({ toolCallId }) => ({ toolCallId, title: "my files: write" })),
  );
  const ends = editor.updates.flatMap(({ update }) =>
    update.sessionUpdate === "tool_call_update" ? [update.status] : [],
  );
  expect(ends).toEqual(["failed", "completed"]);

  const turn = editor.prompt(session, "mcp__my_files__wait");
  await until("the call", () => (local.params("tools/call").length === 2 ? true : undefined));
  await editor.notify("session/cancel", { sessionId: session });
  expect(await turn).toBe("cancelled");
  await editor.prompt(session, "/mcp");
  expect(editor.text(session)).toContain("my files: connected, 2 tools");
  await web.close();
});
