import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeStdio } from "../../ground/fake-server.ts";
import { temporaryHome } from "../../ground/home.ts";
import type { UiRequest } from "../../ground/rpc-pi.ts";
import { rpcPi } from "../../ground/rpc-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import type { Turn } from "../../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../../ground/scripted-model.ts";
import { setTraps, trapFiles } from "../../ground/trap.ts";

const callMcp = (args: object): Turn => ({ call: { tool: "mcp", args } });

/** What the extension said in notices. */
const notices = (ui: readonly UiRequest[]): string[] =>
  ui.filter(({ method }) => method === "notify").map(({ message }) => String(message));

describe.each(HOSTS)("$name", (host) => {
  test.each(["print", "json"] as const)(
    "E239, E206: a run in %s mode springs no trap of the project's, says so once on stderr and goes on",
    async (mode) => {
      await using model = await scriptedModel([{ say: "hi" }]);
      await using home = await temporaryHome({ model });
      await using traps = await setTraps(home);
      home.write({ files: trapFiles(traps), env: traps.env });
      const run = await runPi(host, home, { mode, prompt: "hi", extension: EXTENSION });
      expect([run.code, run.hung, traps.sprung()]).toEqual([0, false, []]);
      expect(run.stderr.match(/MCP servers of this project are not allowed yet/g)).toHaveLength(1);
      expect(run.stderr).toMatch(/do not run: run-1, path-1, .* and 8 more\. `pi-mcp trust`, run in this folder,/);
      expect(run.stderr + run.stdout).not.toContain(traps.secret);
      expect(model.requests[0]?.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp"))).toEqual([]);
      expect(existsSync(join(home.agentDir, "mcp-trust.json"))).toBe(false);
    },
  );

  test("the person's own servers go on, and a call to the project's is denied", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "list_servers" }),
      callMcp({ action: "call", server: "run-1", tool: "echo" }),
      callMcp({ action: "call", server: "own", tool: "echo" }),
      { say: "ok" },
    ]);
    await using home = await temporaryHome({ model });
    await using traps = await setTraps(home);
    const own = await fakeStdio(home);
    home.write({ settings: { mcpServers: [own.entry("own")] }, files: trapFiles(traps), env: traps.env });
    const run = await runPi(host, home, { mode: "print", prompt: "go", extension: EXTENSION });
    expect([run.code, run.hung, traps.sprung()]).toEqual([0, false, []]);
    const [servers, denied, called] = toolResults(model.requests[3]);
    expect(servers).toMatch(/- own \(live\)?.*\n\[18 more configured by this project|- own .*\n\[18 more/);
    expect(denied).toContain("which nobody has allowed yet; run `pi-mcp trust`");
    expect(called).toContain("MCP server `own` tool `echo`:");
  });

  test("/mcp trust shows the exact text; a no changes nothing, a yes lets the servers join the session", async () => {
    await using model = await scriptedModel([
      callMcp({ action: "call", server: "theirs", tool: "echo", args: { a: "b" } }),
      { call: { tool: "mcp__shown__echo", args: {} } },
      { say: "done" },
    ]);
    await using home = await temporaryHome({ model });
    const own = await fakeStdio(home);
    const theirs = await fakeStdio(home);
    const shown = await fakeStdio(home);
    const list = [theirs.entry("theirs"), shown.entry("shown", { exposure: "direct" })];
    home.write({
      settings: { mcpServers: [own.entry("own")] },
      files: { "project/.mcp.json": { mcpServers: Object.fromEntries(list.map(({ name, ...rest }) => [name, rest])) } },
    });
    let says = "Not now";
    await using pi = await rpcPi(host, home, {
      extension: EXTENSION,
      dialogs: ({ method }) => (method === "select" ? { value: says } : { cancelled: true }),
    });
    expect(notices(pi.ui)).toContainEqual(
      expect.stringMatching(/not allowed yet and do not run: theirs, shown\. `\/mcp trust`/),
    );
    await pi.send({ type: "prompt", message: "/mcp" });
    await pi.send({ type: "prompt", message: "/mcp trust" });
    await pi.waitFor((event) => event.type === "extension_ui_request" && event.message === "Nothing was allowed.");
    expect([...theirs.starts(), ...shown.starts()]).toEqual([]);
    const asked = pi.ui.find(({ method }) => method === "select");
    expect(asked).toMatchObject({ options: ["Not now", "Allow"] });
    expect(asked?.title).toMatch(/^Allow the MCP servers of this project\?\n\n/);
    expect(asked?.title).toContain(`    runs ${theirs.command} ${theirs.args.join(" ")}\n`);
    expect(asked?.title).toContain("runs as code on this computer");
    says = "Allow";
    await pi.send({ type: "prompt", message: "/mcp trust" });
    await pi.waitFor((event) => /^Allowed: 2 servers\. They can be used now\.$/.test(String(event.message)));
    await pi.prompt("go");
    const results = toolResults(model.requests[2]);
    expect(results[0]).toContain("MCP server `theirs` tool `echo`:");
    expect(results).toHaveLength(2);
    expect([theirs.starts().length, shown.starts().length]).toEqual([1, 1]);
    expect(await pi.close()).toMatchObject({ hung: false });
  });

  test("/mcp trust where nobody can be asked shows and allows nothing", async () => {
    await using model = await scriptedModel([{ say: "hi" }]);
    await using home = await temporaryHome({ model });
    await using traps = await setTraps(home);
    home.write({ files: trapFiles(traps), env: traps.env });
    const run = await runPi(host, home, { mode: "print", prompt: "/mcp trust", extension: EXTENSION });
    expect([run.code, run.hung, traps.sprung()]).toEqual([0, false, []]);
    expect(run.stderr).toContain(`runs ${traps.program} run-1 `);
    expect(run.stderr).toContain("Nobody can be asked here: run `pi-mcp trust` in this folder.");
    expect(existsSync(join(home.agentDir, "mcp-trust.json"))).toBe(false);
  });
});
