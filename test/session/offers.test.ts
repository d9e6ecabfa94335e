import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { ServerPort } from "../../src/server/port.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import { fakeHttp, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { modern } from "../protocol/open.ts";
import { sessionOf, sessionWith } from "./open.ts";

const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {} };
const NOTES = [
  { uri: "note://1", name: "one", description: "The first." },
  { uri: "note://2", name: "two", mimeType: "text/plain", size: 3 },
];
const GREET = { name: "greet", description: "Greets.", arguments: [{ name: "who", required: true }] };

/** A server with two pages of resources, a template and a prompt. */
const NOTEBOOK: ServerScript = {
  capabilities: CAPABILITIES,
  on: {
    "resources/list": [
      { result: { resources: [NOTES[0]], nextCursor: "2" } },
      { result: { resources: [NOTES[1], { name: "without an address" }] } },
    ],
    "resources/templates/list": { result: { resourceTemplates: [{ uriTemplate: "note://{id}", name: "any" }] } },
    "prompts/list": { result: { prompts: [GREET] } },
    "resources/read": { result: { contents: [{ uri: "note://2", text: "two" }] } },
    "prompts/get": { result: { messages: [{ role: "user", content: { type: "text", text: "Hello" } }] } },
    "completion/complete": { result: { completion: { values: ["Ada", "Alan"] } } },
  },
};

/** A session whose host follows what servers offer. */
function followed(home: Home): { session: McpSession; told: string[] } {
  const env = home.env();
  const told: string[] = [];
  const port: ServerPort = { offersChanged: (server) => void told.push(server) };
  return { session: createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd }, port), told };
}

const keptText = (home: Home) => {
  const folder = join(home.agentDir, "mcp-catalog");
  const name = readdirSync(folder).find((each) => each.endsWith(".json")) ?? "";
  return { file: join(folder, name), text: readFileSync(join(folder, name), "utf8") };
};

