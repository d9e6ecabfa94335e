import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ServerConfig } from "../../../config/record.ts";
import type { McpSession, ServerStatus } from "../../../session/session.ts";
import type { PiTheme } from "../api.ts";
import type { Errand, PanelActions, PanelView } from "./options.ts";
import { McpPanel } from "./panel.ts";

const plain: PiTheme = { fg: (_color, text) => text, bold: (text) => text };

interface Shown {
  readonly name: string;
  readonly state?: ServerStatus["state"];
  readonly error?: string;
  readonly tools?: readonly string[];
  readonly words?: string;
  readonly notices?: readonly string[];
}

/** A panel over servers that are only told of, with all it asks for written down. */
function open(
  servers: readonly Shown[],
  given: { rows?: number; actions?: Partial<PanelActions>; unused?: object[]; untrusted?: object[] } = {},
) {
  let shown = servers;
  const watchers = new Set<() => void>();
  const find = (name: string) => shown.find((each) => each.name === name);
  const session = {
    get servers() {
      return shown.map(({ name }) => ({
        name,
        exposure: "gateway",
        source: { file: `/home/me/.pi/agent/mcp.json`, line: 3, column: 1 },
        fields: { command: { layer: "own" } },
        target: { kind: "stdio", command: "npx", args: ["-y", name], env: {} },
        policy: { surface: "gateway", showTarget: true },
      })) as unknown as ServerConfig[];
    },
    unused: given.unused ?? [],
    untrusted: given.untrusted ?? [],
    status: (name: string) => {
      const { state = "idle", error, notices = [] } = find(name) ?? {};
      return { name, state, notices, ...(error !== undefined && { error }) };
    },
    knownTools: (name: string) => {
      const tools = find(name)?.tools;
      return tools && { tools: tools.map((tool) => ({ name: tool, description: `It does ${tool}.` })), complete: true };
    },
    words: (name: string) => find(name)?.words ?? "",
    watch: (changed: () => void) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  } as unknown as McpSession;
  const asked: string[] = [];
  const left: (Errand | undefined)[] = [];
  const view: PanelView = {};
  let renders = 0;
  const note = (what: string) => async (name: string) => {
    asked.push(`${what} ${name}`);
    return `${what} of ${name} is done`;
  };
  const panel = new McpPanel({
    session,
    view,
    theme: plain,
    keys: { matches: () => false },
    folders: { home: "/home/me", cwd: "/work/here" },
    welcome: () => "No MCP servers are configured.\n\nPress n to add one.",
    rows: () => given.rows ?? 30,
    requestRender: () => renders++,
    leave: (errand) => left.push(errand),
    actions: {
      reconnect: note("reconnect"),
      switchTo: async (name, on) => `${on ? "on" : "off"} ${name}`,
      logout: note("logout"),
      check: note("check"),
      signInState: async () => "signed in",
      changes: (name) => ({ text: "", count: 0, accept: note(`accept of ${name}`).bind(undefined, name) }),
      ...given.actions,
    },
  });
  return {
    panel,
    asked,
    left,
    view,
    session,
    watchers,
    renders: () => renders,
    show: (next: readonly Shown[]) => {
      shown = next;
      for (const watcher of watchers) watcher();
    },
    press: (...keys: string[]) => {
      for (const key of keys) panel.handleInput(key);
    },
    screen: (width = 80) => panel.render(width).map((line) => line.trimEnd()),
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

const UP = "\u001b[A";
const DOWN = "\u001b[B";
const ENTER = "\r";
const ESC = "\u001b";

const THREE: Shown[] = [
  { name: "files", state: "ready", tools: ["read", "write"] },
  { name: "github", state: "failed", error: "it exited with code 1" },
  { name: "slow", state: "starting" },
];

test("every server has a line with its state, tools, exposure and place; the marked one says what is wrong", () => {
  const { screen, press, panel } = open(THREE);
  expect(screen(76)).toEqual([
    "── MCP servers ───────────────────────────────────────────── 1 of 3 ready ──",
    "> ● files   ready          2 tools    by mcp  ~/.pi/agent/mcp.json:3",
    "  ✗ github  failed                    by mcp  ~/.pi/agent/mcp.json:3",
    "  ◐ slow    starting                  by mcp  ~/.pi/agent/mcp.json:3",
    " enter details · r reconnect · d on/off · i sign in · / filter · esc close",
    "─".repeat(76),
  ]);
  press(DOWN);
  expect(screen().slice(2, 5)).toEqual([
    "> ✗ github  failed                    by mcp  ~/.pi/agent/mcp.json:3",
    "    it exited with code 1",
    "  ◐ slow    starting                  by mcp  ~/.pi/agent/mcp.json:3",
  ]);
  panel.dispose();
});

test("entries that are not in use are shown too, with what is to be done", () => {
  const place = { file: "/work/here/.mcp.json", line: 2, column: 3 };
  const { screen, press, left, panel } = open([], {
    unused: [
      { reason: "disabled", name: "off", source: place, remedy: "pi-mcp enable off" },
      { reason: "wrong", name: "odd", source: place, message: "It has no command." },
    ],
    untrusted: [{ file: place.file, state: "waiting", servers: [{ name: "theirs", source: place }] }],
  });
  expect(screen(100).slice(0, 5)).toEqual([
    `── MCP servers ${"─".repeat(69)} 0 of 3 ready ──`,
    "> ✗ odd     mistake                   .mcp.json:2",
    "    is left out because of a mistake at /work/here/.mcp.json:2:3: It has no command",
    "  - off     disabled                  .mcp.json:2",
    "  ? theirs  not allowed               .mcp.json:2",
  ]);
  press("r");
  expect(screen().join("\n")).toContain("odd: is left out because of a mistake");
  press("a");
  expect(left).toEqual([{ kind: "trust" }]);
  panel.dispose();
});

test("it is drawn anew when the session says that something has changed, until it is closed", () => {
  const { screen, show, renders, panel, watchers } = open(THREE);
  expect(screen()[1]).toContain("ready");
  show([{ name: "files", state: "stopped", error: "its process was killed" }]);
  expect(renders()).toBe(1);
  expect(screen().slice(1, 3)).toEqual([expect.stringContaining("○ files  stopped"), "    its process was killed"]);
  panel.dispose();
  expect(watchers.size).toBe(0);
});

test("keys do what the hints say, on the marked server", async () => {
  const { press, asked, left, screen, settle, panel } = open(THREE);
  press("j", "r");
  expect(screen().join("\n")).toContain("connecting github…");
  await settle();
  expect(screen().join("\n")).toContain("reconnect of github is done");
  press("k", "d");
  await settle();
  expect(screen().join("\n")).toContain("off files");
  press("G", "o");
  await settle();
  press("g", "i", "n", "m");
  expect(asked).toEqual(["reconnect github", "logout slow"]);
  expect(left).toEqual([{ kind: "login", server: "files" }, { kind: "add" }, { kind: "import" }]);
  press("q");
  expect(left.at(-1)).toBeUndefined();
  panel.dispose();
});

test("what fails is said, and not twice", async () => {
  const fails = async () => {
    throw new Error("it cannot be written");
  };
  const { press, screen, settle, show, panel } = open(THREE, { actions: { switchTo: fails } });
  press("d");
  await settle();
  expect(screen().join("\n")).toContain("it cannot be written");
  show([{ name: "files", state: "failed", error: "it cannot be written" }]);
  expect(screen().filter((line) => line.includes("it cannot be written"))).toHaveLength(1);
  panel.dispose();
});

test("a page has all about a server, and goes to its tools and its last words", async () => {
  const tools = Array.from({ length: 60 }, (_, at) => `tool_${at}`);
  const { press, screen, settle, show, panel } = open(
    [{ name: "files", state: "ready", tools, words: "one\ntwo", notices: ["a tool was left out"] }],
    { rows: 20 },
  );
  press(ENTER);
  await settle();
  expect(screen().slice(0, 9)).toEqual([
    expect.stringMatching(/^── files ─+ 1-13 of 72 ──$/),
    " state     ready · 60 tools",
    " runs      stdio: npx -y files",
    " from      /home/me/.pi/agent/mcp.json:3 (your file)",
    " offered   by mcp",
    " sign-in   signed in",
    " note      a tool was left out",
    "",
    " Tools (60)",
  ]);
  press("t");
  expect(screen()[1]).toBe(" Tools (60)");
  press("l");
  expect(screen().slice(-5, -2)).toEqual([" What it has written to stderr, the last of it", "   one", "   two"]);
  press(UP, "g");
  expect(screen()[1]).toContain("state");
  show([]);
  expect(screen()[1]).toBe(" It is not configured any more.");
  press("r", "d", "t", ESC);
  expect(screen().join("\n")).toContain("Press n to add one.");
  panel.dispose();
});

test("a check is shown on a page of its own, and help on another", async () => {
  const { press, screen, settle, panel } = open(THREE);
  press("c");
  await settle();
  expect(screen()[1]).toBe(" check of files is done");
  press(ESC, "?");
  expect(screen()[1]).toBe(" Keys of this panel");
  press(ESC);
  expect(screen()[1]).toContain("> ● files");
  panel.dispose();
});

test("tools that are not as they were accepted are marked, shown with the difference, and accepted once that was read", async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n");
  let count = 2;
  const accept = async () => {
    count = 0;
    return "Accepted 2 tools.";
  };
  const changes = (name: string) => ({ text: lines, count: name === "files" ? count : 0, accept });
  const { press, screen, settle, show, panel } = open(THREE, { rows: 20, actions: { changes } });
  expect(screen().slice(1, 3)).toEqual([
    "> ! files   ready          2 tools    by mcp  ~/.pi/agent/mcp.json:3",
    "    2 tools are not as you accepted: p shows the difference, and asks.",
  ]);
  press("p", "y");
  expect(screen()[0]).toContain("Changed tools of files");
  expect(screen().at(-2)).toBe(" ↓ to the end first · esc not now");
  press("y", "G");
  expect(screen().at(-2)).toBe(" y accept them as they are now · esc not now");
  press("y");
  await settle();
  show(THREE);
  expect(screen().join("\n")).toContain("Accepted 2 tools.");
  expect(screen()[1]).toContain("> ● files");
  press("p");
  expect(screen().join("\n")).toContain("The tools of files are as you accepted them.");
  panel.dispose();
});

test("what is pasted is no command, and keys that come together are all taken", () => {
  const { press, asked, left, screen, panel } = open(THREE);
  press("\u001b[200~drino\u001b[201~");
  expect([asked, left, screen()[1]]).toEqual([[], [], expect.stringContaining("> ● files")]);
  press("jj");
  expect(screen().some((line) => line.startsWith("> ◐ slow"))).toBe(true);
  press("/gi");
  expect(screen()[1]).toBe(" / gi▏");
  panel.dispose();
});

test("the filter takes letters and pasted text, and Escape takes it away", () => {
  const { press, screen, left, panel } = open(THREE);
  press("/", "g", "i", "t");
  expect(screen().slice(1, 3)).toEqual([" / git▏", expect.stringContaining("> ✗ github")]);
  press("\u007f", "\u001b[200~thub\nmore\u001b[201~");
  expect(screen()[1]).toBe(" / github▏");
  press("x");
  expect(screen()[2]).toBe(" Nothing fits the filter.");
  press("\u007f", ENTER, "d");
  expect(screen()[1]).toBe(" / github");
  press(ESC);
  expect(screen()[1]).toContain("files");
  expect(left).toEqual([]);
  press(ESC);
  expect(left).toEqual([undefined]);
  panel.dispose();
});

test("many servers scroll, with the marked one in sight", () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ name: `s${String(at).padStart(2, "0")}` }));
  const { press, screen, panel } = open(many, { rows: 14 });
  expect(screen()[0]).toContain("1-7 of 100");
  press("G");
  expect(screen()[0]).toContain("94-100 of 100");
  expect(screen()[7]).toContain("> ○ s99");
  press(UP, UP, UP, UP, UP, UP, UP, UP);
  expect(screen().some((line) => line.startsWith("> ○ s91"))).toBe(true);
  panel.dispose();
});

