import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ImportContext } from "../../../src/config/import/client.ts";
import { IMPORT_CLIENTS } from "../../../src/config/import/clients.ts";
import { scanClient } from "../../../src/config/import/scan.ts";
import { entries, fixture, importHome, notesOf, reasons, SYSTEMS, type System } from "./home.ts";

/** Where each system keeps what a program with windows has of a person. */
const APP_DATA: Readonly<Record<System, string>> = {
  linux: "~/.config",
  darwin: "~/Library/Application Support",
  win32: "~/AppData/Roaming",
};

describe.each(SYSTEMS)("on %s", (system) => {
  const data = APP_DATA[system];

  test.each<[string, string, string, number]>([
    ["claude-code", "~/.claude.json", "claude-code.json", 3],
    ["claude-desktop", `${data}/Claude/claude_desktop_config.json`, "claude-desktop.json", 1],
    ["cursor", "~/.cursor/mcp.json", "cursor.json", 3],
    ["cursor", "project/.cursor/mcp.json", "cursor-project.json", 2],
    ["vscode", `${data}/Code/User/mcp.json`, "vscode.json", 7],
    ["vscode", `${data}/Code - Insiders/User/mcp.json`, "vscode.json", 7],
    ["vscode", `${data}/Code/User/profiles/-1f2e3d/mcp.json`, "vscode.json", 7],
    ["vscode", "project/.vscode/mcp.json", "vscode-project.json", 1],
    ["windsurf", "~/.codeium/windsurf/mcp_config.json", "windsurf.json", 4],
    ["codex", "~/.codex/config.toml", "codex.toml", 3],
    ["codex", "project/.codex/config.toml", "codex.toml", 3],
    ["gemini", "~/.gemini/settings.json", "gemini.json", 5],
    ["gemini", "project/.gemini/settings.json", "gemini.json", 5],
    ["opencode", "~/.config/opencode/opencode.json", "opencode-v2.json", 2],
    ["opencode", "~/.config/opencode/opencode.jsonc", "opencode-v1.jsonc", 4],
    ["opencode", "project/opencode.json", "opencode-v2.json", 2],
    ["opencode", "project/.opencode/opencode.jsonc", "opencode-v1.jsonc", 4],
    ["zed", system === "win32" ? `${data}/Zed/settings.json` : "~/.config/zed/settings.json", "zed.json", 4],
    ["zed", "project/.zed/settings.json", "zed.json", 4],
    [
      "goose",
      system === "win32" ? `${data}/Block/goose/config/config.yaml` : "~/.config/goose/config.yaml",
      "goose.yaml",
      3,
    ],
    [
      "cline",
      `${data}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`,
      "cline.json",
      3,
    ],
    ["cline", "~/.cline/data/settings/cline_mcp_settings.json", "cline.json", 3],
    ["roo", `${data}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json`, "roo.json", 2],
    ["roo", "project/.roo/mcp.json", "roo.json", 2],
    ["lm-studio", "~/.lmstudio/mcp.json", "lm-studio.json", 2],
    ["mcporter", "~/.mcporter/mcporter.json", "mcporter.jsonc", 2],
    ["mcporter", "~/.mcporter/mcporter.jsonc", "mcporter.jsonc", 2],
    ["mcporter", "project/config/mcporter.json", "mcporter.jsonc", 2],
    ["grok", "~/.grok/config.toml", "grok.toml", 4],
    ["grok", "project/.grok/config.toml", "grok.toml", 4],
  ])("%s finds %s", (client, place, name, count) => {
    using home = importHome(system);
    home.put(place, fixture(name));
    const { files, problems } = home.scan(client);
    expect(problems).toEqual([]);
    const read = files.filter(({ state }) => state === "read");
    expect(read.map(({ file }) => file)).toEqual([home.path(place)]);
    expect(read[0]?.scope).toBe(place.startsWith("project/") ? "project" : "user");
    expect(read[0]?.servers).toHaveLength(count);
  });
});

