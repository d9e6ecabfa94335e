import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ToolNames } from "../../src/catalog/names.ts";
import { loadConfig } from "../../src/config/load.ts";
import { describeError } from "../../src/error.ts";
import type { PiApi, PiTheme, PiTool } from "../../src/hosts/pi/api.ts";
import { mcpAuthCommand } from "../../src/hosts/pi/auth-command.ts";
import { mcpCommand } from "../../src/hosts/pi/command.ts";
import { PiHost } from "../../src/hosts/pi/host.ts";
import { tell } from "../../src/hosts/pi/notice.ts";
import { PiTools } from "../../src/hosts/pi/pi-tools.ts";
import { toolRenderers } from "../../src/hosts/pi/render.ts";
import { createSession } from "../../src/session/create-session.ts";
import { diagnose } from "../../src/session/diagnose.ts";
import { reportServers } from "../../src/session/report.ts";
import { directTools } from "../../src/tools/direct.ts";
import { runMcpTool } from "../../src/tools/mcp.ts";
import { MCP_TOOL } from "../../src/tools/mcp-description.ts";
import { runMcpCall, runMcpLoad } from "../../src/tools/split.ts";
import type { ToolAnswer } from "../../src/tools/tool.ts";
import { fakeHttp, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { NODES, runCli } from "../ground/run-cli.ts";
import { sessionOf } from "../session/open.ts";
import { hostileTexts, unfitIn } from "./hostile-text.ts";

const TEXTS = hostileTexts(400);

/** The hostile texts one after the other. */
function supply(): () => string {
  let next = 0;
  return () => TEXTS[next++ % TEXTS.length] as string;
}

function expectFit(where: string, ...texts: readonly (string | undefined)[]): void {
  for (const text of texts) expect(text === undefined ? undefined : unfitIn(text), where).toBeUndefined();
}

function textOf({ content }: ToolAnswer): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** Every text for people in a schema. */
function textsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(textsIn);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    typeof value === "string" && (key === "title" || key === "description") ? [value] : textsIn(value),
  );
}

function hostileTools(text: () => string, count: number) {
  return Array.from({ length: count }, (_, index) =>
    tool(`t${index}${text()}`, {
      title: text(),
      description: text(),
      annotations: { title: text() },
      inputSchema: {
        type: "object",
        title: text(),
        description: text(),
        properties: { [text()]: { type: "string", description: text(), enum: [text()], default: text() } },
        required: [text()],
      },
      outputSchema: { type: "object", description: text(), properties: { a: { title: text() } } },
    }),
  );
}

/** A result with a hostile text in every place of every kind of block. */
function hostileResult(text: () => string, isError: boolean): object {
  const data = Buffer.from(text()).toString("base64");
  return {
    content: [
      { type: "text", text: text() },
      { type: "resource_link", uri: text(), name: text(), title: text(), description: text(), mimeType: text() },
      { type: "resource", resource: { uri: text(), mimeType: text(), text: text() } },
      { type: "resource", resource: { uri: text(), mimeType: text(), blob: data } },
      { type: "image", data, mimeType: text() },
      { type: "audio", data: text(), mimeType: text() },
      { type: text(), [text()]: text() },
    ],
    structuredContent: { [text()]: text() },
    isError,
  };
}

const FAILURES = (text: () => string) =>
  [
    { error: { code: -32602, message: text(), data: text() } },
    { error: { code: -32000, message: text() } },
    { error: { code: text() as unknown as number, message: text() } },
    { raw: `${text()}\n`, exit: 1 },
    { stderr: text(), signal: "SIGKILL" },
  ] as const;

async function declare(home: Home, script: ServerScript, entry: object = {}): Promise<void> {
  const server = await fakeStdio(home, script);
  const { name: _, ...rest } = server.entry("fake", { requestTimeoutMs: 5_000, ...entry });
  home.write({ mcp: { mcpServers: { fake: rest } } });
}

