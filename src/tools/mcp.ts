import { firstRows } from "../content/limit.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { McpSession, RequestOptions } from "../session/session.ts";
import { callAndPresent, failureAnswer, headOf } from "./answer.ts";
import { ArgumentsError, parseArguments, wordOf } from "./arguments.ts";
import { describeWhole, searchTools } from "./find.ts";
import { MCP_ACTIONS } from "./mcp-description.ts";
import { listServers } from "./server-list.ts";
import { readTarget } from "./target.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";

/** Of a tool's description in the listing [S1-30]. */
const DESCRIPTION_CHARS = 200;

/** How the model goes on. */
const HINTS = {
  next: "Use one with action call (server, tool, args); action describe (server, tool) gives its whole schema.",
  list: "action list_tools (server) makes them known",
};

/** Runs the `mcp` tool [S1-18…23]. Never rejects: a failure is an answer with `isError`. */
export async function runMcpTool(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  const args = (typeof call.args === "object" && call.args !== null ? call.args : {}) as Record<string, unknown>;
  const action = wordOf(args.action);
  let server = wordOf(args.server);
  let tool = wordOf(args.tool);
  const options = call.signal ? { signal: call.signal } : {};
  try {
    if (action === "describe" || action === "call") {
      ({ server, tool } = await readTarget(session, { server, tool }, call.signal));
    }
    switch (action) {
      case "search":
        return answer(searchTools(session, args, HINTS), { action, server });
      case "describe": {
        const found = await session.findTool(required("server", server), required("tool", tool), options);
        return answer(describeWhole(server, found, session.config(server).policy.resultLimit), {
          action,
          server,
          tool,
        });
      }
      case "list_servers":
        return answer(listServers(session), { action });
      case "list_tools":
        return answer(await listTools(session, required("server", server), options), { action, server });
      case "call":
        return await callTool(session, required("server", server), required("tool", tool), args.args, call);
      case "":
        throw new ArgumentsError(`mcp action is required (one of: ${MCP_ACTIONS.join(", ")})`);
      default:
        throw new ArgumentsError(
          `unknown mcp action \`${sanitizeLine(action, 80)}\` (expected one of: ${MCP_ACTIONS.join(", ")})`,
        );
    }
  } catch (thrown) {
    return failureAnswer(thrown, { action, server, tool });
  }
}

function answer(text: string, details: JsonObject): ToolAnswer {
  return { content: [{ type: "text", text }], isError: false, details };
}

async function listTools(session: McpSession, server: string, options: RequestOptions): Promise<string> {
  const tools = await session.listTools(server, options);
  if (tools.length === 0) {
    // Nothing may also be what is left of a list that could not be read.
    const { notices } = session.status(server);
    const none = session.config(server).tools === undefined ? "advertises no tools" : "has no tools that are allowed";
    return [`MCP server \`${server}\` ${none}.`, ...notices].join("\n");
  }
  const rows = tools.map(({ name, description = "" }) => {
    const text = sanitizeLine(description, DESCRIPTION_CHARS);
    return `- ${sanitizeLine(name, 200)}${text === "" ? "" : ` — ${text}`}`;
  });
  const shown = firstRows(rows, session.config(server).policy.resultLimit);
  const rest = rows.length - shown.length;
  const notice = rest === 0 ? [] : [`[${rest} more tools not shown; they can be called, too]`];
  return [`Tools from MCP server \`${server}\` (${tools.length}):`, ...shown, ...notice].join("\n");
}

async function callTool(
  session: McpSession,
  server: string,
  tool: string,
  rawArgs: unknown,
  call: ToolCall,
): Promise<ToolAnswer> {
  const target = { server, tool, args: parseArguments(rawArgs) };
  const { blocks, isError, truncated, files, notes } = await callAndPresent(session, target, call, false);
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return {
    content: [{ type: "text", text: `${headOf(server, tool, isError)}\n${text.endsWith("\n") ? text : `${text}\n`}` }],
    isError,
    details: { action: "call", server, tool, isError, truncated, files, ...notes },
  };
}

function required(field: "server" | "tool", value: string): string {
  if (value !== "") return value;
  throw new ArgumentsError(
    field === "server" ? "mcp `server` is required for this action" : "mcp call requires a `tool` name",
  );
}