test("folders that variables name are looked into instead", () => {
  using home = importHome();
  const env = {
    CODEX_HOME: home.path("~/x/codex"),
    CLAUDE_CONFIG_DIR: home.path("~/x/claude"),
    XDG_CONFIG_HOME: home.path("~/x/config"),
    GROK_HOME: "relative",
  };
  Object.assign(home.env, env);
  home.put("~/x/codex/config.toml", fixture("codex.toml"));
  home.put("~/x/claude/.claude.json", fixture("claude-code.json"));
  home.put("~/x/config/Code/User/mcp.json", fixture("vscode.json"));
  home.put("~/x/config/goose/config.yaml", fixture("goose.yaml"));
  home.put("~/.grok/config.toml", fixture("grok.toml"));
  for (const client of ["codex", "claude-code", "vscode", "goose", "grok"]) {
    expect(
      home.scan(client).files.some(({ state }) => state === "read"),
      client,
    ).toBe(true);
  }
});

describe("the five of pi's adapter that find nothing", () => {
  test("VS Code's `servers`", () => {
    using home = importHome();
    home.put("~/.config/Code/User/mcp.json", fixture("vscode.json"));
    expect(entries(home.scan("vscode"))).toMatchObject({ memory: { command: "npx", args: ["-y", "example-memory"] } });
  });

  test("Windsurf's ~/.codeium/windsurf/mcp_config.json", () => {
    using home = importHome();
    home.put("~/.codeium/windsurf/mcp_config.json", fixture("windsurf.json"));
    expect(entries(home.scan("windsurf"))).toMatchObject({
      figma: { url: "https://figma.example/mcp", headers: { "X-Key": "${FIGMA_KEY}" } },
    });
  });

  test("a project's .cursor/mcp.json", () => {
    using home = importHome();
    home.put("project/.cursor/mcp.json", fixture("cursor-project.json"));
    expect(entries(home.scan("cursor"))).toEqual({
      tools: { command: "python", args: [`${home.cwd}/tools.py`, "--name=project"] },
      relative: { command: "./bin/server", cwd: `${home.cwd}/sub` },
    });
  });

  test("Claude Code's projects[cwd]", () => {
    using home = importHome();
    home.put("~/.claude.json", fixture("claude-code.json", home.cwd));
    const scanned = home.scan("claude-code");
    expect(entries(scanned)).toMatchObject({ local: { command: "example-local" } });
    expect(entries(scanned)).not.toHaveProperty("foreign");
    expect(reasons(scanned)).toEqual({ paused: "off: it is disabled in Claude Code" });
  });

  test.each<[System, string]>([
    ["linux", "~/.config/Claude/claude_desktop_config.json"],
    ["win32", "~/AppData/Roaming/Claude/claude_desktop_config.json"],
    ["win32", "~/AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json"],
  ])("Claude Desktop on %s: %s", (system, place) => {
    using home = importHome(system);
    home.put(place, fixture("claude-desktop.json"));
    expect(entries(home.scan("claude-desktop"))).toHaveProperty("filesystem");
  });
});

test("Claude Code: variables are kept, all else is text; the folder's own come first", () => {
  using home = importHome();
  home.put("~/.claude.json", fixture("claude-code.json", home.cwd));
  expect(entries(home.scan("claude-code"))).toEqual({
    local: { command: "example-local" },
    paused: { command: "example-paused", disabled: true },
    notion: { url: "https://notion.example/mcp", headers: { Authorization: "Bearer ${NOTION_TOKEN}" } },
    files: { command: "npx", args: ["-y", "example-files", "$$HOME"], env: { ROOT: "${ROOT:-/srv}" } },
    old: { type: "sse", url: "https://old.example/sse" },
  });
});

test("Claude Code: of .mcp.json only what the person has approved, and never what approves itself", () => {
  using home = importHome();
  home.put("project/.mcp.json", fixture("claude-code-project.json"));
  home.put("~/.claude.json", fixture("claude-code.json", home.cwd));
  home.put(
    "project/.claude/settings.json",
    JSON.stringify({ enableAllProjectMcpServers: true, enabledMcpjsonServers: ["self-approved"] }),
  );
  home.put(
    "project/.claude/settings.local.json",
    JSON.stringify({ enabledMcpjsonServers: ["local-yes", "rejected"], disabledMcpjsonServers: ["rejected"] }),
  );
  const [, project] = home.scan("claude-code").files;
  expect(project?.servers.map(({ name, entry, scope }) => [name, entry, scope])).toEqual([
    ["approved", { command: "node", args: ["./tools/server.js"], env: { KEY: "${KEY}" }, cwd: home.cwd }, "project"],
    ["local-yes", { url: "${BASE:-https://api.example}/mcp" }, "project"],
  ]);
  expect(project?.skipped.map(({ name, reason }) => [name, reason])).toEqual([
    ["self-approved", "it is not approved in Claude Code"],
    ["rejected", "it is rejected in Claude Code"],
    ["undecided", "it is not approved in Claude Code"],
  ]);
  home.put("~/.claude/settings.json", JSON.stringify({ enableAllProjectMcpServers: true }));
  expect(home.scan("claude-code").files[1]?.skipped.map(({ name }) => name)).toEqual(["rejected"]);
});

