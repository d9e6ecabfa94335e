import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { KNOWN_FIELDS } from "./known-fields.ts";

interface Schema {
  readonly definitions: {
    readonly server: { readonly properties: Readonly<Record<string, { description?: string }>> };
  };
}

const SCHEMA = JSON.parse(readFileSync(new URL("../../schema/mcp.schema.json", import.meta.url), "utf8")) as Schema;
const validate = new Ajv({ allowUnionTypes: true }).compile(SCHEMA);

describe("the schema", () => {
  const inSchema = Object.keys(SCHEMA.definitions.server.properties).sort();

  it("has every field that is read, under all its names, and no other", () => {
    const known = [...KNOWN_FIELDS].filter(([, { use }]) => use !== "foreign").map(([name]) => name);
    expect(inSchema).toEqual(known.sort());
  });

  it.each<[string, unknown]>([
    ["nothing", {}],
    ["no servers", { $schema: "x", mcpServers: {}, settings: { other: 1 } }],
    ["a process", { mcpServers: { s: { command: "npx", args: ["-y", "x"], env: { A: "${A}", N: 1 }, cwd: "~" } } }],
    [
      "an address",
      { mcpServers: { s: { url: "https://h", headers: { A: "b" }, type: "streamable-http", timeout: 1.5 } } },
    ],
    ["an array", { mcpServers: [{ name: "s", transport: "sse", url: "https://h", disabled: true }] }],
    ["a mode", { permission: "ask" }],
    ["rules", { permission: { mode: "plan", deny: ["a.b", { server: "a", tool: "b" }, { server: "a" }] } }],
    ["an override", { mcpServers: { s: { enabled: false } } }],
    [
      "what other programs know",
      { mcpServers: { s: { command: "x", exposure: "codemode", directTools: ["a"], other: 1 } } },
    ],
  ])("takes %s", (_, config) => {
    expect([validate(config), validate.errors]).toEqual([true, null]);
  });

  it.each<[string, unknown]>([
    ["no object", []],
    ["a text for servers", { mcpServers: "s" }],
    ["an array without names", { mcpServers: [{ command: "x" }] }],
    ["a number for a command", { mcpServers: { s: { command: 5 } } }],
    ["two ways at once", { mcpServers: { s: { command: "x", url: "https://h" } } }],
    ["a text for arguments", { mcpServers: { s: { command: "x", args: "-y" } } }],
    ["an unknown transport", { mcpServers: { s: { command: "x", type: "pigeon" } } }],
    ["an unknown word", { mcpServers: { s: { command: "x", framing: "loud" } } }],
    ["a mode nobody knows", { permission: { mode: "aks" } }],
    ["a rule for two things", { permission: { deny: [{ server: "a", tool: "b", prompt: "c" }] } }],
    ["no time at all", { mcpServers: { s: { command: "x", timeout: 0 } } }],
    ["no revision", { mcpServers: { s: { command: "x", protocolVersion: "latest" } } }],
  ])("refuses %s", (_, config) => {
    expect(validate(config)).toBe(false);
  });

  it("says something about every field", () => {
    for (const [name, property] of Object.entries(SCHEMA.definitions.server.properties)) {
      expect([name, "$ref" in property || (property.description ?? "").length > 10]).toEqual([name, true]);
    }
  });

  it("is shipped", () => {
    const { files } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      files: string[];
    };
    expect(files).toContain("schema");
  });
});
