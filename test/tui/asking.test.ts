import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { HOSTS } from "../ground/run-pi.ts";
import { scriptedModel, type Turn, toolResults } from "../ground/scripted-model.ts";
import { openTerminal } from "./terminal.ts";

const call = (name: string, args: object = {}): Turn => ({
  call: { tool: "mcp", args: { action: "call", server: "files", tool: name, args } },
});

const SCHEMA = {
  type: "object",
  properties: { name: { type: "string", title: "Your name", minLength: 2 }, sure: { type: "boolean" } },
  required: ["name", "sure"],
};

describe.each(HOSTS)("$name", (host) => {
  test("asks in a narrow terminal about a call with long arguments, then fills in a server's form", async () => {
    const long = { path: "a".repeat(300), text: "漢字👍\u001b]52;c;x\u0007".repeat(30) };
    await using model = await scriptedModel([call("write", long), call("write"), call("ask"), { say: "all done" }]);
    await using home = await temporaryHome({ model });
    const ask = { method: "elicitation/create", params: { message: "Who are you?", requestedSchema: SCHEMA } };
    const server = await fakeStdio(home, {
      tools: [tool("write"), tool("ask")],
      on: { "tools/call ask": { ask, text: "thanks" } },
    });
    const rules = { ask: ["files.write"] };
    const { name: _, ...entry } = server.entry("files", { surface: "gateway" });
    home.write({ files: { "agent/mcp.json": { permission: rules, mcpServers: { files: entry } } } });
    await using pi = await openTerminal(host, home, { size: { columns: 50, rows: 45 } });
    await pi.submit("go");
    const name = `asking-${host.version}`;
    const question = await pi.until("Always allow tool write", `${name}-permission`);
    expect(question).toContain("Use tool `write` of MCP server `files`?");
    pi.press("Down", "Enter");
    await pi.until(/Use tool `write`[\s\S]*\?\s*\n\s*\n\s*You are asked/, `${name}-permission-again`);
    // Enter alone is the harmless answer.
    pi.press("Enter");
    await pi.until("It wants: Your name, sure", `${name}-form`);
    pi.press("Enter");
    await pi.until("Your name, for MCP server `files`");
    await pi.submit("A");
    await pi.until("It must have at least 2 characters, not 1.", `${name}-form-again`);
    await pi.submit("Ada");
    await pi.until("sure, for MCP server `files`");
    pi.press("Enter");
    await pi.until("Send this to MCP server `files`?", `${name}-form-review`);
    pi.press("Enter");
    await pi.until("all done");
    const results = toolResults(model.requests[3]);
    expect(results[1]).toContain("User denied permission");
    expect(server.params("tools/call").map((params) => params?.name)).toEqual(["write", "ask"]);
    const answer = server
      .received()
      .find(({ message }) => message?.method === undefined && message?.result !== undefined);
    expect(answer?.message?.result).toEqual({ action: "accept", content: { name: "Ada", sure: true } });
    expect(pi.isAlive()).toBe(true);
  });

  test("Escape denies the one call, and the next question is asked as before", async () => {
    await using model = await scriptedModel([call("write"), { say: "first" }, call("write"), { say: "second" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [tool("write")] });
    home.write({
      settings: { mcpServers: [server.entry("files")] },
      files: { "agent/mcp.json": { permission: "ask" } },
    });
    await using pi = await openTerminal(host, home);
    await pi.submit("go");
    await pi.until("Always allow tool write");
    pi.press("Escape");
    await pi.untilGone("Always allow tool write");
    await pi.until("first");
    expect(server.starts()).toEqual([]);
    await pi.submit("again");
    await pi.until("Always allow tool write");
    pi.press("Down", "Down", "Enter");
    await pi.until("second");
    expect(server.params("tools/call").length).toBe(1);
  });
});