test("Claude Desktop: nothing is a variable or a command", () => {
  using home = importHome("darwin");
  home.put("~/Library/Application Support/Claude/claude_desktop_config.json", fixture("claude-desktop.json"));
  expect(entries(home.scan("claude-desktop"))).toEqual({
    filesystem: {
      command: "npx",
      args: ["-y", "example-filesystem", "/Users/me/Desktop", "costs $5 or $$PRICE"],
      env: { MODE: "$${MODE}", BANG: "$!important" },
    },
  });
});

test("Cursor: its variables and folders", () => {
  using home = importHome();
  home.put("~/.cursor/mcp.json", fixture("cursor.json"));
  const scanned = home.scan("cursor");
  expect(entries(scanned)).toEqual({
    github: {
      command: "npx",
      args: ["-y", "example-github", "${HOME}/repos"],
      env: { GITHUB_TOKEN: "${GITHUB_TOKEN}", TEXT: "$${GITHUB_TOKEN}" },
    },
    remote: { url: "https://api.example/mcp", headers: { Authorization: "Bearer ${API_KEY}" } },
    here: { command: "example-here", args: ["./src", "--name=$${workspaceFolderBasename}"], disabled: true },
  });
  expect(notesOf(scanned, "github")).toEqual(['"envFile" is left out; put the variables under "env"']);
  expect(reasons(scanned)).toEqual({
    here: "off: ${workspaceFolderBasename} is not known here; write a path in its place",
  });
});

test("[E293] VS Code: a server that asks for a value is switched off with the reason, and takes it from the environment", () => {
  using home = importHome("linux", { API_KEY: "anything" });
  home.put("~/.config/Code/User/mcp.json", fixture("vscode.json"));
  const scanned = home.scan("vscode");
  expect(entries(scanned)).toMatchObject({
    docs: { url: "https://docs.example/mcp", headers: { Authorization: "Bearer ${API_KEY}" }, disabled: true },
    picks: { command: "example", args: ["${INPUT_PATH}"], disabled: true },
    region: { command: "example", env: { REGION: "${REGION:-eu}" } },
    events: { type: "sse", url: "https://events.example/sse" },
    boxed: { command: "example", disabled: true },
    setting: { command: "example", disabled: true },
  });
  expect(reasons(scanned)).toEqual({
    docs: 'off: asks for a value ("Key of the service"): set the environment variable API_KEY',
    picks: 'off: asks for a value ("Where"): set the environment variable INPUT_PATH',
    boxed: "off: runs in a sandbox there, and there is none here",
    setting: "off: ${config:my.setting} is not known here; write a path in its place",
    socket: 'skipped: "url" must be a complete http or https address, such as "https://example.com/mcp"',
  });
  expect(entries(scanned).region).not.toHaveProperty("disabled");
});

test("VS Code: a project's folder is filled in", () => {
  using home = importHome();
  home.put("project/.vscode/mcp.json", fixture("vscode-project.json"));
  const scanned = home.scan("vscode");
  expect(entries(scanned)).toEqual({ work: { command: "node", args: [`${home.cwd}/server.js`] } });
  expect(notesOf(scanned, "work")).toEqual(["left out, since it means nothing here: dev"]);
});

test("an editor's open folder is where a server runs, unless it has one of its own", () => {
  using home = importHome();
  const servers = {
    open: { command: "x", args: ["${workspaceFolder}/a"], cwd: "${workspaceFolder}" },
    own: { command: "x", args: ["${workspaceFolder}/a"], cwd: "/srv" },
  };
  home.put("~/.cursor/mcp.json", JSON.stringify({ mcpServers: servers }));
  expect(entries(home.scan("cursor"))).toEqual({
    open: { command: "x", args: ["./a"] },
    own: { command: "x", args: ["$${workspaceFolder}/a"], cwd: "/srv", disabled: true },
  });
});

