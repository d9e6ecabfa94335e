import { presentResult } from "../../content/present.ts";
import type { SpillStore } from "../../content/spill.ts";
import type { CallToolResult, JsonObject } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import { ArgumentsError } from "../../tools/arguments.ts";
import { argumentsFromPairs, readCallWords } from "./arguments.ts";
import { allWords, type Command, type CommandInput, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";
import type { CommandOptions } from "./terminal.ts";

interface CallRequest {
  readonly server: string;
  readonly tool: string;
  readonly words: readonly string[];
}

/** Calls one tool and prints the whole of its result. */
export const call: Command = {
  name: "call",
  help: [
    ["call <server> <tool> ['{\"a\": 1}']", "call a tool, arguments as JSON"],
    ["call <server> <tool> [key=value …]", "the same, typed by the tool's schema"],
  ],
  options: SOURCE_OPTIONS,
  async run(input) {
    const [server, tool, ...words] = allWords(input);
    if (server === undefined || tool === undefined) throw new UsageError("call needs a server and a tool");
    return run(input, { server, tool, words });
  },
};

async function run({ terminal, values, options }: CommandInput, request: CallRequest): Promise<number> {
  const session = openSession(values);
  try {
    const args = await argumentsOf(session, request, options).catch((error: unknown) => {
      if (error instanceof ArgumentsError)
        throw new ArgumentsError(`${request.server} ${request.tool}: ${error.message}`);
      throw error;
    });
    const result = await session.callTool(request.server, request.tool, args, options);
    const text = terminal.json ? JSON.stringify(result.raw) : await wholeText(result, request.tool, session.spill);
    terminal.write(`${text}\n`);
    return result.isError ? EXIT.toolError : EXIT.ok;
  } finally {
    // What was printed names them.
    await session.close({ keepResults: true });
  }
}

const NO_LIMIT = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY };

/** All of the text; images and what else is no text are in files whose paths stand in their place. */
async function wholeText(result: CallToolResult, tool: string, spill: SpillStore): Promise<string> {
  const { blocks } = await presentResult(result, { tool, limit: NO_LIMIT, spill, showImages: false });
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n").trimEnd();
}

async function argumentsOf(
  session: McpSession,
  { server, tool, words }: CallRequest,
  options: CommandOptions,
): Promise<JsonObject | undefined> {
  // A missing server is told before anything about its arguments.
  session.config(server);
  const written = readCallWords(words);
  if (written.kind === "object") return written.args;
  return argumentsFromPairs(written.pairs, await schemaOf(session, server, tool, options));
}

/** The tool's schema; `{}` for a tool the server does not list, which the call itself then refuses. */
async function schemaOf(
  session: McpSession,
  server: string,
  tool: string,
  options: CommandOptions,
): Promise<JsonObject> {
  const tools = await session.listTools(server, { signal: options.signal });
  return tools.find(({ name }) => name === tool)?.inputSchema ?? {};
}