describe("resources and prompts", () => {
  test("are listed with all pages, read, fetched and completed, and the server starts with the first of these, once", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, NOTEBOOK);
    await using _ = session;
    expect(session.knownOffers("fake")).toBeUndefined();
    expect(server.starts()).toEqual([]);
    const [resources, templates, prompts] = await Promise.all([
      session.listResources("fake"),
      session.listResourceTemplates("fake"),
      session.listPrompts("fake"),
    ]);
    expect(resources.map(({ raw }) => raw)).toEqual(NOTES);
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(["note://{id}"]);
    expect(prompts).toEqual([expect.objectContaining({ name: "greet", arguments: [{ name: "who", required: true }] })]);
    expect(session.status("fake").notices).toEqual(["a resource without a uri was left out"]);
    expect(await session.readResource("fake", "note://2")).toEqual([{ uri: "note://2", text: "two" }]);
    const { messages } = await session.getPrompt("fake", "greet", { who: "Ada" });
    expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "Hello" }] }]);
    const argument = { name: "who", value: "A", others: { to: "x" } };
    const found = await session.complete("fake", { type: "ref/prompt", name: "greet" }, argument);
    expect(found.values).toEqual(["Ada", "Alan"]);
    expect(server.params("completion/complete")[0]).toMatchObject({
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "who", value: "A" },
      context: { arguments: { to: "x" } },
    });
    expect(server.starts()).toHaveLength(1);
    expect(server.methods()).not.toContain("tools/list");
  });

  test("are not asked of a server that does not say it has them, and a template is nothing it must know of", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, { capabilities: { tools: {} } });
    await using _ = session;
    const lists = [session.listResources("fake"), session.listResourceTemplates("fake"), session.listPrompts("fake")];
    expect(await Promise.all(lists)).toEqual([[], [], []]);
    await expect(session.readResource("fake", "x:1")).rejects.toThrow(
      "MCP server `fake`: it says that it has no resources",
    );
    await expect(session.getPrompt("fake", "p", {})).rejects.toThrow("it says that it has no prompts");
    expect(server.methods().filter((method) => /resources|prompts/.test(method))).toEqual([]);
    expect(session.knownOffers("fake")).toEqual({ offers: [] });

    const some = await fakeStdio(home, { capabilities: { resources: {} } });
    home.write({ settings: { mcpServers: [some.entry("some")] } });
    await using other = sessionOf(home);
    expect(await other.listResourceTemplates("some")).toEqual([]);
    await expect(other.listResources("some")).rejects.toThrow(/answered with error -32601/);
    await expect(other.listResources("none")).rejects.toThrow(/no MCP server configured with name `none`/);
  });

  test("that are not there are the server's word, which is not asked twice", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities: CAPABILITIES,
      on: {
        "resources/read": { error: { code: -32002, message: "Resource not found" } },
        "prompts/get": { error: { code: -32602, message: "Unknown prompt" } },
      },
    });
    await using _ = session;
    await expect(session.readResource("fake", "note://9")).rejects.toMatchObject({
      category: "validation",
      message: "MCP server `fake`: it answered with error -32002: Resource not found",
    });
    await expect(session.getPrompt("fake", "nope", {})).rejects.toMatchObject({ category: "validation" });
    expect(server.params("resources/read")).toHaveLength(1);
    expect(server.starts()).toHaveLength(1);
  });

  test("are read again when the connection breaks, and given up at the server when nobody waits any more", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      ...NOTEBOOK,
      on: { ...NOTEBOOK.on, "resources/read": [{ exit: 1 }, { result: { contents: [] } }, { silent: true }] },
    });
    await using _ = session;
    expect(await session.readResource("fake", "note://1")).toEqual([]);
    expect(server.starts()).toHaveLength(2);
    const abort = new AbortController();
    const reading = session.readResource("fake", "note://1", { signal: abort.signal });
    await server.until("resources/read", 3);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ category: "cancelled" });
    await server.until("notifications/cancelled", 1);
    await expect(session.readResource("fake", "note://1", { timeoutMs: 50 })).rejects.toMatchObject({
      category: "timeout",
    });
  });

  test("come whole over HTTP though the server is busy at first, and what it says holds is not asked for again", async () => {
    await using home = await temporaryHome();
    const contents = { resultType: "complete", ttlMs: 60_000, contents: [{ uri: "note://1", text: "one" }] };
    const server = await fakeHttp(
      modern(
        { on: { "resources/read": [{ status: 503, headers: { "retry-after": "0" } }, { result: contents }] } },
        { capabilities: { resources: {} } },
      ),
    );
    home.write({ mcp: { mcpServers: { fake: { url: server.url } } } });
    await using session = sessionOf(home);
    const texts: unknown[] = [];
    for (let times = 0; times < 3; times++) texts.push((await session.readResource("fake", "note://1"))[0]?.text);
    expect(texts).toEqual(["one", "one", "one"]);
    expect(server.params("resources/read")).toHaveLength(2);
    await server.close();
  });

  test("hold no configured secret, and an address that holds one is read by what was shown of it, also later", async () => {
    await using home = await temporaryHome();
    const secret = "zq-secret-value-9";
    const text = `about ${secret}`;
    const { server, session } = await sessionWith(
      home,
      {
        capabilities: CAPABILITIES,
        on: {
          "resources/list": { result: { resources: [{ uri: `db://${secret}@h/t`, name: text, description: text }] } },
          "prompts/list": { result: { prompts: [{ ...GREET, description: text }, { name: secret }] } },
          "resources/read": {
            result: { contents: [{ uri: `db://${secret}@h/t`, text, _meta: { [secret]: 1 } }, { blob: "AAAA" }] },
          },
          "prompts/get": {
            result: {
              description: text,
              messages: [
                { role: "user", content: { type: "resource", resource: { uri: "x:1", text } } },
                { role: secret, content: [{ type: "text", text }] },
              ],
            },
          },
          "completion/complete": { result: { completion: { values: ["a", secret] } } },
        },
      },
      { env: { API_TOKEN: secret } },
    );
    const said: unknown[] = [];
    said.push(await session.listResources("fake"), await session.listPrompts("fake"));
    const uri = "db://[REDACTED]@h/t";
    said.push(await session.readResource("fake", uri));
    said.push(await session.getPrompt("fake", "greet", {}));
    said.push(await session.complete("fake", { type: "ref/prompt", name: "greet" }, { name: "who", value: "" }));
    said.push(session.knownOffers("fake"), session.status("fake"));
    await session.close();
    await using next = sessionOf(home);
    said.push(next.knownOffers("fake"));
    said.push(await next.readResource("fake", uri));
    expect(server.params("resources/read").map((params) => params?.uri)).toEqual(Array(2).fill(`db://${secret}@h/t`));
    expect(JSON.stringify(said)).not.toContain(secret);
    expect(JSON.stringify(said)).toContain('"blob":"AAAA"');
    expect(next.knownOffers("fake")?.resources).toEqual([expect.objectContaining({ uri, name: "about [REDACTED]" })]);
    expect(next.knownOffers("fake")?.prompts?.map(({ name }) => name)).toEqual(["greet"]);
    expect(keptText(home).text).not.toContain(secret);
  });

  test("of a server whose resources are left out by the configuration are none, without asking it", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, NOTEBOOK, { exposeResources: false });
    await using _ = session;
    expect(await session.listResources("fake")).toEqual([]);
    await expect(session.readResource("fake", "note://1")).rejects.toMatchObject({
      category: "denied",
      message: expect.stringMatching(/^MCP server `fake`: its resources are left out by the configuration, "exposeRes/),
    });
    expect(server.starts()).toEqual([]);
    expect(await session.listPrompts("fake")).toHaveLength(1);
  });
});