test("in the home itself a file is the person's own, and without a home nothing of the folder is", () => {
  using home = importHome();
  home.put("project/.cursor/mcp.json", fixture("cursor-project.json"));
  const cursor = IMPORT_CLIENTS.filter(({ id }) => id === "cursor")[0];
  if (cursor === undefined) throw new Error("there is no Cursor");
  const scopes = (context: Partial<ImportContext>) =>
    scanClient(cursor, { ...home, ...context }).files.flatMap(({ state, scope }) => (state === "read" ? [scope] : []));
  expect(scopes({ home: home.cwd })).toEqual(["user"]);
  expect(scopes({ home: "" })).toEqual(["project"]);
});

test("Windsurf: what is in files is not read", () => {
  using home = importHome();
  home.put("~/.codeium/windsurf/mcp_config.json", fixture("windsurf.json"));
  const scanned = home.scan("windsurf");
  expect(entries(scanned)).toMatchObject({
    local: { command: "npx", args: ["-y", "example"], excludeTools: ["write"] },
    kept: { disabled: true },
    off: { disabled: true },
  });
  expect(reasons(scanned)).toEqual({
    kept: "off: ${file:~/secrets/key} is the content of a file there, which is not read here; put the value into a variable",
    off: "off: it is switched off there",
  });
});

test("Codex: variables stand in fields of their own", () => {
  using home = importHome();
  home.put("~/.codex/config.toml", fixture("codex.toml"));
  const scanned = home.scan("codex");
  expect(entries(scanned)).toEqual({
    docs: {
      command: "npx",
      args: ["-y", "example-docs", "$$HOME"],
      env: { MODE: "fast" },
      cwd: "/srv",
      startup_timeout_sec: 20,
      tool_timeout_sec: 45,
      includeTools: ["search"],
      excludeTools: ["delete"],
    },
    figma: {
      url: "https://figma.example/mcp",
      headers: { "X-Region": "eu", "X-Trace": "${TRACE_ID}", Authorization: "Bearer ${FIGMA_TOKEN}" },
    },
    off: { command: "example", disabled: true },
  });
  expect(reasons(scanned)).toEqual({
    off: "off: it is switched off there",
    elsewhere: "skipped: it runs on another computer",
  });
});

test("Gemini CLI: addresses, time limits, tools and its lists", () => {
  using home = importHome();
  home.put("~/.gemini/settings.json", fixture("gemini.json"));
  const scanned = home.scan("gemini");
  expect(entries(scanned)).toEqual({
    python: {
      command: "python",
      args: ["-m", "example"],
      cwd: "/srv/python",
      env: { URL: "${DB_URL}", KEY: "${API_KEY}" },
      requestTimeoutMs: 15000,
      includeTools: ["a"],
      excludeTools: ["b"],
    },
    stream: {
      url: "https://stream.example/mcp",
      headers: { Authorization: "Bearer ${TOKEN}" },
      requestTimeoutMs: 500,
    },
    either: { url: "https://either.example/sse" },
    events: { type: "sse", url: "https://events.example/sse" },
    unwanted: { command: "example", disabled: true },
  });
  expect(reasons(scanned)).toEqual({
    unwanted: "off: it is excluded in Gemini CLI",
    wire: 'skipped: it is reached over "tcp", which is not known here',
  });
  expect(notesOf(scanned, "python")).toEqual(["left out, since it means nothing here: trust"]);
});

test("[E292] OpenCode: servers of version 1 and of version 2", () => {
  using home = importHome();
  home.put("~/.config/opencode/opencode.jsonc", fixture("opencode-v1.jsonc"));
  expect(entries(home.scan("opencode"))).toEqual({
    local: {
      command: "bun",
      args: ["x", "example", "--a b"],
      env: { KEY: "${KEY}", TEXT: "$${KEY}" },
      requestTimeoutMs: 5000,
    },
    remote: { url: "https://remote.example/mcp", headers: { Authorization: "Bearer ${TOKEN}" }, oauth: false },
    off: { command: "example", disabled: true },
    file: { url: "https://file.example", headers: { X: "{file:./secret.txt}" }, disabled: true },
  });
  expect(reasons(home.scan("opencode"))).toMatchObject({
    off: "off: it is switched off there",
    default: "skipped: its command or address is not in this file",
  });
  home.put("~/.config/opencode/opencode.jsonc", fixture("opencode-v2.json"));
  expect(entries(home.scan("opencode"))).toEqual({
    local: { command: "npx", args: ["-y", "example"], env: { KEY: "${KEY}" } },
    off: { url: "https://off.example/mcp", disabled: true },
  });
  home.put(
    "~/.config/opencode/opencode.jsonc",
    JSON.stringify({ mcp: { servers: { type: "local", command: ["x"] } } }),
  );
  expect(entries(home.scan("opencode"))).toEqual({ servers: { command: "x" } });
});

