import { expect, test } from "vitest";
import type { PiApi, PiTool } from "../../src/hosts/pi/api.ts";
import { mcpAuthCommand } from "../../src/hosts/pi/auth-command.ts";
import { PiHost } from "../../src/hosts/pi/host.ts";
import { until } from "../ground/wait.ts";
import { answerOf, browse, place } from "./open.ts";

/** pi's side of one session, which only takes notes. */
async function inPi<T>(
  env: NodeJS.ProcessEnv,
  cwd: string,
  work: (pi: {
    say(args: string): Promise<string>;
    told: string[];
    active: Set<string>;
    run(name: string, args: object): Promise<{ text: string; isError: boolean | undefined }>;
  }) => Promise<T>,
  hasUI = true,
): Promise<T> {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const tools: PiTool[] = [];
  const told: string[] = [];
  const active = new Set<string>();
  const api = {
    registerTool: (tool: PiTool) => {
      tools.push(tool);
      active.add(tool.name);
    },
    getActiveTools: () => [...active],
    getAllTools: () => tools,
    setActiveTools: (names: string[]) => {
      active.clear();
      for (const name of names) active.add(name);
    },
    registerCommand() {},
    on() {},
  } as unknown as PiApi;
  const host = new PiHost(api);
  const ctx = {
    cwd,
    hasUI,
    ui: { notify: (text: string) => void told.push(text), select: async () => undefined, input: async () => undefined },
  };
  const command = mcpAuthCommand(host);
  try {
    host.begin(ctx);
    return await work({
      told,
      active,
      async say(args) {
        const before = told.length;
        await command.handler(args, ctx);
        return told.slice(before).join("\n");
      },
      async run(name, args) {
        const tool = tools.findLast((each) => each.name === name);
        const result = await tool?.execute("1", args, undefined, undefined);
        const text = result?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
        return { text, isError: result?.isError };
      },
    });
  } finally {
    await host.end();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

const urlIn = (text: string) => /^http\S+$/m.exec(text)?.[0] ?? "";

test("[S3-34] [S3-36] /mcp-auth signs in by what is pasted, tells how it stands, and signs out", async () => {
  const here = await place();
  await inPi(here.home.env(), here.home.cwd, async ({ say, run, active }) => {
    expect([...active].sort()).toEqual(["mcp_auth", "mcp_call", "mcp_load"]);
    const call = { server: "s", tool: "echo", args: { text: "pi" } };
    expect(await run("mcp_call", call)).toMatchObject({
      isError: true,
      text: expect.stringContaining("/mcp-auth login s"),
    });
    const url = urlIn(await say("login s"));
    const { searchParams } = new URL(url);
    expect([searchParams.get("code_challenge_method"), searchParams.has("state")]).toEqual(["S256", true]);
    expect(await say("complete s nonsense!")).toMatch(/neither the address the browser ended at nor a code/);
    expect(await say(`complete s ${await answerOf(url)}`)).toContain('Signed in to MCP server "s".');
    expect(await say("status s")).toBe('MCP server "s": signed in.');
    expect(await run("mcp_call", call)).toMatchObject({ isError: false, text: expect.stringContaining("echo pi") });
    expect(await say("logout s")).toBe('Signed out of MCP server "s".');
    expect(await run("mcp_call", call)).toMatchObject({ isError: true });
  });
});

test("[S3-40] /mcp-auth tells when the browser has come back", async () => {
  const here = await place();
  await inPi(here.home.env(), here.home.cwd, async ({ say, told }) => {
    await browse(urlIn(await say("login s")));
    await until("the notice", () => told.find((text) => text === 'Signed in to MCP server "s".'));
  });
});

test("[S3-35] [S3-37] the model starts and completes it by mcp_auth", async () => {
  const here = await place();
  await inPi(here.home.env(), here.home.cwd, async ({ run }) => {
    const started = await run("mcp_auth", { action: "start", server: "s" });
    const done = await run("mcp_auth", { action: "complete", server: "s", code: await answerOf(urlIn(started.text)) });
    expect(done).toMatchObject({ isError: false });
    expect(await run("mcp_auth", { action: "dance", server: "s" })).toMatchObject({ isError: true });
    expect(await run("mcp_auth", { action: "complete", server: "s", code: "x=1&y" })).toMatchObject({ isError: true });
    const called = await run("mcp_call", { server: "s", tool: "echo" });
    for (const secret of here.authorization.secrets)
      expect(JSON.stringify([started, done, called])).not.toContain(secret);
  });
});

test("where nobody can sign in, there is neither the tool nor a sign-in", async () => {
  const here = await place({ entry: { oauth: false } });
  await inPi(here.home.env(), here.home.cwd, async ({ say, active }) => {
    expect([...active]).toEqual(["mcp_load", "mcp_call"]);
    expect(await say("login s")).toContain("`oauth` is false");
    expect(await say("login other")).toMatch(/^No MCP server of that name/);
    expect(await say("")).toMatch(/^(No MCP server|Usage)/);
  });
});

test("with autoAuth pi asks by itself where it has an interface, and nowhere else", async () => {
  const here = await place({ entry: { autoAuth: true } });
  const call = { server: "s", tool: "echo", args: { text: "pi" } };
  await inPi(
    here.home.env(),
    here.home.cwd,
    async ({ run }) => expect(await run("mcp_call", call)).toMatchObject({ isError: true }),
    false,
  );
  expect(here.authorization.requests).toEqual([]);
  await inPi(here.home.env(), here.home.cwd, async ({ run, told }) => {
    const called = run("mcp_call", call);
    await browse(await until("the address", () => told.map(urlIn).find((url) => url !== "")));
    expect(await called).toMatchObject({ isError: false, text: expect.stringContaining("echo pi") });
    await until("the notice", () => told.find((text) => text === 'Signed in to MCP server "s".'));
  });
});
