import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ACP_VARIABLE } from "../../src/config/acp-variable.ts";
import { LIMIT_VARIABLES } from "../../src/config/environment-limits.ts";
import { expandTarget } from "../../src/config/expand.ts";
import { FIELD_ALIASES, KNOWN_FIELDS } from "../../src/config/known-fields.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ORIGINS } from "../../src/config/origins.ts";
import { PERMISSION_VARIABLE } from "../../src/config/permission.ts";
import type { ConfigLayer, Origin } from "../../src/config/record.ts";
import { temporaryHome } from "../ground/home.ts";

const PAGE = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

const SCHEMA = JSON.parse(readFileSync(new URL("../../schema/mcp.schema.json", import.meta.url), "utf8")) as {
  definitions: { server: { properties: Record<string, unknown> } };
};

/** The columns of the tables, in the order of the page. */
const COLUMNS: readonly Origin[] = ["settings", "mcpjson", "acp"];

function section(title: string): string {
  const [, text] = PAGE.split(`\n## ${title}\n`);
  if (text === undefined) throw new Error(`The page has no section "${title}".`);
  return text.split("\n## ")[0] ?? "";
}

/** The rows of the table of a section, without its head. */
function table(title: string, number = 0): string[][] {
  const lines =
    section(title)
      .match(/(?:^\|.*\n?)+/gm)
      ?.[number]?.trimEnd()
      .split("\n") ?? [];
  return lines.slice(2).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codes = (text = "") => [...text.matchAll(/`([^`]+)`/g)].map(({ 1: code = "" }) => code);

describe("[S1-65] the page about the configuration", () => {
  test("has every field that acts, and no other", () => {
    const acting = [...KNOWN_FIELDS].filter(([name, { use }]) => use === "acts" && !FIELD_ALIASES.has(name));
    const rows = table("Fields");
    expect(rows.map(([field]) => codes(field)[0]).sort()).toEqual(acting.map(([name]) => name).sort());
    for (const row of rows) {
      expect(row, row[0]).toHaveLength(4);
      expect([row[0], row[1] !== "" && (row[3]?.length ?? 0) > 3]).toEqual([row[0], true]);
      expect(SCHEMA.definitions.server.properties).toHaveProperty(codes(row[0])[0] ?? "");
    }
  });

  test("has all other names of fields with the field they mean", () => {
    const rows = table("Fields", 1).flatMap(([field, others]) =>
      codes(others).map((other) => [other, codes(field)[0]]),
    );
    expect(new Map(rows as [string, string][])).toEqual(FIELD_ALIASES);
  });

  test("states the defaults that hold", () => {
    const real = COLUMNS.map((origin) => {
      const policy = ORIGINS[origin];
      return {
        "limit of the start, seconds": policy.startTimeoutMs / 1000,
        "limit of a call, seconds": policy.callTimeoutMs / 1000,
        "result, bytes": policy.resultLimit.maxBytes,
        "result, lines": policy.resultLimit.maxLines,
        "`maxListItems`": policy.listLimit.maxItems,
        "`maxListPages`": policy.listLimit.maxPages,
        "`lifecycle`": policy.lifecycle,
        "`idleTimeout` of lazy servers, minutes": policy.idleTimeoutMs / 60_000,
        "`replay`": policy.replay,
        "`maxAttempts`": policy.retry.attempts,
        "`freshAfterFailure`": policy.freshAfterFailure,
        "`inheritEnv`": policy.inheritEnv,
        "`resolveNpx`": policy.resolveNpx,
        "`stderr`": policy.stderr,
        "`protocolVersion`": policy.protocolVersion,
        "`framing`": policy.framing,
        "`shutdown`": policy.shutdown,
        "`offersRoots`": policy.offersRoots,
        "`surface`": policy.surface,
        "`trustHints`": policy.trustsHints,
      } as Record<string, unknown>;
    });
    const rows = table("Defaults");
    expect(rows.length).toBe(Object.keys(real[0] ?? {}).length);
    for (const [what = "", ...cells] of rows)
      expect([what, ...cells]).toEqual([what, ...real.map((each) => String(each[what]))]);
    const bySource = table("Fields").filter(([, , usual]) => usual?.includes("#defaults"));
    expect(bySource.length).toBeGreaterThan(5);
  });

  test("says of every way to write a variable what becomes of it", () => {
    const rows = table("Variables in values");
    expect(rows.length).toBeGreaterThan(8);
    for (const [written = "", ...cells] of rows) {
      const target = {
        kind: "stdio",
        command: "x",
        args: codes(written),
        env: { A: codes(written)[0] ?? "" },
      } as const;
      const results = COLUMNS.map((origin) => {
        const { target: expanded } = expandTarget(target, ORIGINS[origin], { TOKEN: "abc" });
        if (expanded.kind !== "stdio") throw new Error("It was a process.");
        expect(expanded.env.A).toBe(expanded.args[0]);
        return expanded.args[0];
      });
      expect([written, ...cells.map((cell) => (cell === "nothing" ? "" : codes(cell)[0]))]).toEqual([
        written,
        ...results,
      ]);
    }
  });

  test("names every layer and every variable, and explains mcpServers and extensions", () => {
    const layers: Record<ConfigLayer, true> = {
      ...{ own: true, project: true, environment: true, editor: true, flag: true, extension: true },
    };
    const shown = table("Where servers come from").map(([layer]) => codes(layer)[0] ?? "");
    expect([...new Set(shown)].sort()).toEqual(Object.keys(layers).sort());
    const variables = table("Environment variables").flatMap(([names]) => codes(names));
    expect(variables).toEqual(
      expect.arrayContaining([ACP_VARIABLE, PERMISSION_VARIABLE, ...Object.values(LIMIT_VARIABLES)]),
    );
    expect(section("An entry")).toContain("Servers stand under `mcpServers`");
    expect(section("Tools without MCP")).toContain("pi.registerTool");
  });

  test("shows nothing but configurations that are read without a word", async () => {
    await using home = await temporaryHome();
    const blocks = [...PAGE.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
    expect(blocks.map(([, language]) => language)).toEqual(["json", "json", "toml", "json", "json", "json"]);
    const base = { github: { command: "x" }, docs: { url: "https://example.com/mcp" } };
    for (const [, language, text = ""] of blocks) {
      for (const place of language === "toml" ? ["settings.toml"] : ["mcp.json", "settings.json"]) {
        const isOverride = text.includes('"github"');
        const isForMcpJson = isOverride || text.includes('"!');
        if (isForMcpJson && place === "settings.json") continue;
        home.write({
          files: {
            ...{ "agent/mcp.json": "", "agent/settings.json": "", "agent/settings.toml": "" },
            "~/.config/mcp/mcp.json": isOverride ? { mcpServers: base } : "",
            [`agent/${place}`]: text,
          },
        });
        const { servers, problems } = loadConfig({ env: home.env(), home: home.home });
        expect([place, problems]).toEqual([place, []]);
        expect(servers.length, text).toBeGreaterThan(0);
      }
    }
  });

  test("has no link to a place that is not there", () => {
    const places = [...PAGE.matchAll(/^## (.+)$/gm)].map(({ 1: title = "" }) => title.toLowerCase().replace(/ /g, "-"));
    for (const [, place = ""] of PAGE.matchAll(/\]\(#([^)]+)\)/g)) expect(places).toContain(place);
  });
});