test("[E235] [E236] what a server says of itself and of its tools is fit for a terminal on every way there", async () => {
  const text = supply();
  const tools = hostileTools(text, 40);
  await using home = await temporaryHome();
  await declare(home, { tools, instructions: text(), serverInfo: { name: text(), title: text(), version: text() } });
  await using session = sessionOf(home);
  const mcp = async (args: object) => textOf(await runMcpTool(session, { args }));
  expectFit("list_tools", await mcp({ action: "list_tools", server: "fake" }));
  expectFit("mcp_load", textOf(await runMcpLoad(session, { args: { server: "fake" } })));
  for (const { name } of tools) {
    expectFit("describe", await mcp({ action: "describe", server: "fake", tool: name }));
    expectFit("mcp_load of one", textOf(await runMcpLoad(session, { args: { server: "fake", tool: name } })));
  }
  for (const query of TEXTS.slice(0, 50)) {
    expectFit("search", await mcp({ action: "search", query }));
    expectFit("no such tool", await mcp({ action: "call", server: "fake", tool: query }));
    expectFit("no such server", await mcp({ action: "call", server: query, tool: query }));
    expectFit("no such action", await mcp({ action: query }));
    expectFit("wrong arguments", await mcp({ action: "call", server: "fake", tool: "a", args: query }));
  }
  for (const direct of directTools(session, "fake", await session.listTools("fake"), new ToolNames())) {
    expectFit("a tool of its own", direct.name, direct.label, direct.description, ...textsIn(direct.parameters));
  }
  expectFit("/mcp", await reportServers(session));
  for (let round = 0; round < 5; round++) {
    await declare(home, { tools: hostileTools(text, 1) });
    await using next = sessionOf(home);
    const page = textOf(await runMcpLoad(next, { args: { server: "fake" } }));
    expect(page).toMatch(/^## fake \(1 tool\)\n\n### /);
    expectFit("a page of mcp_load", page);
  }
});

test("[E235] [E236] so is every result, error and progress of a call", async () => {
  const text = supply();
  const results = Array.from({ length: 30 }, (_, index) => ({
    progress: [{ progress: 1, message: text() }],
    result: hostileResult(text, index % 3 === 0),
  }));
  const steps = [...results, ...FAILURES(text), ...FAILURES(text)];
  await using home = await temporaryHome();
  // Each of them for three calls.
  await declare(home, { on: { "tools/call": steps.flatMap((step) => [step, step, step]) } }, { replay: "never" });
  await using session = sessionOf(home);
  const { offered, pi } = notedPi();
  new PiTools(pi).offer(MCP_TOOL, (call) => runMcpTool(session, call));
  const args = { action: "call", server: "fake", tool: "echo", args: {} };
  for (const [index] of steps.entries()) {
    const shown: string[] = [];
    const note = ({ content }: { content: readonly { type: string; text?: string }[] }) => {
      shown.push(...content.map(({ text: said = "" }) => said));
    };
    note(await (offered[0] as PiTool).execute("1", args, undefined, note as never));
    shown.push(textOf(await runMcpCall(session, { args: { server: "fake", tool: "echo", args: {} } })));
    shown.push(await session.callTool("fake", "echo", {}).then(() => "", describeError));
    expectFit(`step ${index}`, ...shown, await reportServers(session));
  }
});

test("[E235] [E236] so is what is said of a server that does not start", async () => {
  const text = supply();
  await using home = await temporaryHome();
  for (const script of [
    { startup: { stderr: text(), stdout: text(), exit: 3 } },
    { on: { initialize: { error: { code: 1, message: text() }, stderr: text() } } },
    { on: { initialize: { result: { protocolVersion: text(), capabilities: {}, serverInfo: {} } } } },
    { on: { "tools/list": { error: { code: -1, message: text() } } } },
    { on: { "tools/list": { result: { tools: [{ name: 7 }, text(), { name: text(), inputSchema: text() }] } } } },
  ] satisfies ServerScript[]) {
    await declare(home, script);
    const surroundings = { env: home.env(), cwd: home.cwd };
    const lines: string[] = [];
    const stderr = (_: string, line: string) => void lines.push(line);
    await using session = createSession(loadConfig({ env: home.env(), home: home.home }), { ...surroundings, stderr });
    expectFit("an answer", textOf(await runMcpTool(session, { args: { action: "list_tools", server: "fake" } })));
    expectFit("an error", await session.callTool("fake", "echo", {}).then(() => "", describeError));
    expectFit("/mcp", await reportServers(session), ...lines);
    for (const diagnosis of diagnose(session, surroundings, undefined, {})) {
      for (const { text: said, details = [], hint } of (await diagnosis).checks)
        expectFit("doctor", said, ...details, hint);
    }
  }
});

test("[E235] [E236] so is what an HTTP server answers in place of MCP", async () => {
  const text = supply();
  for (const status of [200, 400, 403, 404, 500, 503]) {
    await using home = await temporaryHome();
    const server = await fakeHttp({ on: { "*": { status, body: text(), headers: { "content-type": "text/html" } } } });
    home.write({ mcp: { mcpServers: { fake: { url: server.url, requestTimeoutMs: 3_000, oauth: false } } } });
    try {
      await using session = sessionOf(home);
      expectFit(`${status}`, textOf(await runMcpTool(session, { args: { action: "list_tools", server: "fake" } })));
      expectFit(`${status}`, await reportServers(session));
    } finally {
      await server.close();
    }
  }
});

test("[E235] [E236] so is all that the command line writes, in a folder and of files with such names", async () => {
  const text = supply();
  const tools = hostileTools(text, 5);
  await using home = await temporaryHome();
  const name = text().replaceAll(/[/\0]/g, "").slice(0, 60);
  const folder = join(home.cwd, `p${Buffer.from(name).toString("utf8")}`);
  mkdirSync(folder);
  const good = await fakeStdio(home, { tools, on: { "tools/call": { result: hostileResult(text, false) } } });
  const bad = await fakeStdio(home, { startup: { stderr: text(), exit: 1 } });
  const { name: _, ...goodEntry } = good.entry("");
  const wrong = Object.fromEntries(Array.from({ length: 20 }, () => [text(), { command: 7, [text()]: text() }]));
  home.write({
    mcp: {
      mcpServers: {
        good: { ...goodEntry, [text()]: text(), includeTools: ["t*", text()], env: { [text()]: text() }, cwd: folder },
        bad: { command: bad.command, args: [...bad.args, text().replaceAll("\0", "")] },
        none: { command: text().replaceAll("\0", ""), env: { A: text() } },
        far: { url: `http://127.0.0.1:9/${text()}`, headers: { X: text() } },
        ...wrong,
      },
    },
    files: { "project/.mcp.json": { mcpServers: { theirs: { command: text(), args: [text()] }, [text()]: {} } } },
  });
  const first = tools[0]?.name ?? "";
  const odd = text().replaceAll("\0", "");
  const runs = [
    ["list"],
    ["list", "good"],
    ["search", odd],
    ["describe", "good", first],
    ["call", "good", first],
    ["call", "good", odd],
    ["call", odd, odd],
    ["get", "good"],
    ["get", odd],
    ["config"],
    ["doctor"],
    ["auth", "status"],
    ["trust", "--list"],
    ["import"],
    [`--${odd}`],
    [odd],
  ].filter((words) => words.every((word) => !word.includes("\0")));
  const [{ node } = { node: "" }] = NODES;
  for (const words of runs) {
    for (const json of [[], ["--json"]]) {
      const { stdout, stderr } = await runCli(node, home, ...words, ...json);
      expectFit(words.join(" "), stdout, stderr);
      if (json.length > 0 && stdout !== "" && words[0] !== "import") expect(() => JSON.parse(stdout)).not.toThrow();
    }
  }
}, 180_000);

test("[E235] [E236] so is every notice of pi, and all that `/mcp` says", async () => {
  const text = supply();
  await using home = await temporaryHome();
  const entries = Object.fromEntries(Array.from({ length: 20 }, () => [text(), { command: text(), [text()]: 7 }]));
  home.write({ mcp: { mcpServers: entries }, files: { "project/.mcp.json": { mcpServers: entries } } });
  const told: string[] = [];
  const notify = (said: string) => void told.push(said);
  const select = async (title: string) => void told.push(title);
  const ctx = { cwd: home.cwd, hasUI: true, ui: { notify, select, input: select } };
  const host = new PiHost(notedPi().pi);
  await withEnv(home.env(), async () => {
    host.begin(ctx);
    for (const args of ["", "trust", "reconnect x", ...TEXTS.slice(0, 20).map((each) => `reconnect ${each}`)]) {
      await mcpCommand(host).handler(args, ctx);
    }
    for (const args of TEXTS.slice(0, 20)) await mcpAuthCommand(host).handler(`login ${args}`, ctx);
    await host.end();
  });
  for (const each of TEXTS) tell({ hasUI: true, ctx }, each, "info");
  expect(told.length).toBeGreaterThan(TEXTS.length + 40);
  expectFit("a notice", ...told);
});

test("[E235] [E236] so is every drawing of a call and its result", () => {
  const text = supply();
  const theme: PiTheme = { fg: (_color, words) => words, bold: (words) => words };
  for (let round = 0; round < 200; round++) {
    const args = { action: "call", server: text(), tool: text(), selector: text(), args: { [text()]: text() } };
    const details = {
      action: text(),
      server: text(),
      tool: text(),
      files: [text()],
      repairs: [text()],
      category: text(),
    };
    const result = {
      content: [{ type: "text" as const, text: text() }],
      details: { ...details, isError: round % 2 === 0 },
    };
    const context = { state: {}, expanded: round % 3 === 0 };
    const renderers = toolRenderers(round % 5 === 0 ? text() : "mcp", { server: text(), tool: text() });
    const above = renderers.renderCall(args, theme, context);
    const below = renderers.renderResult(
      result,
      { expanded: context.expanded, isPartial: round % 7 === 0 },
      theme,
      context,
    );
    for (const drawn of [above, below])
      for (const width of [20, 80]) expectFit("a drawing", ...(drawn?.render(width) ?? []));
  }
});

async function withEnv(env: Record<string, string>, run: () => Promise<void>): Promise<void> {
  const before = process.env;
  process.env = { ...env };
  try {
    await run();
  } finally {
    process.env = before;
  }
}

/** A pi that keeps the tools it is given. */
function notedPi(): { offered: PiTool[]; pi: PiApi } {
  const offered: PiTool[] = [];
  const pi = {
    registerTool: (each: PiTool) => offered.push(each),
    getActiveTools: () => [],
    getAllTools: () => offered,
    setActiveTools() {},
    registerCommand() {},
    on() {},
  };
  return { offered, pi: pi as unknown as PiApi };
}
