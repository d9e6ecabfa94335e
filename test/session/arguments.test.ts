import { expect, test } from "vitest";
import { ToolNames } from "../../src/catalog/names.ts";
import { directTools } from "../../src/tools/direct.ts";
import { runMcpCall } from "../../src/tools/split.ts";
import { tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import type { ServerScript } from "../ground/script.ts";
import { mcp, sessionWith } from "./open.ts";

const inputSchema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Where to look" },
    limit: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    $filter: { type: "string" },
  },
  required: ["path"],
  additionalProperties: false,
};
const tools = [tool("find", { inputSchema })];
const call = { action: "call", server: "fake", tool: "find" };

/** A session that has listed the tools of a server which does this with each call. */
async function listed(home: Parameters<typeof sessionWith>[0], on: ServerScript["on"] = {}, more: object = {}) {
  const opened = await sessionWith(home, { tools, on, ...more });
  await mcp(opened.session, { action: "list_tools", server: "fake" });
  return opened;
}

test("arguments in another form than the tool's schema asks for are sent in the right one, and the answer's details say so", async () => {
  await using home = await temporaryHome();
  const { server, session } = await listed(home);
  await using _ = session;
  const args = { path: "a", limit: "5", tags: "x", _filter: "y" };
  const { isError, details } = await mcp(session, { ...call, args });
  expect(isError).toBe(false);
  expect(server.params("tools/call")[0]?.arguments).toEqual({ path: "a", limit: 5, tags: ["x"], $filter: "y" });
  expect(details.repairs).toEqual(["limit: read as integer", "tags: put into a list"]);
});

test("right arguments go out as they are, and nothing is said of them", async () => {
  await using home = await temporaryHome();
  const { server, session } = await listed(home);
  await using _ = session;
  const args = { path: '{"not":"read"}', limit: 5 };
  const { text, details } = await mcp(session, { ...call, args });
  expect(server.params("tools/call")[0]?.arguments).toEqual(args);
  expect(details).not.toHaveProperty("repairs");
  expect(text).not.toContain("Expected parameters");
});

test("a tool whose definition is not known is called as it is, without a list for it", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { tools });
  await using _ = session;
  await mcp(session, { ...call, args: { limit: "5" } });
  expect(server.params("tools/call")[0]?.arguments).toEqual({ limit: "5" });
  expect(server.methods()).not.toContain("tools/list");
});

test("what does not fit the schema is sent all the same: a server that takes it has the last word", async () => {
  await using home = await temporaryHome();
  const { server, session } = await listed(home, { "tools/call": { text: "fine" } });
  await using _ = session;
  const { text, isError } = await mcp(session, { ...call, args: { limit: "many", extra: true } });
  expect([text, isError]).toEqual(["MCP server `fake` tool `find`:\nfine\n", false]);
  expect(server.params("tools/call")[0]?.arguments).toEqual({ limit: "many", extra: true });
});

const ADVICE = [
  "The arguments do not fit the tool's schema:",
  '- "path" is missing',
  "- limit: must be integer, not string",
  "Expected parameters:",
  "  path: string – Where to look",
  "  limit?: integer",
  "  tags?: string[]",
  '  _filter?: string – (sent as "$filter")',
  'Nearest valid call: {"limit":1,"path":"<path>"}',
].join("\n");

test("refused parameters are answered with what is wrong, what is expected and the nearest valid call", async () => {
  await using home = await temporaryHome();
  const { session } = await listed(home, { "tools/call": { error: { code: -32602, message: "Invalid params" } } });
  await using _ = session;
  const { text, isError, details } = await mcp(session, { ...call, args: { limit: "many" } });
  expect(text).toBe(`MCP server \`fake\`: it answered with error -32602: Invalid params\n\n${ADVICE}`);
  expect(isError).toBe(true);
  expect(details.category).toBe("validation");
});

test("so is a result that reports an error for arguments that do not fit", async () => {
  await using home = await temporaryHome();
  const { session } = await listed(home, { "tools/call": { text: "it went wrong", isError: true } });
  await using _ = session;
  const { text, details } = await mcp(session, { ...call, args: { limit: "many" } });
  expect(text).toBe(`MCP server \`fake\` tool \`find\` reported an error:\nit went wrong\n\n${ADVICE}\n`);
  expect(details.category).toBe("validation");
});

