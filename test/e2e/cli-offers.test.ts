import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeStdio, type ServerScript } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { runCli as cli, NODES } from "../ground/run-cli.ts";

const BYTES = Buffer.from([0, 255, 10, 137, 80]);

const read = (...contents: object[]) => ({ result: { contents } });

/** What a server answers to one `resources/read` after the other. */
async function notebook(home: Home, reads: readonly object[]) {
  const script: ServerScript = {
    capabilities: { resources: {}, prompts: {} },
    on: {
      "resources/list": {
        result: {
          resources: [
            { uri: "note://1", name: "one", description: "The first\u001b[31m.", mimeType: "text/plain", size: 2_048 },
            { uri: "note://2", name: "note://2" },
          ],
        },
      },
      "resources/templates/list": { result: { resourceTemplates: [{ uriTemplate: "note://{id}", name: "any" }] } },
      "resources/read": reads as never,
      "prompts/list": {
        result: {
          prompts: [
            { name: "plan", description: "Plans.", arguments: [{ name: "city", required: true }, { name: "days" }] },
            { name: "hello" },
          ],
        },
      },
      "prompts/get": {
        result: {
          messages: [
            { role: "user", content: { type: "text", text: "Where to?" } },
            { role: "assistant", content: { type: "text", text: "Rome." } },
          ],
        },
      },
    },
  };
  const server = await fakeStdio(home, script);
  home.write({ settings: { mcpServers: [server.entry("notes")] } });
  return server;
}

const [{ node: current }, { node: oldest }] = NODES as [(typeof NODES)[0], (typeof NODES)[0]];

describe("pi-mcp", () => {
  test("read lists resources and templates, and prints one: text cleaned, bytes and files to the letter", async () => {
    await using home = await temporaryHome();
    const text = { uri: "note://1", text: "one\u001b[31m" };
    const bytes = { uri: "note://2", blob: BYTES.toString("base64") };
    const gone = { error: { code: -32002, message: "Resource not found" } };
    await notebook(home, [
      read(text),
      read(bytes),
      read(text),
      read(bytes),
      read(text, bytes),
      read(text, bytes),
      read(text, bytes),
      read(),
      gone,
      gone,
    ]);
    const run = (...args: string[]) => cli(current, home, "read", ...args);
    const listed = await run("notes");
    expect([listed.code, listed.stderr, listed.stdout]).toEqual([
      0,
      "",
      "note://1  one (text/plain, 2 KB) The first.\nnote://2\nnote://{id}  any\n",
    ]);
    const rows = JSON.parse((await run("notes", "--json")).stdout);
    expect(rows).toMatchObject({ server: "notes", resourceTemplates: [{ uriTemplate: "note://{id}", name: "any" }] });
    expect(rows.resources[1]).toEqual({ uri: "note://2", name: "note://2" });

    expect((await run("notes", "note://1")).stdout).toBe("one\n");
    expect((await run("notes", "note://2")).stdout).toBe(BYTES.toString("utf8"));
    const file = join(home.cwd, "saved");
    const saved = await run("notes", "note://1", "--save", file);
    expect([saved.code, saved.stdout, readFileSync(file, "utf8")]).toEqual([0, "", "one\u001b[31m"]);
    await run("notes", "note://2", "--save", file);
    expect(readFileSync(file)).toEqual(BYTES);

    expect((await run("notes", "note://1")).stdout).toMatch(
      /^\[resource note:\/\/1\]\none\n\[resource note:\/\/2, 5 bytes, saved to \/.*\]\n$/,
    );
    expect(JSON.parse((await run("notes", "note://1", "--json")).stdout)).toEqual({
      server: "notes",
      uri: "note://1",
      contents: [text, bytes],
    });
    const parts = await run("notes", "note://1", "--save", file);
    expect([parts.code, parts.stderr]).toEqual([
      10,
      "pi-mcp: `note://1` has 2 parts, which are no file; `--json` has them all\n",
    ]);
    expect((await run("notes", "note://1")).stdout).toBe("[resource note://1 is empty]\n");
    const none = await run("notes", "note://9");
    expect([none.code, none.stderr]).toEqual([
      8,
      "pi-mcp: MCP server `notes`: it answered with error -32002: Resource not found\n",
    ]);
    expect(JSON.parse((await run("notes", "note://9", "--json")).stderr).error.category).toBe("validation");
    for (const args of [[], ["notes", "a", "b"], ["notes", "--save", file]]) expect((await run(...args)).code).toBe(2);
    expect((await run("nope")).code).toBe(3);
  });

  test("prompt lists prompts with their arguments, and prints one, whose arguments it checks", async () => {
    await using home = await temporaryHome();
    const server = await notebook(home, []);
    const run = (...args: string[]) => cli(oldest, home, "prompt", ...args);
    expect((await run("notes")).stdout).toBe("plan <city> [days]  Plans.\nhello\n");
    expect(JSON.parse((await run("notes", "--json")).stdout)).toMatchObject({ prompts: [{ name: "plan" }, {}] });
    expect((await run("notes", "plan", "days=2", "New York")).stdout).toBe("User:\nWhere to?\nAssistant:\nRome.\n");
    expect(server.params("prompts/get")).toEqual([
      expect.objectContaining({ name: "plan", arguments: { city: "New York", days: "2" } }),
    ]);
    expect(JSON.parse((await run("notes", "hello", "--json")).stdout).messages).toHaveLength(2);
    const wrong = async (...args: string[]) => {
      const { code, stderr } = await run("notes", ...args);
      return [code, stderr];
    };
    expect(await wrong("plan")).toEqual([2, "pi-mcp: the prompt needs `city`: prompt notes plan <city> [days]\n"]);
    expect(await wrong("hello", "x")).toEqual([2, "pi-mcp: `x` is none of its arguments: prompt notes hello\n"]);
    expect(await wrong("nope")).toEqual([
      2,
      "pi-mcp: MCP server `notes` has no prompt `nope` (available: plan, hello)\n",
    ]);
    expect(server.params("prompts/get")).toHaveLength(2);
    // What was listed before needs no listing: twice asked for, and once looked for.
    expect(server.params("prompts/list")).toHaveLength(3);
  });
});
