import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { McpSession } from "../../src/session/session.ts";
import { fetchPrompt } from "../../src/tools/prompt.ts";
import { runListResources, runListResourceTemplates, runReadResource } from "../../src/tools/resources.ts";
import { fakeStdio, type ServerScript } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

const capabilities = { tools: {}, resources: {}, prompts: {} };

const resources = (count: number, more: object = {}) => ({
  result: { resources: Array.from({ length: count }, (_, at) => ({ uri: `x:${at}`, name: `n${at}`, ...more })) },
});

async function list(session: McpSession, args: unknown = {}, run = runListResources) {
  const { content, isError, details } = await run(session, { args });
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  return { text, isError, details, page: isError ? undefined : JSON.parse(text) };
}

async function read(session: McpSession, args: unknown) {
  const answer = await runReadResource(session, { args });
  return { ...answer, texts: answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) };
}

describe("list_mcp_resources", () => {
  test("gives a server's resources page by page, in the order of the server, none twice and none left out", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, {
      capabilities,
      on: { "resources/list": resources(400, { description: "d".repeat(500) }) },
    });
    await using _ = session;
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { text, page } = await list(session, { server: "fake", cursor });
      expect(text.length).toBeLessThan(20_000);
      seen.push(...page.resources.map(({ uri }: { uri: string }) => uri));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(3);
    expect(seen).toEqual(Array.from({ length: 400 }, (_, at) => `x:${at}`));
    expect(server.params("resources/list")).toHaveLength(1);
    for (const wrong of ["x", "-1", "1.5"]) {
      expect((await list(session, { server: "fake", cursor: wrong })).isError).toBe(true);
    }
    expect((await list(session, { cursor: "3" })).text).toBe("`cursor` goes with the `server` it came from");
    expect((await list(session, { server: "fake", cursor: "4000" })).page).toEqual({ server: "fake", resources: [] });
  });

  test("without a server asks those that are known to have any, and says of the others why they are not there", async () => {
    await using home = await temporaryHome();
    const make = (on: ServerScript["on"] = {}, more: object = {}) =>
      fakeStdio(home, { capabilities, ...more, on: { "resources/list": resources(2), ...on } });
    const [one, two, bad, none, hidden, never] = [
      await make(),
      await make({ "resources/list": resources(1_000) }),
      await make({ "resources/list": { error: { code: -32000, message: "no disk" } } }),
      await make({}, { capabilities: { tools: {} } }),
      await make(),
      await make(),
    ];
    const entries = { one, two, bad, none, never };
    const servers = Object.entries(entries).map(([name, server]) => server.entry(name));
    home.write({ settings: { mcpServers: [...servers, hidden.entry("hidden", { exposeResources: false })] } });
    await using session = sessionOf(home);
    expect((await list(session)).page).toEqual({
      resources: [],
      notAsked: ["bad", "hidden", "never", "none", "one", "two"],
    });
    for (const name of ["one", "two", "bad", "none", "hidden"]) await session.callTool(name, "echo", {});
    const { page } = await list(session);
    expect(page.resources.slice(0, 3).map(({ server, uri }: Record<string, string>) => `${server} ${uri}`)).toEqual([
      ...["one x:0", "one x:1", "two x:0"],
    ]);
    expect(page.more).toEqual([{ server: "two", nextCursor: expect.stringMatching(/^\d+$/) }]);
    expect(page.errors).toEqual([{ server: "bad", error: "MCP server `bad`: it answered with error -32000: no disk" }]);
    expect(page.notAsked).toEqual(["never"]);
    expect(never.starts()).toEqual([]);
    const at = Number(page.more[0].nextCursor);
    const rest = await list(session, { server: "two", cursor: page.more[0].nextCursor });
    expect(rest.page.resources[0].uri).toBe(`x:${at}`);
    expect((await list(session, { server: "nope" })).text).toContain("no MCP server configured with name `nope`");
    expect((await list(session, { server: "one" }, runListResourceTemplates)).page).toEqual({
      server: "one",
      resourceTemplates: [],
    });
  });

  test("shows no screens for people, nothing twice, and nothing that is not seen", async () => {
    await using home = await temporaryHome();
    const { session } = await sessionWith(home, {
      capabilities,
      on: {
        "resources/list": {
          result: {
            resources: [
              { uri: "ui://a", name: "a" },
              { uri: "x:1", name: "app", mimeType: 'text/html;profile="mcp-app"' },
              { uri: "x:\u202e\u001b", name: "n\u{e0041}", title: "n", description: "" },
              { uri: "x:2", name: "same", title: "same", icons: [{ src: "data:," }], _meta: { a: 1 } },
            ],
          },
        },
      },
    });
    await using _ = session;
    const { text, page } = await list(session, { server: "fake" });
    expect(page.resources).toHaveLength(2);
    expect(page.resources[1]).toEqual({ uri: "x:2", name: "same" });
    for (const letter of ["\u001b", "\u202e", "\u{e0041}"]) expect(text).not.toContain(letter);
    // The address is what it is: it is needed to read it.
    expect(page.resources[0].uri).toBe("x:\u202e\u001b");
  });
});

