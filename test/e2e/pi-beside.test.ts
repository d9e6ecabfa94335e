import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { EXTENSION, HOSTS, runPi } from "../ground/run-pi.ts";
import { scriptedModel, toolResults } from "../ground/scripted-model.ts";

/** As pi-mcp-adapter has it: a tool and a command called `mcp`, registered at load. */
const OTHER = `export default (pi) => {
  pi.registerTool({ name: "mcp", label: "other", description: "other", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "the other one" }], details: {} }) });
  pi.registerCommand("mcp", { description: "other", handler: async () => {} });
};`;

describe.each(HOSTS)("$name", (host) => {
  test.each(["before", "after"])(
    "loaded %s another client with a tool called `mcp`, both work, and it is said who serves what",
    async (place) => {
      await using model = await scriptedModel([
        {
          call: [
            { tool: "mcp", args: {} },
            { tool: "mcp_call", args: { selector: "s.echo", args: { a: 1 } } },
          ],
        },
        { say: "ok" },
      ]);
      await using home = await temporaryHome({ model });
      const server = await fakeStdio(home);
      home.write({ settings: { mcpServers: [server.entry("s")] } });
      const other = home.path("other.mjs");
      writeFileSync(other, OTHER);
      const [first, second] = place === "before" ? [EXTENSION, other] : [other, EXTENSION];
      const run = await runPi(host, home, { mode: "print", prompt: "go", args: ["-e", first, "-e", second] });
      expect([run.code, run.stdout.trim()]).toEqual([0, "ok"]);
      expect(toolResults(model.requests[1])).toEqual(["the other one", '{"a":1}']);
      expect(
        run.stderr.match(/Another extension has a tool called `mcp`.* by `mcp_load` and `mcp_call`/g),
      ).toHaveLength(1);
    },
  );
});
