import { sanitizeLine } from "../content/sanitize.ts";
import type { McpSession } from "../session/session.ts";
import { failureAnswer } from "./answer.ts";
import { ArgumentsError, wordOf } from "./arguments.ts";
import { MCP_AUTH_ACTIONS } from "./mcp-auth-description.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";

/** Runs the `mcp_auth` tool. Never rejects: a failure is an answer with `isError`. */
export async function runMcpAuthTool(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  const args = (typeof call.args === "object" && call.args !== null ? call.args : {}) as Record<string, unknown>;
  const [action, server, code] = [args.action, args.server, args.code].map(wordOf) as [string, string, string];
  try {
    if (server === "") throw new ArgumentsError("mcp_auth `server` is required");
    const text = await run(session, action, server, code);
    return { content: [{ type: "text", text }], isError: false, details: { action, server } };
  } catch (thrown) {
    return failureAnswer(thrown, { action, server });
  }
}

async function run(session: McpSession, action: string, server: string, code: string): Promise<string> {
  const door = session.signIn(server);
  switch (action) {
    case "start":
      return askPerson(server, await door.start());
    case "complete":
      if (code === "") throw new ArgumentsError("mcp_auth complete needs `code`");
      await door.complete(code);
      return `Signed in to MCP server \`${server}\`; its tools can be used now.`;
    case "status":
      return `MCP server \`${server}\`: ${(await door.status()).state.replace("-", " ")}.`;
    default: {
      const actions = MCP_AUTH_ACTIONS.join(", ");
      throw new ArgumentsError(`unknown mcp_auth action \`${sanitizeLine(action, 80)}\` (expected one of: ${actions})`);
    }
  }
}

/** What a person has to do, for whoever passes it on. */
export function askPerson(server: string, { url, notice }: { url: string; notice?: string }): string {
  return [
    `To sign in to MCP server \`${server}\`, the user has to open this address in a browser:`,
    "",
    url,
    "",
    ...(notice === undefined ? [] : [`${notice}.`]),
    `When the browser says "Signed in", it is done. If it ends at a page that cannot be reached, the address of that page completes it: mcp_auth with action complete and that address as code, or /mcp-auth complete ${server} <address>.`,
  ].join("\n");
}
