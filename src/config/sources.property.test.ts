import fc from "fast-check";
import { expect, test } from "vitest";
import { loadConfig } from "./load.ts";
import type { LoadedConfig } from "./record.ts";

/** Where there is no file. */
const NOWHERE = "/nonexistent/home";

const KEYS = fc.constantFrom(
  ...[
    "mcpServers",
    "context_servers",
    "name",
    "type",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "disabled",
    "enabled",
  ],
  ...["path", "value", "a", "__proto__", "constructor", "timeout", ""],
);

const VALUES = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, "", "x", "stdio", "http", "https://h/", "\0", "a\nb", "$X", 1e308),
  fc.string(),
);

/** Values that look like servers often enough. */
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    VALUES,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(KEYS, tie("tree"), { maxKeys: 6 }),
  ),
}));

function isSound({ servers, problems }: LoadedConfig): boolean {
  const names = servers.map(({ name }) => name);
  const located = problems.every(
    ({ file, line, column, message }) => file !== "" && line > 0 && column > 0 && message !== "",
  );
  const placed = servers.every(({ fields }) =>
    Object.values(fields).every(({ file, line }) => file !== "" && line > 0),
  );
  return new Set(names).size === names.length && located && placed;
}

test("whatever an editor, an extension or the command line hands over, nothing throws and each name is one server", () => {
  fc.assert(
    fc.property(tree, tree, fc.oneof(tree, fc.string()), fc.boolean(), (handed, config, named, isBinary) => {
      const text = JSON.stringify(handed);
      const loaded = loadConfig({
        env: { PI_ACP_MCP_SERVERS: isBinary ? Buffer.from(text).toString("base64url") : text },
        home: NOWHERE,
        cwd: NOWHERE,
        registered: [
          { name: "a", config, extensionPath: "/e.js" },
          { name: "x", config: named, extensionPath: "/e.js" },
        ],
        flags: {
          sources: [JSON.stringify({ mcpServers: config }), typeof named === "string" ? `{${named}` : "nowhere"],
        },
      });
      expect(isSound(loaded)).toBe(true);
    }),
    { numRuns: 1_500 },
  );
});

test("no text in the variable throws or is repeated as a whole", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json()), (text) => {
      const { problems } = loadConfig({ env: { PI_ACP_MCP_SERVERS: text }, home: NOWHERE });
      if (text.trim().length > 12) for (const { message } of problems) expect(message).not.toContain(text);
    }),
    { numRuns: 1_500 },
  );
});