test("Zed: both forms of a command, and what an extension starts", () => {
  using home = importHome();
  home.put("~/.config/zed/settings.json", fixture("zed.json"));
  const scanned = home.scan("zed");
  expect(entries(scanned)).toEqual({
    flat: { command: "example", args: ["a"], env: { DIR: "$$HOME" } },
    off: { command: "example", disabled: true },
    nested: { command: "/opt/example", args: ["run"], env: { A: "b" } },
    remote: { url: "https://zed.example/mcp", headers: { Authorization: "Bearer zed-secret-token" } },
  });
  expect(reasons(scanned)).toMatchObject({ bundled: "skipped: an extension of Zed starts it" });
});

test("Goose: servers among extensions, with values from its own store", () => {
  using home = importHome();
  home.put("~/.config/goose/config.yaml", fixture("goose.yaml"));
  const scanned = home.scan("goose");
  expect(entries(scanned)).toEqual({
    github: {
      command: "npx",
      args: ["-y", "example-github"],
      env: { MODE: "read$$only", GITHUB_TOKEN: "${GITHUB_TOKEN}" },
      description: "Repositories",
      tool_timeout_sec: 4000,
    },
    web: {
      url: "https://web.example/acme/mcp",
      headers: { Authorization: "Bearer ${WEB_KEY}" },
      timeout: 300,
      disabled: true,
    },
    events: { type: "sse", url: "https://events.example/sse" },
  });
  expect(notesOf(scanned, "github")).toEqual(["takes from the environment: GITHUB_TOKEN"]);
  expect(reasons(scanned)).toEqual({
    web: "off: it is switched off there",
    developer: "skipped: it is a part of Goose itself",
    page: "skipped: it is a part of Goose itself",
  });
  expect(scanned.files[0]?.servers[0]?.source).toMatchObject({ line: 8, column: 3 });
});

test("Cline, Roo Code and LM Studio", () => {
  using home = importHome();
  home.put(
    "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    fixture("cline.json"),
  );
  expect(entries(home.scan("cline"))).toEqual({
    local: { command: "node", args: ["/srv/server.js"], env: { PLACE: "$$HOME" }, timeout: 60 },
    remote: { url: "https://cline.example/mcp", headers: { "X-Key": "${CLINE_KEY}" }, timeout: 1800 },
    off: { command: "node", disabled: true },
  });
  home.put("project/.roo/mcp.json", fixture("roo.json"));
  expect(entries(home.scan("roo"))).toEqual({
    stream: { url: "https://roo.example/mcp", headers: { Authorization: "Bearer ${ROO_KEY}" }, excludeTools: ["b"] },
    local: { command: "node", args: ["server.js"], cwd: home.cwd, timeout: 30 },
  });
  home.put("~/.lmstudio/mcp.json", fixture("lm-studio.json"));
  expect(entries(home.scan("lm-studio"))).toEqual({
    hub: { url: "https://hub.example/mcp", headers: { Authorization: "Bearer hub-secret-token" } },
    local: { command: "npx", args: ["-y", "example"], requestTimeoutMs: 90000 },
  });
});

test("mcporter: addresses, commands in one text, its variables", () => {
  using home = importHome();
  home.put("~/.mcporter/mcporter.jsonc", fixture("mcporter.jsonc"));
  expect(entries(home.scan("mcporter"))).toEqual({
    linear: {
      url: "https://linear.example/mcp",
      headers: { Authorization: "Bearer ${LINEAR_KEY}", "X-Trace": "${TRACE}" },
      description: "Issues",
    },
    chrome: {
      command: "npx",
      args: ["-y", "example-chrome", "--headless"],
      env: { MODE: "${MODE:-fast}", TEXT: "$$MODE" },
      excludeTools: ["close"],
    },
  });
});