test.each([
  "Input validation error: 'path' is a required property",
  "MCP error -32602: Invalid arguments for tool find",
  "1 validation error for find\npath\n  Field required",
  "missing required argument: path",
])("a result that blames the arguments is answered with what is expected: %s", async (message) => {
  await using home = await temporaryHome();
  const { session } = await listed(home, { "tools/call": { text: message, isError: true } });
  await using _ = session;
  const { text, details } = await mcp(session, { ...call, args: { path: "right by the schema", limit: "5" } });
  expect(text).toContain(
    `${message}\n\nChanged before sending: limit: read as integer\nExpected parameters:\n  path: string`,
  );
  expect(text).not.toContain("Nearest valid call");
  expect(details.category).toBe("validation");
});

test("a failure for another reason is told as it is", async () => {
  await using home = await temporaryHome();
  const { session } = await listed(home, {
    "tools/call": [
      { text: "no such city", isError: true },
      { error: { code: -32603, message: "Internal error" } },
      { error: { code: -32602, message: "Unknown tool: find" } },
    ],
  });
  await using _ = session;
  for (let n = 0; n < 3; n++) {
    const { text, details } = await mcp(session, { ...call, args: { path: "a" } });
    expect(text).not.toContain("Expected parameters");
    expect(details.category).not.toBe("validation");
  }
});

test("mcp_call sends, tells and explains arguments like the other doors", async () => {
  await using home = await temporaryHome();
  const { server, session } = await listed(home, {
    "tools/call": [{ echo: true }, { text: "bad", isError: true }],
  });
  await using _ = session;
  const mended = await runMcpCall(session, { args: { selector: "fake.find", args: { path: "a", limit: "5" } } });
  expect(server.params("tools/call")[0]?.arguments).toEqual({ path: "a", limit: 5 });
  expect(mended.details.repairs).toEqual(["limit: read as integer"]);
  const refused = await runMcpCall(session, { args: { selector: "fake.find", args: { limit: "many" } } });
  expect(refused.content.at(-1)).toEqual({ type: "text", text: `\n${ADVICE}` });
  expect(refused.details.category).toBe("validation");
});

test("a schema that cannot be checked, and one that would take for ever, hold up no call", async () => {
  await using home = await temporaryHome();
  const $defs = Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [
      `d${n}`,
      n === 49 ? {} : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  );
  const odd = [
    tool("endless", { inputSchema: { type: "object", properties: { x: { $ref: "#/$defs/d0" } }, $defs } }),
    tool("pattern", { inputSchema: { type: "object", properties: { x: { type: "string", pattern: "^(a+)+$" } } } }),
    tool("dangling", { inputSchema: { type: "object", properties: { x: { $ref: "#/nowhere" } } } }),
  ];
  const { server, session } = await listed(home, {}, { tools: odd });
  await using _ = session;
  const args = { x: `${"a".repeat(60)}!` };
  for (const { name } of odd) expect((await mcp(session, { ...call, tool: name, args })).isError).toBe(false);
  expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([args, args, args]);
});

test("the advice after a failure is clean and short, whatever the schema says", async () => {
  await using home = await temporaryHome();
  const properties = Object.fromEntries(
    Array.from({ length: 500 }, (_, n) => [
      `p${n}`,
      { type: "string", description: `\u001b[31m${"word ".repeat(100)}` },
    ]),
  );
  const wide = [tool("find", { inputSchema: { type: "object", properties, required: ["p1"] } })];
  const { session } = await listed(home, { "tools/call": { text: "bad", isError: true } }, { tools: wide });
  await using _ = session;
  const { text } = await mcp(session, call);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("  p1: string – ");
  expect(text).toContain("… and 476 more");
  expect(text.length).toBeLessThan(4_500);
});

test("a direct tool is offered with a schema for every provider, and called with what its server asks for", async () => {
  await using home = await temporaryHome();
  const original = {
    type: "object",
    properties: { $top: { type: ["integer", "null"] }, q: { $ref: "#/$defs/Q" }, id: { type: "string" } },
    required: ["$top"],
    anyOf: [{ required: ["q"] }, { required: ["id"] }],
    $defs: { Q: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
  };
  const { server, session } = await listed(home, {}, { tools: [tool("find", { inputSchema: original })] });
  await using _ = session;
  const [find] = directTools(session, "fake", await session.listTools("fake"), new ToolNames());
  expect(find?.description).toBe("The tool find.\nGive q, or id.");
  expect(find?.parameters).toEqual({
    type: "object",
    properties: {
      _top: { type: "integer", description: '(sent as "$top")' },
      q: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      id: { type: "string" },
    },
  });
  const answer = await find?.run({ args: { q: { text: "a" } } });
  expect(answer?.isError).toBe(false);
  await find?.run({ args: { _top: 3, q: '{"text":"a"}' } });
  expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([
    { q: { text: "a" }, $top: null },
    { $top: 3, q: { text: "a" } },
  ]);
});
