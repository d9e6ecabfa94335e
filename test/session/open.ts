import { loadConfig } from "../../src/config/load.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import { runMcpTool } from "../../src/tools/mcp.ts";
import type { ToolAnswer } from "../../src/tools/tool.ts";
import type { FakeStdio } from "../ground/fake-server.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import type { ServerScript } from "../ground/script.ts";

/** A session over the configuration that lies in a home, as the agent would make it. */
export function sessionOf(home: Home): McpSession {
  const env = home.env();
  return createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd });
}

/** A session with one stdio server called `fake`, declared in `settings.json`. */
export async function sessionWith(
  home: Home,
  script: ServerScript,
  entry: object = {},
): Promise<{ server: FakeStdio; session: McpSession }> {
  const server = await fakeStdio(home, script);
  home.write({ settings: { mcpServers: [server.entry("fake", entry)] } });
  return { server, session: sessionOf(home) };
}

/** What the model reads when it calls the `mcp` tool. */
export async function mcp(session: McpSession, args: unknown): Promise<ToolAnswer & { text: string }> {
  const answer = await runMcpTool(session, { args });
  return { ...answer, text: answer.content.map((block) => (block.type === "text" ? block.text : "")).join("") };
}
