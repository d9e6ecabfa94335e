import { presentResult } from "../../content/present.ts";
import { sanitizeText } from "../../content/sanitize.ts";
import type { SpillStore } from "../../content/spill.ts";
import type { CallToolResult, JsonObject } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import { ArgumentsError } from "../../tools/arguments.ts";
import { callTool } from "../../tools/call.ts";
import { argumentsFromPairs, readCallWords } from "./arguments.ts";
import { allWords, type Command, type CommandInput, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";
import type { CommandOptions, Terminal } from "./terminal.ts";

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
    const { server, tool } = request;
    const { result, repairs, advice } = await callTool(session, { server, tool, args }, options);
    if (repairs.length > 0) note(terminal, { repairs }, `changed before sending: ${repairs.join("; ")}`);
    const text = terminal.json ? JSON.stringify(result.raw) : await wholeText(result, tool, session.spill);
    terminal.write(`${text}\n`);
    if (advice !== undefined) note(terminal, { advice }, advice);
    return result.isError ? EXIT.toolError : EXIT.ok;
  } finally {
    // What was printed names them.
    await session.close({ keepResults: true });
  }
}

/** Beside the result, which stays what the server gave. */
function note({ json }: Terminal, facts: object, text: string): void {
  console.error(json ? JSON.stringify(facts) : `pi-mcp: ${sanitizeText(text)}`);
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
  const { inputSchema } = await session.findTool(server, tool, { signal: options.signal });
  return argumentsFromPairs(written.pairs, inputSchema);
}