describe("read_mcp_resource", () => {
  test("gives text as it is, what is long or no text in files, and an empty one in words", async () => {
    await using home = await temporaryHome();
    const contents = (...parts: object[]) => ({ result: { contents: parts } });
    const long = `${"line\n".repeat(20_000)}end`;
    const { session } = await sessionWith(home, {
      capabilities,
      on: {
        "resources/read": [
          contents({ uri: "x:1", text: "plain" }),
          contents({ uri: "x:1", text: long }),
          contents({ uri: "x:1", mimeType: "application/pdf", blob: "JVBERg==" }),
          contents({ uri: "x:1", text: "" }),
          contents(),
          contents({ uri: "x:1" }),
          contents({ uri: "x:1", blob: "!" }),
        ],
      },
    });
    await using _ = session;
    const args = { server: "fake", uri: " x:1 " };
    expect((await read(session, args)).texts).toEqual(["plain"]);
    const cut = await read(session, args);
    expect(cut.details).toMatchObject({ truncated: true, isError: false, server: "fake", uri: "x:1" });
    const [file = ""] = cut.details.files as string[];
    expect(readFileSync(file, "utf8")).toBe(long);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [pdf = ""] = (await read(session, args)).texts;
    expect(pdf).toMatch(/^\[resource x:1 \(application\/pdf\), 4 bytes, saved to .*\.pdf\]$/);
    for (let times = 0; times < 2; times++)
      expect((await read(session, args)).texts).toEqual(["[resource x:1 is empty]"]);
    expect((await read(session, args)).texts[0]).toContain("is empty");
    expect((await read(session, args)).texts[0]).toContain("is not base64");
    expect(await read(session, { server: "fake" })).toMatchObject({
      isError: true,
      texts: ["read_mcp_resource needs `server` and `uri`"],
    });
    expect((await read(session, null)).isError).toBe(true);
  });

  test("and prompts pass the one point that permits the use of a server", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, {
      capabilities,
      on: {
        "resources/read": { result: { contents: [{ uri: "x:1", text: "t" }] } },
        "prompts/get": { result: { messages: [] } },
      },
    });
    const { name: _, ...entry } = server.entry("");
    const permission = { deny: ["fake.resource:secret:*", "fake.prompt:evil"] };
    home.write({ mcp: { mcpServers: { fake: entry }, permission } });
    await using session = sessionOf(home);
    expect((await read(session, { server: "fake", uri: "x:1" })).isError).toBe(false);
    const denied = await read(session, { server: "fake", uri: "secret:1" });
    expect(denied.details.category).toBe("denied");
    expect(denied.texts[0]).toMatch(/its resource `secret:1` may not be used/);
    await fetchPrompt(session, { server: "fake", prompt: "good", args: {} });
    await expect(fetchPrompt(session, { server: "fake", prompt: "evil", args: {} })).rejects.toMatchObject({
      category: "denied",
    });
    expect(server.params("resources/read")).toHaveLength(1);
    expect(server.params("prompts/get")).toHaveLength(1);
  });

  test("is named where the result of a call links to a resource that it can read", async () => {
    await using home = await temporaryHome();
    const link = { result: { content: [{ type: "resource_link", uri: "x:1", name: "one" }] } };
    const { session } = await sessionWith(home, { capabilities, on: { "tools/call": link } });
    await using _ = session;
    const { text } = await mcp(session, { action: "call", server: "fake", tool: "echo" });
    expect(text).toContain(
      '[resource link one: x:1]\n\n[read_mcp_resource with server "fake" reads what a link names]',
    );
    const { session: other } = await sessionWith(home, { capabilities: { tools: {} }, on: { "tools/call": link } });
    await using __ = other;
    expect((await mcp(other, { action: "call", server: "fake", tool: "echo" })).text).not.toContain("read_mcp");
  });
});

test("a prompt is one message, which says who speaks where it is a conversation", async () => {
  await using home = await temporaryHome();
  const says = (role: string, content: object | object[]) => ({ role, content });
  const text = (words: string) => ({ type: "text", text: words });
  const messages = [
    [says("user", text("a")), says("user", [text("b"), { type: "resource", resource: { uri: "x:1", text: "c" } }])],
    [says("user", text("a")), says("assistant", text("b")), says("system\u001b", text("c"))],
    [],
    [says("user", text("x".repeat(200_000)))],
  ];
  const { session } = await sessionWith(home, {
    capabilities,
    on: { "prompts/get": messages.map((each) => ({ result: { messages: each } })) },
  });
  await using _ = session;
  const fetch = async () => (await fetchPrompt(session, { server: "fake", prompt: "p", args: {} })).blocks;
  expect(await fetch()).toEqual([{ type: "text", text: "a\nb\n[resource x:1]\nc" }]);
  expect(await fetch()).toEqual([{ type: "text", text: "User:\na\nAssistant:\nb\nAssistant:\nc" }]);
  expect(await fetch()).toEqual([]);
  const [long] = await fetch();
  expect(long?.type === "text" && long.text.length).toBeLessThan(60_000);
});
