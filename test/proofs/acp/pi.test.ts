import { describe, expect, test } from "vitest";
import { ADAPTERS, openEditor, PI_SETTINGS } from "../../ground/acp-editor.ts";
import { fakeHttp, fakeStdio, tool } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";
import { fakeSse } from "../../ground/sse-server.ts";

const stdio = ({ command, args }: { command: string; args: readonly string[] }, name: string) => ({
  name,
  command,
  args,
  env: [],
});

describe.each(ADAPTERS)("$name", (adapter) => {
  test("the editor's servers reach the model", async () => {
    await using model = await scriptedModel([
      { call: [{ tool: "mcp__local__echo", args: { text: "hi" } }, { tool: "mcp__web__echo" }, { tool: "mcp__old__echo" }] },
      { say: "done" },
    ]);
    await using home = await temporaryHome({ model, settings: PI_SETTINGS });
    const local = await fakeStdio(home);
    const web = await fakeHttp();
    const old = await fakeSse();
    await using editor = await openEditor(home, adapter, { proxy: [] });
    expect(editor.agent).toMatchObject({ agentCapabilities: { mcpCapabilities: { http: true, sse: true } } });
    const session = await editor.open([
      stdio(local, "local"),
      { type: "http", name: "web", url: web.url, headers: [] },
      { type: "sse", name: "old", url: old.url, headers: [] },
    ]);
    console.log(editor.updates.map((u) => JSON.stringify(u)).join("\n"));
    expect(await editor.prompt(session, "go")).toBe("end_turn");
    console.log(editor.text(session), model.requests[0]?.tools.map((t) => t.name), toolResults(model.requests[1]));
    expect(local.params("tools/call")).toHaveLength(1);
    await Promise.all([web.close(), old.close()]);
  });
});
