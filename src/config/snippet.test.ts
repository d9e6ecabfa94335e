// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { describe, expect, it } from "vitest";
import { readSnippet, SnippetError } from "./snippet.ts";

/** The servers by name, without remarks. */
function servers(snippet: unknown): unknown {
  const text = typeof snippet === "string" ? snippet : JSON.stringify(snippet);
  return Object.fromEntries(readSnippet(text).map(({ name, entry }) => [name ?? "", entry]));
}

const ENTRY = { command: "npx", args: ["-y", "x"], env: { A: "${A}" } };

describe("a snippet", () => {
  it.each<[string, unknown, unknown]>([
    [
      "mcpServers, as Claude, Cursor and many others have it",
      { mcpServers: { s: { type: "stdio", ...ENTRY } } },
      { s: ENTRY },
    ],
    ["an array with names", { mcpServers: [{ name: "s", transport: "stdio", ...ENTRY }] }, { s: ENTRY }],
    ["mcp_servers (Codex)", { mcp_servers: { s: ENTRY } }, { s: ENTRY }],
    [
      "a remote one of Codex",
      {
        mcp_servers: {
          s: {
            url: "https://h",
            bearer_token_env_var: "T",
            env_http_headers: { "X-K": "K" },
            http_headers: { A: "b" },
          },
        },
      },
      { s: { url: "https://h", headers: { A: "b", "X-K": "${K}", Authorization: "Bearer ${T}" } } },
    ],
    [
      "VS Code",
      {
        inputs: [],
        servers: { s: { type: "http", url: "https://h", headers: { Authorization: "Bearer ${input:api-key}" } } },
      },
      { s: { url: "https://h", headers: { Authorization: "Bearer ${API_KEY}" } } },
    ],
    ["VS Code's settings", { mcp: { servers: { s: { ...ENTRY, env: { A: "${env:A}" } } } } }, { s: ENTRY }],
    ["Zed", { context_servers: { s: { source: "custom", enabled: true, ...ENTRY } } }, { s: ENTRY }],
    [
      "Zed before",
      { context_servers: { s: { command: { path: "npx", args: ["-y", "x"], env: { A: "${A}" } } } } },
      { s: ENTRY },
    ],
    [
      "OpenCode",
      {
        mcp: {
          s: {
            type: "local",
            command: ["npx", "-y", "x"],
            environment: { A: "{env:A}" },
            enabled: false,
            timeout: 5000,
          },
        },
      },
      { s: { ...ENTRY, disabled: true, requestTimeoutMs: 5000 } },
    ],
    [
      "OpenCode, remote",
      { mcp: { s: { type: "remote", url: "https://h", enabled: true } } },
      { s: { url: "https://h" } },
    ],
    ["Windsurf", { mcpServers: { s: { serverUrl: "https://h" } } }, { s: { url: "https://h" } }],
    [
      "Gemini",
      { mcpServers: { s: { httpUrl: "https://h", timeout: 600000 } } },
      { s: { url: "https://h", requestTimeoutMs: 600000 } },
    ],
    [
      "Cline",
      { mcpServers: { s: { type: "streamableHttp", url: "https://h", timeout: 60 } } },
      { s: { url: "https://h", timeout: 60 } },
    ],
    [
      "the older transport",
      { mcpServers: { s: { type: "sse", url: "https://h" } } },
      { s: { type: "sse", url: "https://h" } },
    ],
    [
      "Goose",
      { extensions: { s: { type: "stdio", cmd: "npx", args: ["-y", "x"], envs: { A: "${A}" } } } },
      { s: ENTRY },
    ],
    ["a map of names", { s: ENTRY, t: { url: "https://h" } }, { s: ENTRY, t: { url: "https://h" } }],
    ["a bare entry", ENTRY, { "": ENTRY }],
    ["a bare entry with a name", { name: "s", ...ENTRY }, { s: ENTRY }],
    ["without the outer braces", '"s": {"command": "x"},', { s: { command: "x" } }],
    ["mcpServers without the outer braces", '"mcpServers": {"s": {"command": "x"}}', { s: { command: "x" } }],
    ["with comments", '{ // it\n "s": {"command": "x", /* y */}, }', { s: { command: "x" } }],
    ["a server called like a key", { servers: { command: "x" } }, { servers: { command: "x" } }],
    [
      "fields of ours",
      { s: { ...ENTRY, exposure: "direct", cwd: "/x" } },
      { s: { ...ENTRY, exposure: "direct", cwd: "/x" } },
    ],
    [
      "what is wrong stays for the reader",
      { s: { command: 5, type: "carrier-pigeon" } },
      { s: { command: 5, type: "carrier-pigeon" } },
    ],
    [
      "other text with dollars stays",
      { s: { command: "x", args: ["$5", "$A", "a$$b", "${A:-b}"] } },
      { s: { command: "x", args: ["$5", "$A", "a$$b", "${A:-b}"] } },
    ],
  ])("%s", (_, snippet, entries) => {
    expect(servers(snippet)).toEqual(entries);
  });

  it("is said to lose what means nothing here, and to need what it asks for", () => {
    const [server] = readSnippet(
      JSON.stringify({
        s: { command: "x", args: ["-v${workspaceFolder}", "${input:key}"], alwaysAllow: ["a"], dev: {} },
      }),
    );
    expect(server?.remarks).toEqual([
      "left out, since it means nothing here: alwaysAllow, dev",
      "${workspaceFolder} is not known here; write a path in its place",
      "asks for a value: set the environment variable KEY",
    ]);
  });

  it.each([
    ["", "has no server in it"],
    ["[1]", "must be a JSON object"],
    ["{}", "has no server in it"],
    ['{"mcpServers": {}}', "has no server in it"],
    ['{"a": 1}', "has no server in it"],
    ['{"a": {"command": "x" "args": []}}', "is not JSON (line 1, column 23): a comma is missing before this"],
    ["npx -y x", "is not JSON (line 1, column 1)"],
  ])("%j is refused with the reason", (text, message) => {
    expect(() => readSnippet(text)).toThrow(SnippetError);
    expect(() => readSnippet(text)).toThrow(message);
  });
});