test("whatever servers are called and say, no line is wider than the terminal and none is obeyed, at any size", async () => {
  const hosts = await Promise.all(
    ["@earendil-works", "@mariozechner"].map(async (scope) => {
      const file = pathToFileURL(
        new URL(`../../../../node_modules/${scope}/pi-tui/dist/utils.js`, import.meta.url).pathname,
      );
      return ((await import(file.href)) as { visibleWidth(text: string): number }).visibleWidth;
    }),
  );
  const words = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(
      "\u001b]52;c;eA==\u0007",
      "\u001b[2Jx",
      "中文".repeat(40),
      "👨‍👩‍👧".repeat(20),
      "\r\n\t",
      "a".repeat(400),
    ),
  );
  const server = fc.record({
    name: words,
    state: fc.constantFrom("idle" as const, "ready" as const, "failed" as const, "needs-auth" as const),
    error: words,
    tools: fc.array(words, { maxLength: 5 }),
    words,
    notices: fc.array(words, { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(server, { maxLength: 8 }),
      fc.array(fc.constantFrom(UP, DOWN, ENTER, ESC, "r", "d", "t", "l", "c", "?", "/", "x", "G", "\u001b[6~"), {
        maxLength: 12,
      }),
      fc.integer({ min: 20, max: 300 }),
      fc.integer({ min: 5, max: 80 }),
      async (servers, keys, width, rows) => {
        const { press, panel, settle } = open(servers, { rows });
        for (const key of keys) {
          press(key);
          await settle();
          const lines = panel.render(width);
          expect(lines.length).toBeLessThanOrEqual(Math.max(rows - 4, 7));
          for (const line of lines) {
            expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
            for (const count of hosts) expect(count(line)).toBeLessThanOrEqual(width);
          }
        }
        panel.dispose();
      },
    ),
    { numRuns: 100 },
  );
});