describe("what is known of them", () => {
  test("is there in the next session with no server running, beside tools or without them", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, { ...NOTEBOOK, instructions: "Ask." });
    await session.listPrompts("fake");
    const first = session.knownOffers("fake");
    expect(first).toBe(session.knownOffers("fake"));
    expect(first).toMatchObject({ offers: ["resources", "prompts", "completions"], prompts: [{ name: "greet" }] });
    await session.close();
    await using next = sessionOf(home);
    expect(next.knownOffers("fake")).toEqual(first);
    expect(next.knownTools("fake")).toBeUndefined();
    expect(next.search("echo").unlisted).toEqual(["fake"]);
    expect(server.starts()).toHaveLength(1);
    await next.listTools("fake");
    await next.listResources("fake");
    await next.close();
    await using last = sessionOf(home);
    expect(last.knownTools("fake")).toMatchObject({ server: { instructions: "Ask." }, tools: [{ name: "echo" }] });
    expect(last.knownOffers("fake")).toEqual({ ...first, resources: next.knownOffers("fake")?.resources });
    expect(server.starts()).toHaveLength(2);
  });

  test("is read from a file that an earlier version wrote, and grows with the next connection", async () => {
    await using home = await temporaryHome();
    const { session } = await sessionWith(home, { ...NOTEBOOK, tools: [tool("echo")] });
    await session.listTools("fake");
    await session.close();
    const { file, text } = keptText(home);
    const { offers: _, ...former } = JSON.parse(text);
    writeFileSync(file, JSON.stringify(former));
    await using next = sessionOf(home);
    expect(next.knownTools("fake")?.tools.map(({ name }) => name)).toEqual(["echo"]);
    expect(next.knownOffers("fake")).toBeUndefined();
    await next.listPrompts("fake");
    expect(next.knownOffers("fake")?.prompts).toHaveLength(1);
    expect(next.knownTools("fake")?.tools).toHaveLength(1);
  });

  test("is told to a host that follows it: prompts with the connection, lists that have changed, and no list twice", async () => {
    await using home = await temporaryHome();
    const changed = (list: string) => ({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
    const { server } = await sessionWith(home, {
      ...NOTEBOOK,
      on: {
        ...NOTEBOOK.on,
        "prompts/list": [{ result: { prompts: [GREET] } }, { result: { prompts: [GREET, { name: "part" }] } }],
        "resources/list": { result: { resources: NOTES } },
        "tools/call": { notify: [changed("prompts"), changed("resources")], echo: true },
      },
    });
    const { session, told } = followed(home);
    await using _ = session;
    await session.callTool("fake", "echo", {});
    await until("the prompts", () => (session.knownOffers("fake")?.prompts?.length === 2 ? true : undefined));
    // What it says of itself, the first list and the second one.
    expect(told).toEqual(["fake", "fake", "fake"]);
    expect(server.methods().filter((method) => method.startsWith("resources/"))).toEqual([]);
    await session.listResources("fake");
    await session.callTool("fake", "echo", {});
    await until("the lists", () => (server.params("resources/list").length === 2 ? true : undefined));
    expect(session.knownOffers("fake")?.resources).toHaveLength(2);
    expect(told).toHaveLength(4);
  });

  test("costs a call nothing where a server never answers for its prompts, or with an error", async () => {
    await using home = await temporaryHome();
    const cases = [
      // Given up after the limit of a start, which is told to the server.
      { step: { silent: true }, seen: ["notifications/cancelled", 1] },
      // "Internal" is asked about twice.
      { step: { error: { code: -32603, message: "no" } }, seen: ["prompts/list", 2] },
    ] as const;
    for (const {
      step,
      seen: [method, times],
    } of cases) {
      const { server } = await sessionWith(
        home,
        { capabilities: CAPABILITIES, on: { "prompts/list": step } },
        { requestTimeoutMs: 2_000, freshAfterFailure: true },
      );
      const { session } = followed(home);
      await session.callTool("fake", "echo", {});
      await server.until(method, times);
      await session.callTool("fake", "echo", {});
      await session.close();
      expect(server.starts()).toHaveLength(1);
    }
  });
});