test("Grok: its variables, and the list of what is switched off", () => {
  using home = importHome();
  home.put("~/.grok/config.toml", fixture("grok.toml"));
  const scanned = home.scan("grok");
  expect(entries(scanned)).toEqual({
    local: {
      command: "/opt/server",
      args: ["--flag", "$$HOME"],
      env: { API_KEY: "${MY_KEY}" },
      startup_timeout_sec: 30,
      tool_timeout_sec: 6000,
    },
    remote: { url: "https://${HOST:-grok.example}/mcp", headers: { Authorization: "Bearer ${T}" } },
    session: { url: "https://session.example/mcp", headers: { "x-session": "{{session_id}}" }, disabled: true },
    paused: { command: "example", disabled: true },
  });
});

describe("what is wrong", () => {
  test.each<[string, string, string, number, number]>([
    ["cursor", "~/.cursor/mcp.json", '{\n  "mcpServers": {\n    "a": { "command": "x" "args": [] }\n', 3, 27],
    ["codex", "~/.codex/config.toml", "[mcp_servers.a]\ncommand = \n", 2, 11],
    ["goose", "~/.config/goose/config.yaml", "extensions:\n  a: [1,\n  b: 2\n", 3, 3],
    ["goose", "~/.config/goose/config.yaml", "a: 1\n---\nb: 2\n", 2, 1],
  ])("%s: a broken file is one error at its place", (client, place, text, line, column) => {
    using home = importHome();
    home.put(place, text);
    const { files, problems } = home.scan(client);
    expect(problems).toMatchObject([{ file: home.path(place), line, column, severity: "error" }]);
    expect(files.find(({ file }) => file === home.path(place))?.state).toBe("broken");
  });

  test("one bad server costs itself alone", () => {
    using home = importHome();
    const servers = {
      good: { command: "x" },
      number: { command: 5 },
      text: "npx",
      "": { command: "x" },
      "a\u202eb": { command: "x" },
      __proto__: { command: "x" },
      long: { command: "x", args: ["y".repeat(200_000)] },
      both: { command: "x", url: "https://h" },
    };
    // A key that an object literal would take for something else.
    home.put(
      "~/.cursor/mcp.json",
      JSON.stringify({ mcpServers: servers }).replace('"good"', '"__proto__":{"command":"p"},"good"'),
    );
    const scanned = home.scan("cursor");
    expect(scanned.files[0]?.servers.map(({ name }) => name)).toEqual(["__proto__", "good"]);
    expect(scanned.files[0]?.skipped).toHaveLength(6);
    expect(scanned.problems).toEqual([]);
  });

  test("a file of Goose with more in it than anybody has: many keys are no matter, a megabyte is too much", () => {
    using home = importHome();
    const servers = (count: number, text: string) =>
      `extensions:\n${Array.from({ length: count }, (_, n) => `  s${n}: {type: stdio, cmd: x, args: [${text}]}\n`).join("")}`;
    home.put("~/.config/goose/config.yaml", `${servers(3_000, "a")}  s0: {type: stdio, cmd: later}\n`);
    const [file] = home.scan("goose").files;
    expect([file?.state, file?.servers.length]).toEqual(["read", 300]);
    home.put("~/.config/goose/config.yaml", servers(3_000, "a".repeat(400)));
    expect(home.scan("goose")).toMatchObject({
      files: [{ state: "broken" }],
      problems: [{ message: "This file is larger than 1 MiB, so it was not read." }],
    });
  });

  test("a document of another shape has no servers", () => {
    using home = importHome();
    for (const text of ["[]", "1", "null", '"x"', '{"mcpServers": []}', '{"mcpServers": 5}', "", "// nothing"]) {
      home.put("~/.cursor/mcp.json", text);
      const { files, problems } = home.scan("cursor");
      expect([files[0]?.servers, files[0]?.skipped, problems]).toEqual([[], [], []]);
    }
    home.put("~/.config/goose/config.yaml", "- a\n- b\n");
    expect(home.scan("goose").problems).toEqual([]);
    mkdirSync(home.path("~/.lmstudio/mcp.json"), { recursive: true });
    expect(home.scan("lm-studio").problems).toMatchObject([{ severity: "error" }]);
  });

  test("references upon references in YAML end", () => {
    using home = importHome();
    const lines = Array.from(
      { length: 30 },
      (_, index) => `a${index + 1}: &a${index + 1} [${"*a0,".replace("0", String(index)).repeat(10)}]`,
    );
    home.put("~/.config/goose/config.yaml", ["a0: &a0 [x]", ...lines].join("\n"));
    expect(home.scan("goose").problems).toMatchObject([
      { severity: "error", message: expect.stringContaining("too large") },
    ]);
  });
});
