import type { McpSession } from "../session/session.ts";
import { callAndPresent, contentOf, failureAnswer } from "./answer.ts";
import { ArgumentsError, parseArguments, wordOf } from "./arguments.ts";
import { describeWhole, searchTools } from "./find.ts";
import { listServers } from "./server-list.ts";
import { MAX_CALL_SECONDS } from "./split-description.ts";
import { readTarget, type ToolTarget } from "./target.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";
import { toolPage } from "./tool-page.ts";

/** How the model goes on after a search. */
const HINTS = {
  next: "Call one with mcp_call (selector server.tool, args); mcp_load with server and tool shows one in full.",
  list: "mcp_load with server makes them known",
};

/**
 * Runs `mcp_load`: shows the tools of a server, which it connects if need be [S3-11, S3-22], or one tool in full; with a query
 * it finds tools, and with nothing it lists the servers, both without starting anything. Never rejects: a failure is
 * an answer with `isError`.
 */
export async function runMcpLoad(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  const { server, tool } = wordsOf(call.args);
  const fields = fieldsOf(call.args);
  try {
    if (wordOf(fields.query) !== "") {
      return answer(searchTools(session, fields, HINTS), { server, isError: false });
    }
    if (server === "" && tool !== "") throw new ArgumentsError("mcp_load needs the `server` of that tool, too");
    if (server === "") return answer(listServers(session), { isError: false });
    const options = call.signal ? { signal: call.signal } : {};
    if (tool !== "") {
      const found = await session.findTool(server, tool, options);
      const { resultLimit } = session.config(server).policy;
      return answer(describeWhole(server, found, resultLimit), { server, tool, isError: false });
    }
    const tools = await session.listTools(server, options);
    const details = { server, toolCount: tools.length, isError: false };
    const { notices } = session.status(server);
    const text = tools.length === 0 ? `MCP server \`${server}\` advertises no tools.` : toolPage(server, tools);
    return answer([text, ...(tools.length === 0 ? notices : [])].join("\n"), details);
  } catch (thrown) {
    return failureAnswer(thrown, { server, tool });
  }
}

/** Runs `mcp_call`. Never rejects: a failure is an answer with `isError` and a category [S3-64]. */
export async function runMcpCall(session: McpSession, call: ToolCall): Promise<ToolAnswer> {
  const { args, timeout, selector } = fieldsOf(call.args);
  const written = wordOf(selector) === "" ? wordsOf(call.args) : { server: "", tool: wordOf(selector) };
  let details: ToolTarget = written;
  try {
    details = await readTarget(session, written, call.signal);
    const { server, tool } = details;
    if (server === "" || tool === "") {
      throw new ArgumentsError(
        "mcp_call needs `selector` as server.tool (such as github.list_issues), or `server` and `tool`",
      );
    }
    const target = { server, tool, args: parseArguments(args, "mcp_call `args`") };
    const timeoutMs = timeoutOf(timeout);
    const result = await callAndPresent(session, target, call, true, timeoutMs);
    const { isError, truncated, files, notes } = result;
    return {
      content: contentOf(target, result),
      isError,
      details: { ...details, isError, truncated, files, ...notes },
    };
  } catch (thrown) {
    return failureAnswer(thrown, { ...details });
  }
}

function answer(text: string, details: ToolAnswer["details"]): ToolAnswer {
  return { content: [{ type: "text", text }], isError: false, details };
}

function fieldsOf(args: unknown): Record<string, unknown> {
  return typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
}

function wordsOf(args: unknown): { server: string; tool: string } {
  const { server, tool } = fieldsOf(args);
  return { server: wordOf(server), tool: wordOf(tool) };
}

/** Milliseconds; a limit that is none is as if it were not given. */
function timeoutOf(seconds: unknown): number | undefined {
  const value = typeof seconds === "string" ? Number(seconds) : seconds;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Math.min(Math.max(value, 1), MAX_CALL_SECONDS) * 1000;
}
